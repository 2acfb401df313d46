// The natvis file: its members exist in the headers. No debugger that reads natvis files runs here.
#include "support/catch.h"
#include "support/files.h"

#include <regex>
#include <set>
#include <string>

TEST_CASE("the natvis file names only members that the headers of ebb declare") {
  const std::string views = support::read_file(source_dir() + "/src/watch/gdb/ebb.natvis");
  std::string headers;
  for (const char* header :
       {"core/small_vector.h", "core/ref.h", "core/device.h", "core/storage.h", "core/ndarray.h",
        "core/dtype.h", "autograd/variable.h", "autograd/variable_impl.h", "autograd/node.h",
        "nn/ordered_dict.h", "nn/module.h"})
    headers += support::read_file(source_dir() + "/include/ebb/" + header);
  const std::regex member("\\b[a-z]+(_[a-z]+)*_\\b"), type("Type Name=\"ebb::([a-z]+::)*([A-Za-z]+)");
  std::set<std::string> members, types;
  for (std::sregex_iterator at(views.begin(), views.end(), member), end; at != end; ++at)
    members.insert(at->str());
  for (std::sregex_iterator at(views.begin(), views.end(), type), end; at != end; ++at)
    types.insert((*at)[2].str());
  CHECK(members.size() > 15);
  for (const std::string& name : members) {
    INFO(name);
    CHECK(std::regex_search(headers, std::regex("\\b" + name + "(\\{|;| = |\\[)")));
  }
  CHECK(types.count("NdArray") == 1);
  for (const std::string& name : types) {
    INFO(name);
    CHECK(std::regex_search(headers, std::regex("(class|struct) (EBB_API )?" + name + "\\b")));
  }
}

// The parts of files.
#include "serialize/parts.h"

#include <ebb/core/error.h>

#include <algorithm>
#include <set>

#include "core/messages.h"
#include "io/tied.h"

namespace ebb::detail {
namespace {

constexpr const char* kOptions = "param_groups";
constexpr const char* kOptimizers[] = {"optimizer", "optimizer_state_dict", "optim"};

}  // namespace

void fail_of_part(const std::string& key, const std::vector<std::string>& names) {
  std::set<std::string> parts;
  for (const std::string& name : names)
    for (std::size_t dot = name.find('.'); dot != name.npos; dot = name.find('.', dot + 1))
      parts.insert(name.substr(0, dot));
  fail("load: no name in the file begins with \"", key, ".\"", near_names(key, {parts.begin(), parts.end()}),
       ".");
}

serialize::InputArchive optimizer_in(const safetensors::File& file, const std::string& key) {
  serialize::InputArchive archive(safetensors::every_name(file.tensors, file.metadata)), part;
  std::string before;
  if (!key.empty()) {
    if (!archive.try_read(key, part)) {
      std::vector<std::string> names;
      for (const auto& item : file.tensors) names.push_back(item.first);
      fail_of_part(key, names);
    }
    before = key + ".";
  } else if (serialize::InputArchive options; !archive.try_read(kOptions, options)) {
    for (const char* const name : kOptimizers)
      if (before.empty() && archive.try_read(name, part) && part.try_read(kOptions, options))
        before = std::string(name) + ".";
  }
  for (const auto& [name, dtype] : file.unsupported)
    EBB_CHECK(!name.starts_with(before), "load: \"", name, "\" of the optimizer is of dtype ", dtype,
              ", which ebb does not have.");
  return before.empty() ? archive : part;
}

std::string advice_on_wrapped(const std::vector<std::string>& names, const std::vector<std::string>& own) {
  // Of DataParallel and DistributedDataParallel, torch.compile, Lightning.
  for (const char* const prefix : {"module.", "_orig_mod.", "model."}) {
    const auto begins = [&](const std::string& name) { return name.starts_with(prefix); };
    if (!names.empty() && std::all_of(names.begin(), names.end(), begins) &&
        std::none_of(own.begin(), own.end(), begins))
      return text("\nAll names in the file begin with \"", prefix,
                  "\", as of a module within another: pass LoadOptions().prefixes({{\"", prefix,
                  "\", \"\"}}).");
  }
  return {};
}

}  // namespace ebb::detail

// The built library, a statically linked program, and the headers stay within their budgets.
#include "budgets.h"
#include "support/catch.h"
#include "support/files.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

using lint::check_budget;
namespace fs = std::filesystem;

namespace {

void run(const std::string& command) {
  INFO(command);
  REQUIRE(std::system(command.c_str()) == 0);
}

// The size of the file after stripping its symbols.
std::int64_t stripped_bytes(const std::string& path) {
  const support::Folder folder;
  const std::string copy = folder / "stripped";
  run("'" EBB_STRIP "' --strip-all -o '" + copy + "' '" + path + "'");
  return static_cast<std::int64_t>(fs::file_size(copy));
}

}  // namespace

TEST_CASE("the stripped library stays within its size budget") {
  check_budget("library_bytes", stripped_bytes(EBB_LIBRARY_FILE));
}

TEST_CASE("a static training program stays within its size budget") {
  run("'" EBB_TRAINER_FILE "'");
  check_budget("trainer_bytes", stripped_bytes(EBB_TRAINER_FILE));
}

TEST_CASE("the public header stays within its token budget") {
  const support::Folder folder;
  support::write_file(folder / "all.cpp", "#include <ebb/ebb.h>\n");
  run("'" EBB_COMPILER "' -std=c++20 -E -P -I '" EBB_INCLUDE_FOLDER "' -o '" + (folder / "all.ii") + "' '" +
      (folder / "all.cpp") + "'");
  std::istringstream text(support::read_file(folder / "all.ii"));
  std::int64_t words = 0;
  for (std::string word; text >> word;) ++words;
  check_budget("header_tokens", words);
}

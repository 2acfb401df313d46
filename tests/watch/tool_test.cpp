// Tests that need programs: without the program they are skipped, and fail if tools are required.
#include "support/tool.h"

#include "support/catch.h"
#include "support/files.h"
#include "support/scopes.h"

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

TEST_CASE("looks for a program that does not exist", "[.tool]") {
  support::has_tool("no-such-program", "none");
}

TEST_CASE("a test without its program is skipped and fails if EBB_REQUIRE_TOOLS is set") {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto status = [](const std::string& command) {
    const int ended = std::system((command + " > " + support::temporary("output")).c_str());
    return WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
  };
  const std::string debugger = "PATH=/nowhere " + source_dir() + "/tests/watch/gdb/run program folder";
  {
    const support::Environment optional("EBB_REQUIRE_TOOLS");
    CHECK(status(program + " '[.tool]'") == 0);
    CHECK(status(debugger) == 77);
  }
  const support::Environment required("EBB_REQUIRE_TOOLS", "1");
  CHECK(status(program + " '[.tool]'") != 0);
  CHECK(status(debugger) == 1);
  CHECK(support::has_tool("sh", "dash"));
}

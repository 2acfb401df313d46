// has_tool: a program that a test needs. With EBB_REQUIRE_TOOLS its absence is a failure.
#pragma once

#include "support/catch.h"

#include <cstdlib>
#include <string>

namespace support {

/// Returns whether a program is installed. Otherwise warns that the test is skipped, or fails if
/// EBB_REQUIRE_TOOLS is set. tests/run sets it, because it has installed all packages.
inline bool has_tool(const std::string& program, const std::string& package) {
  if (std::system(("command -v " + program + " > /dev/null").c_str()) == 0) return true;
  const std::string text = program + " is not installed: apt-get install " + package;
  if (std::getenv("EBB_REQUIRE_TOOLS")) FAIL(text);
  WARN("skipped: " << text);
  return false;
}

}  // namespace support

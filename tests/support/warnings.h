// The warnings of a scope, kept instead of printed.
#pragma once

#include <ebb/core/warning.h>

#include <string>
#include <vector>

namespace support {

/// Keeps the messages of this thread's warnings while it lives.
struct Warnings : ebb::WarningHandler {
  void process(const ebb::Warning& warning) override { texts.push_back(warning.msg()); }

  std::vector<std::string> texts;

 private:
  ebb::WarningHandlerGuard guard_{this};
};

}  // namespace support

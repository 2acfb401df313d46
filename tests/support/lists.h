// Whether a test program was asked for the names of its cases, which it must tell on any machine.
#pragma once

#include "support/catch.h"

namespace support {

/// After applyCommandLine(): --list-tests and the like, wherever they stand on the command line.
inline bool only_lists(Catch::Session& session) {
  const Catch::ConfigData& asked = session.configData();
  return asked.listTests || asked.listTestNamesOnly || asked.listTags || asked.listReporters;
}

}  // namespace support

// Files as a system shows them to a process, for tests of what reads those.
#pragma once

#include <string>

#include "support/files.h"

/// A folder that stands for "/", removed at the end.
class FakeRoot {
 public:
  void write(const std::string& file, const std::string& text) const {
    support::write_file(folder_.path().string() + file, text);
  }
  std::string path() const { return folder_.path().string(); }

 private:
  support::Folder folder_;
};

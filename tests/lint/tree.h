// The files of the project, as the lint tests read them.
#pragma once

#include <string>
#include <vector>

namespace lint {

struct Include {
  int line;
  std::string path;  // as written, without brackets or quotes
  bool quoted;
};

struct File {
  std::string path;  // from the top of the source tree, e.g. "src/core/storage.cpp"
  std::vector<std::string> lines;

  std::string name() const;
  bool in(const std::string& folder) const;  // folder ends in '/'
  bool ends_with(const std::string& suffix) const;
  bool is_code() const;  // C++ or CUDA
  // The token that starts a comment; "" for files that are not sources, such as documents.
  std::string comment_sign() const;
  std::vector<Include> includes() const;
  std::string at(int line) const;  // "path:line", for messages
};

/// All text files of the project, without build folders and reference data; sorted by path.
const std::vector<File>& tree();

/// The number of files of the project, including data.
std::size_t count_files();

/// The names in lists such as X(abs) X(neg) of ebb/methods/lists.h.
std::vector<std::string> listed_names(const File& file);

/// The list as one message; empty if there are no complaints.
std::string report(const std::vector<std::string>& complaints);

}  // namespace lint

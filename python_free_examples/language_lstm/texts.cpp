// Texts: reads labelled texts from a file.
#include "texts.h"

#include <algorithm>
#include <fstream>

Texts::Texts(const std::string& path, std::size_t longest) {
  std::ifstream file(path);
  EBB_CHECK(file, "Texts: cannot open ", path, ".");
  std::vector<std::string> label_of;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const std::size_t tab = line.find('\t');
    EBB_CHECK(tab != std::string::npos && tab > 0 && tab + 1 < line.size(), "Texts: line ",
              std::uint64_t{texts_.size() + 1}, " of ", path, " is not \"label<TAB>text\".");
    label_of.push_back(line.substr(0, tab));
    texts_.push_back(line.substr(tab + 1, longest));
  }
  EBB_CHECK(texts_.size() >= 10, "Texts: ", path, " holds ", std::uint64_t{texts_.size()},
            " texts. It needs at least ten.");
  labels_ = label_of;
  std::sort(labels_.begin(), labels_.end());
  labels_.erase(std::unique(labels_.begin(), labels_.end()), labels_.end());
  EBB_CHECK(labels_.size() > 1, "Texts: ", path, " holds ", std::uint64_t{labels_.size()},
            " label. It needs at least two.");
  for (const std::string& label : label_of)
    targets_.push_back(std::lower_bound(labels_.begin(), labels_.end(), label) - labels_.begin());
}

ebb::data::Example<> Texts::get(std::size_t index) {
  return {bytes_of(texts_.at(index)), ebb::tensor(targets_.at(index))};
}

ebb::Tensor bytes_of(const std::string& text) {
  std::vector<std::int64_t> bytes;
  for (const char c : text) bytes.push_back(static_cast<unsigned char>(c));
  return ebb::tensor(bytes);
}

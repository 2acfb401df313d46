// Text: reads a file, converts characters to ids and back, and draws windows.
#include "text.h"

#include <fstream>
#include <iterator>

Text::Text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EBB_CHECK(file, "cannot read ", path, "; name another file with --text");
  const std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EBB_CHECK(all.size() >= 10000, path, " has ", all.size(), " characters; the training needs at least 10000");
  const std::size_t split = all.size() / 10 * 9;
  training_ = all.substr(0, split);
  held_out_ = all.substr(split);
  numbers_.fill(-1);
  for (const char c : all) numbers_[static_cast<unsigned char>(c)] = 0;
  for (std::size_t code = 0; code < numbers_.size(); ++code) {
    if (numbers_[code] < 0) continue;
    numbers_[code] = vocab_size();
    characters_ += static_cast<char>(code);
  }
}

ebb::Tensor Text::encode(const std::string& text) const {
  std::vector<std::int64_t> ids;
  for (const char c : text) {
    ids.push_back(numbers_[static_cast<unsigned char>(c)]);
    EBB_CHECK(ids.back() >= 0, "the training text has no character with code ",
              int{static_cast<unsigned char>(c)}, ", so it cannot be encoded.");
  }
  return ebb::tensor(ids);
}

std::string Text::decode(const ebb::Tensor& ids) const {
  const ebb::Tensor here = ids.to(ebb::kCPU).contiguous();
  std::string text;
  for (std::int64_t i = 0; i < here.numel(); ++i)
    text += characters_[static_cast<std::size_t>(here.data_ptr<std::int64_t>()[i])];
  return text;
}

std::pair<ebb::Tensor, ebb::Tensor> draw_windows(const ebb::Tensor& ids, std::int64_t batch,
                                                 std::int64_t block) {
  const ebb::Tensor starts = ebb::randint(ids.size(0) - block, {batch, 1});
  const ebb::Tensor places = (starts + ebb::arange(block + 1)).flatten().to(ids.device());
  const ebb::Tensor windows = ids.index_select(0, places).reshape({batch, block + 1});
  return {windows.narrow(1, 0, block), windows.narrow(1, 1, block)};
}

// How rows run together.
#include "compile/row_program.h"

#include <ebb/core/parallel.h>

#include <algorithm>
#include <cstring>

namespace ebb::compiling {
namespace {

constexpr std::size_t kLine = 64;  // of the cache
constexpr std::size_t kNearBytes = 24
                                   << 10;  // that the streams of a block share: half of a first-level cache
constexpr std::int64_t kLeast = 512;       // elements of a block, which pay for the calls
constexpr std::int64_t kMost = std::int64_t{1} << 14;

std::size_t rounded(std::size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

}  // namespace

int RowProgram::add(const Stream& stream) {
  streams_.push_back(stream);
  return static_cast<int>(streams_.size()) - 1;
}

int RowProgram::add_memory(const Storage& storage, std::size_t offset, std::size_t size, bool still) {
  return add({&storage, offset, size, nullptr, -1, still});
}

int RowProgram::add_number(const char (&bytes)[8], std::size_t size) {
  std::memcpy(numbers_.emplace_back().data(), bytes, sizeof(bytes));
  return add({nullptr, 0, size, numbers_.back().data(), -1, true});
}

int RowProgram::add_buffer(std::size_t size) { return add({nullptr, 0, size, nullptr, 0, false}); }

int RowProgram::add_filled(int from) {
  fills_.push_back({add_buffer(streams_[static_cast<std::size_t>(from)].size), from});
  return fills_.back().to;
}

int RowProgram::add_source(std::unique_ptr<RowSource> source, std::size_t size, std::int64_t unit,
                           std::int64_t rows) {
  source_ = std::move(source);
  unit_ = unit;
  block_ = rows * unit;
  add_grain(source_->grain());
  return source_stream_ = add_buffer(size);
}

void RowProgram::add_grain(std::int64_t grain) {
  grains_ += 1.0 / static_cast<double>(std::max<std::int64_t>(grain, 1));
}

void RowProgram::add_line(const Line& line, std::int64_t grain) {
  lines_.push_back(line);
  add_grain(grain);
}

void RowProgram::share_buffers() {
  std::vector<std::size_t> last(streams_.size());  // the line that touches a stream last
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    for (const int at : lines_[i].in)
      if (at >= 0) last[static_cast<std::size_t>(at)] = i;
    last[static_cast<std::size_t>(lines_[i].out)] = i;
  }
  std::vector<bool> has(streams_.size());
  std::vector<int> free;
  const auto take = [&](int at) {
    const auto stream = static_cast<std::size_t>(at);
    if (streams_[stream].buffer < 0 || has[stream]) return;
    if (free.empty()) free.push_back(static_cast<int>(buffers_++));
    streams_[stream].buffer = free.back();
    free.pop_back();
    has[stream] = true;
  };
  const auto give = [&](int at) {
    const auto stream = static_cast<std::size_t>(at);
    if (!has[stream]) return;
    free.push_back(streams_[stream].buffer);
    has[stream] = false;
  };
  if (source_) take(source_stream_);
  for (const Fill& fill : fills_) {  // for good
    take(fill.to);
    last[static_cast<std::size_t>(fill.to)] = lines_.size();
  }
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    Line& line = lines_[i];
    const auto ends = [&](int at) { return at >= 0 && last[static_cast<std::size_t>(at)] == i; };
    const auto size = [&](int at) { return streams_[static_cast<std::size_t>(at)].size; };
    // A row may write to where it reads elements of the same size.
    for (const int at : line.in)
      if (ends(at) && at != line.out && size(at) == size(line.out)) give(at);
    take(line.out);
    for (const int at : line.in)
      if (ends(at) && at != line.out) give(at);
    if (ends(line.out)) give(line.out);
    for (int& at : line.in)
      if (at < 0) at = line.out;
  }
}

void RowProgram::finish() {
  share_buffers();
  std::size_t widest = 1, moving = 0;
  for (const Stream& stream : streams_) {
    widest = std::max(widest, stream.size);
    moving += stream.moves();
  }
  const auto fits =
      static_cast<std::int64_t>(kNearBytes / (widest * std::max<std::size_t>(moving + buffers_, 1)));
  if (!source_) block_ = std::min(count_, std::clamp(fits / kLeast * kLeast, kLeast, kMost));
  table_bytes_ = rounded(streams_.size() * sizeof(std::byte*));
  buffer_bytes_ = rounded(static_cast<std::size_t>(block_) * widest);
}

std::int64_t RowProgram::threads() const {
  const auto worth = static_cast<std::int64_t>(static_cast<double>(count_) * grains_);
  return std::clamp<std::int64_t>(std::min<std::int64_t>(worth, get_num_threads()), 1, blocks());
}

std::size_t RowProgram::work_bytes() const {
  return static_cast<std::size_t>(threads()) * (table_bytes_ + buffers_ * buffer_bytes_);
}

void RowProgram::run(std::byte* work) const {
  const std::int64_t pieces = threads(), all = blocks();
  const std::size_t bytes = table_bytes_ + buffers_ * buffer_bytes_;
  parallel_for(0, pieces, 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i)
      run_blocks(all * i / pieces, all * (i + 1) / pieces, work + static_cast<std::size_t>(i) * bytes);
  });
}

void RowProgram::run_blocks(std::int64_t first, std::int64_t last, std::byte* work) const {
  auto* const at = reinterpret_cast<std::byte**>(work);
  std::byte* const buffers = work + table_bytes_;
  const std::size_t before = static_cast<std::size_t>(first * block_);
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const Stream& s = streams_[i];
    if (s.buffer >= 0)
      at[i] = buffers + static_cast<std::size_t>(s.buffer) * buffer_bytes_;
    else if (s.storage)
      at[i] = static_cast<std::byte*>(s.storage->data()) + s.offset + (s.still ? 0 : before * s.size);
    else
      at[i] = const_cast<std::byte*>(s.number);
  }
  for (const Fill& fill : fills_) {
    const auto to = static_cast<std::size_t>(fill.to);
    const std::size_t size = streams_[to].size;
    for (std::int64_t i = 0; i < block_; ++i)
      std::memcpy(at[to] + static_cast<std::size_t>(i) * size, at[static_cast<std::size_t>(fill.from)], size);
  }
  for (std::int64_t b = first; b < last; ++b) {
    const std::int64_t n = std::min(block_, count_ - b * block_);
    if (source_)
      source_->bring(b * block_ / unit_, (b * block_ + n) / unit_,
                     at[static_cast<std::size_t>(source_stream_)]);
    for (const Line& line : lines_) {
      const void* in[detail::ElementRow::kMostOperands];
      for (std::size_t k = 0; k < line.in.size(); ++k) in[k] = at[static_cast<std::size_t>(line.in[k])];
      line.row(at[static_cast<std::size_t>(line.out)], in, line.constant, n, line.formula);
    }
    if (b + 1 == last) return;
    for (std::size_t i = 0; i < streams_.size(); ++i)
      if (streams_[i].moves()) at[i] += static_cast<std::size_t>(block_) * streams_[i].size;
  }
}

}  // namespace ebb::compiling

// LoopProgram: runs fused elementwise calls on the CPU, one block of elements at a time.

#include <ebb/core/parallel.h>

#include "compile/fuse.h"
#include "compile/programs.h"

#include <algorithm>
#include <cstring>

namespace ebb::detail::compile {
namespace {

constexpr std::size_t kCacheBytes = 24 << 10;  // half of a first-level cache, for the streams of a block
constexpr std::int64_t kLeast = 512;  // the fewest elements of a block; with fewer, calls cost too much
constexpr std::int64_t kMost = std::int64_t{1} << 14;

std::size_t size_of(DType dtype) { return static_cast<std::size_t>(element_size(dtype)); }

}  // namespace

int LoopProgram::add(const Stream& stream) {
  streams_.push_back(stream);
  return static_cast<int>(streams_.size()) - 1;
}

int LoopProgram::add_memory(const Storage& storage, std::size_t offset, DType dtype, bool broadcast) {
  return add({&storage, offset, size_of(dtype), nullptr, -1, broadcast});
}

int LoopProgram::add_number(const char (&bytes)[8], DType dtype) {
  std::memcpy(numbers_.emplace_back().data(), bytes, sizeof(bytes));
  return add({nullptr, 0, size_of(dtype), numbers_.back().data(), -1, true});
}

int LoopProgram::add_buffer(DType dtype) { return add({nullptr, 0, size_of(dtype), nullptr, 0, false}); }

int LoopProgram::add_filled(int from) {
  fills_.push_back(
      {add({nullptr, 0, streams_[static_cast<std::size_t>(from)].size, nullptr, 0, false}), from});
  return fills_.back().to;
}

int LoopProgram::add_producer(std::unique_ptr<Producer> producer) {
  producer_ = std::move(producer);
  unit_ = producer_->unit();
  block_ = producer_->units() * unit_;
  add_grain(producer_->grain());
  return producer_stream_ = add_buffer(producer_->out().dtype());
}

void LoopProgram::add_grain(std::int64_t grain) {
  grains_ += 1.0 / static_cast<double>(std::max<std::int64_t>(grain, 1));
}

void LoopProgram::add_instruction(const Instruction& instruction, std::int64_t grain) {
  instructions_.push_back(instruction);
  add_grain(grain);
}

void LoopProgram::add_sum(const detail::ElementReduction& steps, int stream, const Storage& out,
                          std::size_t offset) {
  sums_.push_back({steps, stream, &out, offset});
}

void LoopProgram::assign_buffers() {
  std::vector<std::size_t> last(streams_.size());  // the instruction that accesses a stream last
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    for (const int at : instructions_[i].in)
      if (at >= 0) last[static_cast<std::size_t>(at)] = i;
    last[static_cast<std::size_t>(instructions_[i].out)] = i;
  }
  std::vector<bool> has(streams_.size());
  std::vector<int> free;
  const auto acquire = [&](int at) {
    const auto stream = static_cast<std::size_t>(at);
    if (streams_[stream].buffer < 0 || has[stream]) return;
    if (free.empty()) free.push_back(static_cast<int>(buffers_++));
    streams_[stream].buffer = free.back();
    free.pop_back();
    has[stream] = true;
  };
  const auto release = [&](int at) {
    const auto stream = static_cast<std::size_t>(at);
    if (!has[stream]) return;
    free.push_back(streams_[stream].buffer);
    has[stream] = false;
  };
  if (producer_) acquire(producer_stream_);
  for (const Fill& fill : fills_) {  // a filled buffer is live during all instructions
    acquire(fill.to);
    last[static_cast<std::size_t>(fill.to)] = instructions_.size();
  }
  for (const Sum& sum : sums_) last[static_cast<std::size_t>(sum.stream)] = instructions_.size();
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    Instruction& instruction = instructions_[i];
    const auto ends = [&](int at) { return at >= 0 && last[static_cast<std::size_t>(at)] == i; };
    const auto size = [&](int at) { return streams_[static_cast<std::size_t>(at)].size; };
    // A row may write its result to the buffer of an operand only if the elements of both have the same size.
    for (const int at : instruction.in)
      if (ends(at) && at != instruction.out && size(at) == size(instruction.out)) release(at);
    acquire(instruction.out);
    for (const int at : instruction.in)
      if (ends(at) && at != instruction.out) release(at);
    if (ends(instruction.out)) release(instruction.out);
    for (int& at : instruction.in)
      if (at < 0) at = instruction.out;
  }
}

void LoopProgram::finish() {
  assign_buffers();
  std::size_t widest = 1, moving = 0;
  for (const Stream& stream : streams_) {
    widest = std::max(widest, stream.size);
    moving += stream.moves();
  }
  const auto fits =
      static_cast<std::int64_t>(kCacheBytes / (widest * std::max<std::size_t>(moving + buffers_, 1)));
  if (!sums_.empty())
    block_ = std::min(count_, sums_.front().steps.block);
  else if (!producer_)
    block_ = std::min(count_, std::clamp(fits / kLeast * kLeast, kLeast, kMost));
  piece_ = sums_.empty() ? block_ : sums_.front().steps.piece;
  table_bytes_ =
      to_lines(streams_.size() * sizeof(std::byte*)) + sums_.size() * detail::ElementReduction::kState;
  buffer_bytes_ = to_lines(static_cast<std::size_t>(block_) * widest);
}

std::int64_t LoopProgram::threads() const {
  const auto worth = static_cast<std::int64_t>(static_cast<double>(count_) * grains_);
  return std::clamp<std::int64_t>(std::min<std::int64_t>(worth, get_num_threads()), 1, pieces());
}

std::size_t LoopProgram::sums_bytes() const {
  return to_lines(sums_.size() * static_cast<std::size_t>(pieces()) * detail::ElementReduction::kSum);
}

std::size_t LoopProgram::work_bytes() const {
  return sums_bytes() + static_cast<std::size_t>(threads()) * (table_bytes_ + buffers_ * buffer_bytes_);
}

void LoopProgram::run(std::byte* work) const {
  const std::int64_t parts = threads(), all = pieces();
  const std::size_t bytes = table_bytes_ + buffers_ * buffer_bytes_;
  std::byte* const own = work + sums_bytes();
  parallel_for(0, parts, 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i)
      run_pieces(all * i / parts, all * (i + 1) / parts, own + static_cast<std::size_t>(i) * bytes, work);
  });
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const Sum& sum = sums_[i];
    sum.steps.finish(work + i * static_cast<std::size_t>(all) * detail::ElementReduction::kSum, all,
                     sum.steps.divisor, static_cast<std::byte*>(sum.out->data()) + sum.offset);
  }
}

// Adds the elements of a block to the sums of their chunk.
void LoopProgram::accumulate_sums(std::int64_t block, std::int64_t n, std::byte* const* at, std::byte* states,
                                  std::byte* sums) const {
  const std::int64_t begin = block * block_, piece = begin / piece_;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const Sum& sum = sums_[i];
    void* const state = states + i * detail::ElementReduction::kState;
    if (begin % piece_ == 0) sum.steps.begin(state);
    sum.steps.push(state, at[sum.stream], n);
    if ((begin + n) % piece_ != 0 && begin + n != count_) continue;
    const auto slot = i * static_cast<std::size_t>(pieces()) + static_cast<std::size_t>(piece);
    sum.steps.end(state, sums + slot * detail::ElementReduction::kSum);
  }
}

void LoopProgram::run_pieces(std::int64_t from, std::int64_t to, std::byte* work, std::byte* sums) const {
  const std::int64_t first = from * piece_ / block_;
  const std::int64_t last = (std::min(to * piece_, count_) + block_ - 1) / block_;
  auto* const at = reinterpret_cast<std::byte**>(work);
  std::byte* const states = work + to_lines(streams_.size() * sizeof(std::byte*));
  std::byte* const buffers = work + table_bytes_;
  const std::size_t before = static_cast<std::size_t>(first * block_);
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const Stream& s = streams_[i];
    if (s.buffer >= 0)
      at[i] = buffers + static_cast<std::size_t>(s.buffer) * buffer_bytes_;
    else if (s.storage)
      at[i] = static_cast<std::byte*>(s.storage->data()) + s.offset + (s.broadcast ? 0 : before * s.size);
    else
      at[i] = const_cast<std::byte*>(s.number);
  }
  for (const Fill& fill : fills_) {
    std::byte* const filled = at[fill.to];
    const std::size_t size = streams_[static_cast<std::size_t>(fill.to)].size;
    for (std::int64_t i = 0; i < block_; ++i)
      std::memcpy(filled + static_cast<std::size_t>(i) * size, at[fill.from], size);
  }
  for (std::int64_t b = first; b < last; ++b) {
    const std::int64_t n = std::min(block_, count_ - b * block_);
    if (producer_) producer_->produce(b * block_ / unit_, (b * block_ + n) / unit_, at[producer_stream_]);
    for (const Instruction& instruction : instructions_) {
      const void* in[detail::ElementRow::kMostOperands];
      for (std::size_t k = 0; k < instruction.in.size(); ++k) in[k] = at[instruction.in[k]];
      instruction.row(at[instruction.out], in, instruction.constant, n, instruction.formula);
    }
    if (!sums_.empty()) accumulate_sums(b, n, at, states, sums);
    if (b + 1 == last) return;
    for (std::size_t i = 0; i < streams_.size(); ++i)
      if (streams_[i].moves()) at[i] += static_cast<std::size_t>(block_) * streams_[i].size;
  }
}

std::unique_ptr<Producer> producer_of(const TapeCall& call) {
  if (std::unique_ptr<Producer> product = product_producer(call)) return product;
  return pooling_producer(call);
}

NdArray array_at(std::byte* data, const DimVector& sizes, DType dtype) {
  const auto bytes = static_cast<std::size_t>(checked_numel(sizes) * element_size(dtype));
  return NdArray(Storage::adopt(data, bytes, kCPU, nullptr, nullptr), sizes, contiguous_strides(sizes), 0,
                 dtype);
}

}  // namespace ebb::detail::compile

// What kernels of chains are given, and how they are launched.
#include "compile/device_chain.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace ebb::compiling {
namespace {

constexpr std::size_t kWord = 8;
// Words of ChainSpan, and of RowSpan those that the second launch has otherwise
// (ops/elementwise/cuda_chain.h, cuda_chain_rows.h); columns have the same.
constexpr std::size_t kUnits = 2, kTeam = 4, kMerges = 7;

}  // namespace

bool DeviceChain::make(Device device) {
  device_ = device;
  kernel_ = detail::backend(device.type()).make_kernel(device, source());
  return kernel_ != nullptr;
}

// Most arrays are to be read by whole vectors; the elements before their first aligned one are taken one by
// one, and so are all elements of the others.
DeviceChain::Alignment DeviceChain::alignment() const {
  const auto v = static_cast<std::uint64_t>(width());
  std::array<int, kVectorBytes> votes{};
  std::vector<std::uint64_t> heads(arrays_.size(), v);
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    const Stream& s = array(i);
    if (s.still) continue;
    const auto address = reinterpret_cast<std::uint64_t>(s.storage->data()) + s.offset;
    const auto size = static_cast<std::uint64_t>(element_size(s.dtype));
    heads[i] = (v - address / size % v) % v;
    ++votes[heads[i]];
  }
  // Columns have none before the first.
  const auto best =
      matrix_.by_columns
          ? 0
          : static_cast<std::uint64_t>(std::max_element(votes.begin(), votes.end()) - votes.begin());
  std::uint64_t aligned = 0;
  for (std::size_t i = 0; i < arrays_.size(); ++i) aligned |= std::uint64_t{heads[i] == best} << i;
  return {best, aligned};
}

std::vector<std::uint64_t> DeviceChain::argument(const std::byte* work) const {
  const Alignment best = alignment();
  const auto count = static_cast<std::uint64_t>(count_), head = std::min(best.head, count);
  std::vector<std::uint64_t> argument{count, head, (count - head) / static_cast<std::uint64_t>(width()),
                                      best.arrays};
  const RowSplit how = split();
  if (!reductions_.empty()) {
    argument.clear();
    for (const std::int64_t each : {matrix_.rows, count_ / matrix_.rows, how.pieces, how.piece, how.team})
      argument.push_back(static_cast<std::uint64_t>(each));
    argument.insert(argument.end(), {best.head, best.arrays, 0});
  }
  const auto address_of = [](const Storage& storage, std::size_t offset) {
    return reinterpret_cast<std::uint64_t>(storage.data()) + offset;
  };
  const auto add = [&](const void* from, std::size_t bytes) {
    const std::size_t at = argument.size();
    argument.resize(at + (bytes + kWord - 1) / kWord);
    std::memcpy(&argument[at], from, bytes);
  };
  for (const int stream : arrays_) {
    const Stream& s = streams_[static_cast<std::size_t>(stream)];
    argument.push_back(address_of(*s.storage, s.offset));
  }
  for (const Part& part : parts_) add(part.from, part.bytes);
  auto partial = reinterpret_cast<std::uint64_t>(work);
  for (const Reduction& r : reductions_) {
    add(r.formula.formula, r.formula.formula_bytes);
    argument.push_back(address_of(*r.out, r.offset));
    argument.push_back(partial);
    partial += partial_bytes();
  }
  return argument;
}

std::size_t DeviceChain::partial_bytes() const {
  const std::int64_t results = matrix_.by_columns ? count_ / matrix_.rows : matrix_.rows;
  const RowSplit how = split();
  return how.pieces == 1 ? 0 : static_cast<std::size_t>(results * how.pieces) * kWord;
}

std::size_t DeviceChain::work_bytes() const {
  return reductions_.empty() ? 0 : reductions_.size() * partial_bytes();
}

void DeviceChain::run(std::byte* work) const {
  std::vector<std::uint64_t> given = argument(work);
  const auto launch = [&](std::int64_t blocks) {
    kernel_->launch(grid_blocks(blocks), RowSplit::kThreads, given.data(), given.size() * kWord);
  };
  if (reductions_.empty())
    return launch(ceil_div(static_cast<std::int64_t>(given[kUnits]), RowSplit::kThreads));
  const RowSplit how = split();
  launch(how.blocks);
  if (how.pieces == 1) return;
  given[kTeam] = static_cast<std::uint64_t>(how.merging_team);
  given[kMerges] = 1;
  launch(how.merging_blocks);
}

}  // namespace ebb::compiling

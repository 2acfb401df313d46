// DeviceChain: writes the source of a kernel for several calls on a device, and launches it.

#include "compile/emit.h"
#include "compile/programs.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace ebb::detail::compile {
namespace {

const char* type_of(DType dtype) {
  static constexpr const char* names[] = {"std::uint8_t", "std::int8_t", "std::int16_t", "std::int32_t",
                                          "std::int64_t", "Half",        "float",        "double",
                                          "bool",         "BFloat16"};
  return names[static_cast<std::size_t>(dtype)];
}

}  // namespace

int DeviceChain::add(const Stream& stream) {
  streams_.push_back(stream);
  return static_cast<int>(streams_.size()) - 1;
}

int DeviceChain::add_memory(const Storage& storage, std::size_t offset, DType dtype, bool broadcast) {
  const int at = static_cast<int>(arrays_.size());
  arrays_.push_back(add({dtype, &storage, offset, broadcast, at, -1, false}));
  return arrays_.back();
}

int DeviceChain::add_number(const char (&bytes)[8], DType dtype) {
  numbers_.push_back(std::make_unique<char[]>(sizeof(bytes)));
  std::memcpy(numbers_.back().get(), bytes, sizeof(bytes));
  parts_.push_back({numbers_.back().get(), sizeof(bytes)});
  const std::string name = detail::text("n", std::uint64_t{numbers_.size() - 1});
  members_ += detail::text("  alignas(8) ", type_of(dtype), " ", name, ";\n");
  const int at = add({dtype, nullptr, 0, true, -1, -1, false});
  streams_.back().value = new_value(detail::text("same<V>(", name, ")"));
  return at;
}

int DeviceChain::add_buffer(DType dtype) { return add({dtype, nullptr, 0, false, -1, -1, false}); }

int DeviceChain::new_value(const std::string& text) {
  body_ += detail::text("    const auto v", values_, " = ", text, ";\n");
  return values_++;
}

int DeviceChain::value_of(int stream) {
  Stream& s = streams_[static_cast<std::size_t>(stream)];
  if (s.value < 0)
    s.value = new_value(s.broadcast ? detail::text("same<V>(*x", s.array, ")")
                                    : detail::text("load<V>(span, ", s.array, ", x", s.array, ", first)"));
  return s.value;
}

void DeviceChain::add_call(const detail::ElementRow& row, const int* in, int out) {
  std::string operands;
  for (int i = 0; i < row.count; ++i) operands += detail::text(", v", value_of(in[i]));
  const std::string formula = detail::text("f", formulas_++);
  members_ += detail::text("  alignas(8) ", type_text(*row.type), " ", formula, ";\n");
  parts_.push_back({row.formula, row.formula_bytes});
  Stream& to = streams_[static_cast<std::size_t>(out)];
  to.made = true;
  to.value = new_value(detail::text("apply<", type_of(to.dtype), ">(", formula, operands, ")"));
}

int DeviceChain::width() const {
  std::int64_t widest = 1;
  for (const int at : arrays_) {
    const Stream& s = streams_[static_cast<std::size_t>(at)];
    if (!s.broadcast) widest = std::max(widest, element_size(s.dtype));
  }
  const int most = kVectorBytes / static_cast<int>(widest);
  if (reductions_.empty()) return most;
  // Limits the width, because wide vectors leave more elements before the first whole vector and after the
  // last one. Only few lanes add these elements.
  int width = std::min(most, kMostReduced);
  if (!matrix_.by_columns) return width;
  // The vectors of all rows must begin at the same columns, because each column has its own sum.
  while (count_ / matrix_.rows % width != 0) width /= 2;
  return width;
}

void DeviceChain::add_reduction(const detail::ElementReduction& reduction, const ReducedMatrix& matrix,
                                int stream, const Storage& out, std::size_t offset) {
  matrix_ = matrix;
  reductions_.push_back({reduction, value_of(stream), &out, offset});
}

DeviceChain::ReductionTexts DeviceChain::reduction_texts() const {
  ReductionTexts texts;
  std::string totals, begins, ends, merges;
  const std::string lanes = matrix_.by_columns ? detail::text(", ", width()) : "";
  for (std::size_t i = 0; i < reductions_.size(); ++i) {
    const Reduction& r = reductions_[i];
    const std::string name = detail::text("s", std::uint64_t{i}), type = type_text(*r.formula.type);
    texts.members += detail::text("  Reduction<", type, "> ", name, ";\n");
    texts.takes += detail::text("    take(", name, ".formula, totals.", name, ", v", r.value, ");\n");
    totals += detail::text("    Lanes<", type, lanes, "> ", name, ";\n");
    begins += detail::text(i == 0 ? "" : ", ", name, ".formula");
    ends += detail::text("    team.end(", name, ", totals.", name, ");\n");
    merges += detail::text("    team.merge(", name, ");\n");
  }
  texts.phases = detail::text(
      "\n"
      "  struct Totals {\n",
      totals,
      "  };\n"
      "  EBB_HD Totals totals() const { return {",
      begins,
      "}; }\n"
      "  template <class Team>\n"
      "  __device__ void end(const Team& team, const Totals& totals) const {\n",
      ends,
      "  }\n"
      "  template <class Team>\n"
      "  __device__ void merge(const Team& team) const {\n",
      merges, "  }\n");
  return texts;
}

std::string DeviceChain::source() const {
  const bool reduces = !reductions_.empty();
  std::string arrays, stores;
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    const Stream& s = array(i);
    arrays += detail::text("  ", s.made ? "" : "const ", type_of(s.dtype), "* x", std::uint64_t{i}, ";\n");
    if (s.made)
      stores += detail::text("    store(span, ", s.array, ", x", s.array, ", first, v", s.value, ");\n");
  }
  const ReductionTexts of = reduces ? reduction_texts() : ReductionTexts();
  const char* const header = !reduces             ? "cuda_chain.h"
                             : matrix_.by_columns ? "cuda_chain_columns.h"
                                                  : "cuda_chain_rows.h";
  const char* const run = !reduces ? "run_chain<" : matrix_.by_columns ? "run_columns<" : "run_rows<";
  return detail::text("// Elementwise calls that run together", reduces ? ", and reductions" : "", ".\n",
                      "#include \"ops/elementwise/", header, "\"\n\n",
                      "namespace ebb::cuda {\n\n"
                      "struct Chain {\n  ",
                      reduces ? "RowSpan" : "ChainSpan", " span;\n", arrays, members_, of.members, of.phases,
                      "\n"
                      "  template <int V>\n"
                      "  EBB_HD void run(std::int64_t first",
                      reduces ? ", Totals& totals" : "", ") const {\n", body_, stores, of.takes,
                      "  }\n"
                      "};\n\n"
                      "}  // namespace ebb::cuda\n\n"
                      "using Argument = ebb::cuda::Chain;\n"
                      "extern \"C\" __global__ void __launch_bounds__(",
                      RowSplit::kThreads,
                      ") jit_kernel(const __grid_constant__ Argument chain) {\n  ebb::cuda::", run, width(),
                      ", ", RowSplit::kThreads, ">(chain, blockIdx.x, threadIdx.x);\n}\n");
}

namespace {

constexpr std::size_t kWord = 8;
// The indices of the argument's words that the second launch changes: kUnits in ChainSpan, kTeam and kMerges
// in RowSpan (ops/elementwise/cuda_chain.h, cuda_chain_rows.h). They are the same for reductions of columns.
constexpr std::size_t kUnits = 2, kTeam = 4, kMerges = 7;

}  // namespace

bool DeviceChain::make(Device device) {
  device_ = device;
  kernel_ = detail::backend(device.type()).make_kernel(device, source());
  return kernel_ != nullptr;
}

// Chooses the alignment with which the most arrays can be read as whole vectors. In these arrays, elements
// before the first aligned one are read one by one. In arrays with another alignment, all elements are read
// one by one.
DeviceChain::Alignment DeviceChain::alignment() const {
  const auto v = static_cast<std::uint64_t>(width());
  std::array<int, kVectorBytes> votes{};
  std::vector<std::uint64_t> heads(arrays_.size(), v);
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    const Stream& s = array(i);
    if (s.broadcast) continue;
    const auto address = reinterpret_cast<std::uint64_t>(s.storage->data()) + s.offset;
    const auto size = static_cast<std::uint64_t>(element_size(s.dtype));
    heads[i] = (v - address / size % v) % v;
    ++votes[heads[i]];
  }
  // If columns are reduced, vectors must begin at the first column.
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

}  // namespace ebb::detail::compile

// How chains become sources, and how their kernels are given what they work on.
#include "compile/device_chain.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "compile/emit_text.h"

namespace ebb::compiling {
namespace {

constexpr int kMostBytes = 16;  // of neighbouring elements that are loaded at once
constexpr unsigned kThreads = 256;
constexpr std::size_t kWord = 8;
enum SpanWord : std::size_t {
  kCount,
  kHead,
  kUnits,
  kAligned,
  kSpanWords
};  // ChainSpan in ops/elementwise/cuda_chain.h

const char* type_of(DType dtype) {
  static constexpr const char* names[] = {"std::uint8_t", "std::int8_t", "std::int16_t", "std::int32_t",
                                          "std::int64_t", "Half",        "float",        "double",
                                          "bool",         "BFloat16"};
  return names[static_cast<std::size_t>(dtype)];
}

std::size_t words_of(std::size_t bytes) { return (bytes + kWord - 1) / kWord; }

}  // namespace

int DeviceChain::add(const Stream& stream) {
  streams_.push_back(stream);
  return static_cast<int>(streams_.size()) - 1;
}

int DeviceChain::add_memory(const Storage& storage, std::size_t offset, DType dtype, bool still) {
  const int at = static_cast<int>(arrays_.size());
  arrays_.push_back(add({dtype, &storage, offset, still, at, -1, false}));
  return arrays_.back();
}

int DeviceChain::add_number(const char (&bytes)[8], DType dtype) {
  numbers_.push_back(std::make_unique<char[]>(sizeof(bytes)));
  std::memcpy(numbers_.back().get(), bytes, sizeof(bytes));
  parts_.push_back({numbers_.back().get(), sizeof(bytes), 1});
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
    s.value = new_value(s.still ? detail::text("same<V>(*x", s.array, ")")
                                : detail::text("load<V>(span, ", s.array, ", x", s.array, ", first)"));
  return s.value;
}

void DeviceChain::add_call(const detail::ElementRow& row, const int* in, int out) {
  std::string operands;
  for (int i = 0; i < row.count; ++i) operands += detail::text(", v", value_of(in[i]));
  const std::string formula = detail::text("f", formulas_++);
  members_ += detail::text("  alignas(8) ", type_text(*row.type), " ", formula, ";\n");
  parts_.push_back({row.formula, row.formula_bytes, words_of(row.formula_bytes)});
  Stream& to = streams_[static_cast<std::size_t>(out)];
  to.made = true;
  to.value = new_value(detail::text("apply<", type_of(to.dtype), ">(", formula, operands, ")"));
}

int DeviceChain::width() const {
  std::int64_t widest = 1;
  for (const int at : arrays_) {
    const Stream& s = streams_[static_cast<std::size_t>(at)];
    if (!s.still) widest = std::max(widest, element_size(s.dtype));
  }
  return kMostBytes / static_cast<int>(widest);
}

std::string DeviceChain::source() const {
  std::string arrays, stores;
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    const Stream& s = array(i);
    arrays += detail::text("  ", s.made ? "" : "const ", type_of(s.dtype), "* x", std::uint64_t{i}, ";\n");
    if (s.made)
      stores += detail::text("    store(span, ", s.array, ", x", s.array, ", first, v", s.value, ");\n");
  }
  return detail::text(
      "// Elementwise calls that run together.\n"
      "#include \"ops/elementwise/cuda_chain.h\"\n\n"
      "namespace ebb::cuda {\n\n"
      "struct Chain {\n"
      "  ChainSpan span;\n",
      arrays, members_,
      "\n"
      "  template <int V>\n"
      "  EBB_HD void run(std::int64_t first) const {\n",
      body_, stores,
      "  }\n"
      "};\n\n"
      "}  // namespace ebb::cuda\n\n"
      "using Argument = ebb::cuda::Chain;\n"
      "extern \"C\" __global__ void __launch_bounds__(",
      kThreads, ") made_kernel(const __grid_constant__ Argument chain) {\n  ebb::cuda::run_chain<", width(),
      ", ", kThreads, ">(chain, blockIdx.x, threadIdx.x);\n}\n");
}

bool DeviceChain::make(Device device) {
  kernel_ = detail::backend(device.type()).make_kernel(device, source());
  return kernel_ != nullptr;
}

std::vector<std::uint64_t> DeviceChain::argument() const {
  std::vector<std::uint64_t> argument(kSpanWords + arrays_.size());
  // Most arrays are to be read by whole vectors; the elements before their first aligned one are taken one by
  // one, and so are all elements of the others.
  const auto v = static_cast<std::uint64_t>(width());
  std::array<int, kMostBytes> votes{};
  std::vector<std::uint64_t> heads(arrays_.size(), v);
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    const Stream& s = array(i);
    const auto address = reinterpret_cast<std::uint64_t>(s.storage->data()) + s.offset;
    argument[kSpanWords + i] = address;
    if (s.still) continue;
    const auto size = static_cast<std::uint64_t>(element_size(s.dtype));
    heads[i] = (v - address / size % v) % v;
    ++votes[heads[i]];
  }
  const auto best = static_cast<std::uint64_t>(std::max_element(votes.begin(), votes.end()) - votes.begin());
  const auto count = static_cast<std::uint64_t>(count_), head = std::min(best, count);
  const std::uint64_t units = (count - head) / v;
  std::uint64_t aligned = 0;
  for (std::size_t i = 0; i < arrays_.size(); ++i) aligned |= std::uint64_t{heads[i] == best} << i;
  argument[kCount] = count;
  argument[kHead] = head;
  argument[kUnits] = units;
  argument[kAligned] = aligned;
  for (const Part& part : parts_) {
    const std::size_t at = argument.size();
    argument.resize(at + part.words);
    std::memcpy(&argument[at], part.from, part.bytes);
  }
  return argument;
}

void DeviceChain::run(std::byte*) const {
  const std::vector<std::uint64_t> given = argument();
  const std::uint64_t blocks = std::max<std::uint64_t>((given[kUnits] + kThreads - 1) / kThreads, 1);
  kernel_->launch(static_cast<unsigned>(blocks), kThreads, given.data(), given.size() * kWord);
}

}  // namespace ebb::compiling

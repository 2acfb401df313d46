// Chains of elementwise calls on a device: their sources and kernel arguments.
#include "compile/programs.h"
#include "kernel/reducers.h"
#include "ops/elementwise/formulas/activations.h"
#include "ops/elementwise/formulas/compare.h"
#include "ops/elementwise/formulas/ternary.h"
#include "support/catch.h"
#include "support/formulas.h"

using namespace ebb;
using detail::compile::DeviceChain;
using detail::compile::ReducedMatrix;
using detail::compile::RowSplit;
using testing::reduction_of;
using testing::row_of;

namespace {

template <class Op>
void call(DeviceChain& chain, const Op& op, std::initializer_list<int> in, int out) {
  chain.add_call(row_of(op, static_cast<int>(in.size())), in.begin(), out);
}

// Returns a storage with this address and without memory.
Ref<Storage> at(std::uintptr_t address) {
  return Storage::adopt(reinterpret_cast<void*>(address), 0, kCPU, nullptr, nullptr);
}

constexpr std::int64_t kCount = 100;
const ops::Add kAdd;

// Returns the span of x + y -> out with arrays at these addresses: head, units, and which are aligned.
std::vector<std::uint64_t> span_of(std::int64_t count, DType dtype, std::uintptr_t x, std::uintptr_t y,
                                   std::uintptr_t out, bool still = false) {
  const Ref<Storage> a = at(x), b = at(y), c = at(out);
  DeviceChain chain(count);
  const int from = chain.add_memory(*a, 0, dtype, false), other = chain.add_memory(*b, 0, dtype, still);
  call(chain, kAdd, {from, other}, chain.add_memory(*c, 0, dtype, false));
  const std::vector<std::uint64_t> words = chain.argument();
  REQUIRE(words[0] == static_cast<std::uint64_t>(count));
  REQUIRE(std::vector(words.begin() + 4, words.begin() + 7) == std::vector<std::uint64_t>{x, y, out});
  return {words[1], words[2], words[3]};
}

using Span = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("the source of a chain loads inputs at first use and stores outputs at the end") {
  const ops::Tanh tanh;
  const ops::Gt greater;
  const ops::Where where;
  const Ref<Storage> memory = at(0);
  DeviceChain chain(kCount);
  const int x = chain.add_memory(*memory, 0, kFloat, false), one = chain.add_memory(*memory, 0, kFloat, true);
  const int flags = chain.add_memory(*memory, 0, kBool, false),
            out = chain.add_memory(*memory, 0, kFloat, false);
  const int number = chain.add_number({}, kFloat), passing = chain.add_buffer(kFloat);
  call(chain, tanh, {x}, passing);
  call(chain, kAdd, {passing, number}, passing);
  call(chain, greater, {passing, one}, flags);
  call(chain, where, {flags, passing, x}, out);
  call(chain, tanh, {out}, out);
  CHECK(chain.source() == R"(// Elementwise calls that run together.
#include "ops/elementwise/cuda_chain.h"

namespace ebb::cuda {

struct Chain {
  ChainSpan span;
  const float* x0;
  const float* x1;
  bool* x2;
  float* x3;
  alignas(8) float n0;
  alignas(8) ops::Tanh f0;
  alignas(8) ops::Add f1;
  alignas(8) ops::Gt f2;
  alignas(8) ops::Where f3;
  alignas(8) ops::Tanh f4;

  template <int V>
  EBB_HD void run(std::int64_t first) const {
    const auto v0 = same<V>(n0);
    const auto v1 = load<V>(span, 0, x0, first);
    const auto v2 = apply<float>(f0, v1);
    const auto v3 = apply<float>(f1, v2, v0);
    const auto v4 = same<V>(*x1);
    const auto v5 = apply<bool>(f2, v3, v4);
    const auto v6 = apply<float>(f3, v5, v3, v1);
    const auto v7 = apply<float>(f4, v6);
    store(span, 2, x2, first, v5);
    store(span, 3, x3, first, v7);
  }
};

}  // namespace ebb::cuda

using Argument = ebb::cuda::Chain;
extern "C" __global__ void __launch_bounds__(256) jit_kernel(const __grid_constant__ Argument chain) {
  ebb::cuda::run_chain<4, 256>(chain, blockIdx.x, threadIdx.x);
}
)");
}

TEST_CASE("the source of a chain with reductions accumulates elements as they are computed") {
  const Ref<Storage> memory = at(0);
  DeviceChain chain(kCount);
  const int x = chain.add_memory(*memory, 0, kHalf, false), passing = chain.add_buffer(kHalf);
  call(chain, kAdd, {x, x}, passing);
  chain.add_reduction(reduction_of(reducers::Sum<Half>()), {}, passing, *memory, 0);
  chain.add_reduction(reduction_of(reducers::Extreme<Half, true>()), {}, x, *memory, 0);
  CHECK(chain.source() == R"(// Elementwise calls that run together, and reductions.
#include "ops/elementwise/cuda_chain_rows.h"

namespace ebb::cuda {

struct Chain {
  RowSpan span;
  const Half* x0;
  alignas(8) ops::Add f0;
  Reduction<reducers::Sum<Half>> s0;
  Reduction<reducers::Extreme<Half, true>> s1;

  struct Totals {
    Lanes<reducers::Sum<Half>> s0;
    Lanes<reducers::Extreme<Half, true>> s1;
  };
  EBB_HD Totals totals() const { return {s0.formula, s1.formula}; }
  template <class Team>
  __device__ void end(const Team& team, const Totals& totals) const {
    team.end(s0, totals.s0);
    team.end(s1, totals.s1);
  }
  template <class Team>
  __device__ void merge(const Team& team) const {
    team.merge(s0);
    team.merge(s1);
  }

  template <int V>
  EBB_HD void run(std::int64_t first, Totals& totals) const {
    const auto v0 = load<V>(span, 0, x0, first);
    const auto v1 = apply<Half>(f0, v0, v0);
    take(s0.formula, totals.s0, v1);
    take(s1.formula, totals.s1, v0);
  }
};

}  // namespace ebb::cuda

using Argument = ebb::cuda::Chain;
extern "C" __global__ void __launch_bounds__(256) jit_kernel(const __grid_constant__ Argument chain) {
  ebb::cuda::run_rows<8, 256>(chain, blockIdx.x, threadIdx.x);
}
)");
}

TEST_CASE("the row length and the reductions of a chain are encoded in the kernel argument") {
  const Ref<Storage> from = at(0x1008), to = at(0x2000);
  const auto argument_of = [&](std::int64_t count, ReducedMatrix matrix) {
    DeviceChain chain(count);
    const int x = chain.add_memory(*from, 0, kFloat, false), passing = chain.add_buffer(kFloat);
    call(chain, kAdd, {x, x}, passing);
    reducers::Sum<float> mean;
    mean.divisor = 7;
    chain.add_reduction(reduction_of(mean), matrix, passing, *to, 16);
    chain.add_reduction(reduction_of(reducers::Extreme<float, true>()), matrix, passing, *to, 0);
    const std::size_t partial = chain.work_bytes() / 2;
    const auto work = std::uint64_t{0x9000};
    const std::vector<std::uint64_t> words = chain.argument(reinterpret_cast<const std::byte*>(work));
    REQUIRE(words.size() == 8 + 1 + 1 + 3 + 3);
    CHECK(words[8] == 0x1008);
    CHECK(words[10] == __builtin_bit_cast(std::uint64_t, 7.0));
    CHECK(words[11] == 0x2010);
    CHECK(words[12] == work);
    CHECK(words[14] == 0x2000);
    CHECK((partial == 0 || words[15] == work + partial));
    Span span(words.begin(), words.begin() + 8);
    span.push_back(partial);
    return span;
  };
  CHECK(argument_of(300, {3}) == Span{3, 100, 1, 100, 8, 2, 1, 0, 0});
  CHECK(argument_of(20000, {1}) == Span{1, 20000, 5, 4096, 256, 2, 1, 0, 5 * 8});
  // Columns in vectors of 4; the first column is not aligned.
  CHECK(argument_of(300, {3, true}) == Span{3, 100, 1, 3, 32, 0, 0, 0, 0});
  CHECK(argument_of(40000, {400, true}) == Span{400, 100, 13, 31, 32, 0, 0, 0, 13 * 100 * 8});
}

TEST_CASE("long rows are split into pieces of whole thread groups that fill the device") {
  const auto split = [](std::int64_t rows, std::int64_t length, int width) {
    const RowSplit s({rows}, rows * length, width);
    // Each element is in one piece, and the last piece is not empty.
    CHECK(s.pieces * s.piece >= length);
    CHECK((s.pieces - 1) * s.piece < length);
    CHECK((s.pieces == 1 || s.piece % (s.team * width) == 0));
    CHECK(s.blocks * (RowSplit::kThreads / s.team) >= rows * s.pieces);
    CHECK(s.merging_blocks * (RowSplit::kThreads / s.merging_team) >= rows);
    return std::vector{s.pieces, s.team, s.blocks};
  };
  using Split = std::vector<std::int64_t>;
  CHECK(split(1, 1, 4) == Split{1, 1, 1});
  CHECK(split(1, 4096, 4) == Split{1, 256, 1});
  CHECK(split(1, 4097, 4) == Split{2, 256, 2});
  CHECK(split(1, 1 << 30, 4) == Split{1024, 256, 1024});
  CHECK(split(1000000, 16, 4) == Split{1, 1, 3907});
  CHECK(split(512, 1 << 20, 8) == Split{2, 256, 1024});
  CHECK(split(513, 1 << 20, 8) == Split{1, 256, 513});
  CHECK(split(1, (1 << 22) + 1, 4) == Split{820, 256, 820});
  CHECK(split(3, 100000, 1) == Split{98, 256, 294});
}

TEST_CASE("column reductions group adjacent columns and split rows to fill the device") {
  const auto split = [](std::int64_t rows, std::int64_t columns, int width) {
    const RowSplit s({rows, true}, rows * columns, width);
    CHECK(s.pieces * s.piece >= rows);
    CHECK((s.pieces - 1) * s.piece < rows);
    CHECK(s.blocks / s.pieces * s.team * width >= columns);
    CHECK(s.merging_blocks * s.merging_team >= columns);
    return std::vector{s.pieces, s.team, s.blocks};
  };
  using Split = std::vector<std::int64_t>;
  CHECK(split(2, 8, 4) == Split{1, 2, 1});
  CHECK(split(2, 100000, 4) == Split{1, 256, 98});
  CHECK(split(64, 4096, 8) == Split{2, 32, 32});
  CHECK(split(1 << 20, 8, 8) == Split{1024, 1, 1024});
  CHECK(split(1 << 20, 1000, 4) == Split{128, 32, 1024});
  CHECK(split(1000, 100000, 1) == Split{1, 32, 3125});
}

TEST_CASE("the source of a chain with column reductions has one sum per column of a vector") {
  const Ref<Storage> memory = at(0);
  const auto source_of = [&](std::int64_t rows, std::int64_t columns, DType dtype) {
    DeviceChain chain(rows * columns);
    const int x = chain.add_memory(*memory, 0, dtype, false);
    call(chain, kAdd, {x, x}, x);
    chain.add_reduction(reduction_of(reducers::Sum<float>()), {rows, true}, x, *memory, 0);
    return chain.source();
  };
  CHECK_THAT(source_of(6, 10, kFloat), support::Contains("cuda_chain_columns.h") &&
                                           support::Contains("    Lanes<reducers::Sum<float>, 2> s0;") &&
                                           support::Contains("run_columns<2, 256>"));
  CHECK_THAT(source_of(8, 9, kFloat), support::Contains("run_columns<1, 256>"));
  CHECK_THAT(source_of(8, 16, kFloat), support::Contains("run_columns<4, 256>"));
  CHECK_THAT(source_of(8, 16, kByte), support::Contains("run_columns<8, 256>"));
}

TEST_CASE("a vector of a chain takes 16 bytes of the array with the widest dtype") {
  const Ref<Storage> memory = at(0);
  const auto width_of = [&](DType narrow, DType wide, bool still) {
    DeviceChain chain(kCount);
    const int from = chain.add_memory(*memory, 0, wide, still);
    call(chain, ops::Tanh(), {from}, chain.add_memory(*memory, 0, narrow, false));
    const std::string source = chain.source(), words = "run_chain<";
    return std::stoi(source.substr(source.find(words) + words.size()));
  };
  CHECK(width_of(kHalf, kHalf, false) == 8);
  CHECK(width_of(kBool, kBool, false) == 16);
  CHECK(width_of(kBool, kFloat, false) == 4);
  CHECK(width_of(kFloat, kDouble, false) == 2);
  CHECK(width_of(kFloat, kDouble, true) == 4);
}

TEST_CASE("a vector of a chain with reductions has at most eight elements") {
  const Ref<Storage> memory = at(0);
  const auto source_of = [&](DType dtype) {
    DeviceChain chain(kCount);
    const int x = chain.add_memory(*memory, 0, dtype, false), passing = chain.add_buffer(kFloat);
    call(chain, ops::Tanh(), {x}, passing);
    chain.add_reduction(reduction_of(reducers::Sum<float>()), {1}, passing, *memory, 0);
    return chain.source();
  };
  CHECK_THAT(source_of(kByte), support::Contains("run_rows<8, 256>"));
  CHECK_THAT(source_of(kFloat), support::Contains("run_rows<4, 256>"));
}

TEST_CASE("the vectors of a chain start where most of its arrays are aligned") {
  CHECK(span_of(100, kFloat, 0x1000, 0x2000, 0x3000) == Span{0, 25, 7});
  CHECK(span_of(101, kFloat, 0x1004, 0x2004, 0x3004) == Span{3, 24, 7});
  CHECK(span_of(101, kFloat, 0x1008, 0x2004, 0x3008) == Span{2, 24, 5});
  CHECK(span_of(101, kFloat, 0x100c, 0x200c, 0x3000) == Span{1, 25, 3});
  CHECK(span_of(100, kFloat, 0x1004, 0x2000, 0x3004, true) == Span{3, 24, 5});
  CHECK(span_of(100, kFloat, 0x1004, 0x2000, 0x3000, true) == Span{0, 25, 4});
  CHECK(span_of(100, kHalf, 0x1002, 0x2002, 0x3002) == Span{7, 11, 7});
  CHECK(span_of(2, kFloat, 0x1004, 0x2004, 0x3004) == Span{2, 0, 7});
  CHECK(span_of(1, kDouble, 0x1000, 0x2000, 0x3000) == Span{0, 0, 7});
}

TEST_CASE("formulas and scalars of a chain are encoded in the kernel argument") {
  const ops::Elu elu{{}, 0.5, 2, 3};
  const Ref<Storage> memory = at(64);
  DeviceChain chain(kCount);
  const int x = chain.add_memory(*memory, 16, kFloat, false), number = chain.add_number({1, 2, 3, 4}, kFloat);
  call(chain, elu, {x}, x);
  call(chain, kAdd, {x, number}, x);
  const std::vector<std::uint64_t> words = chain.argument();
  REQUIRE(words.size() == 4 + 1 + 1 + 4 + 1);
  CHECK(words[4] == 80);
  CHECK(words[5] == 0x04030201);
  CHECK(words[6] == __builtin_bit_cast(std::uint64_t, 0.5));
  CHECK(words[8] == __builtin_bit_cast(std::uint64_t, 3.0));
}

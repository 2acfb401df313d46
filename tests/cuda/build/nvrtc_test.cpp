// NVRTC: sources of fused kernels are compiled to machine code without a GPU.
#include "cuda/nvidia/nvrtc.h"

#include "compile/emit.h"
#include "compile/programs.h"
#include "kernel/reducers.h"
#include "ops/elementwise/cuda_chain.h"
#include "support/catch.h"
#include "support/formulas.h"

#include <iostream>

#define EBB_TEXT(...) EBB_TEXT_OF(__VA_ARGS__)
#define EBB_TEXT_OF(...) #__VA_ARGS__

using namespace ebb;
using detail::compile::DeviceChain;
using testing::reduction_of;
using testing::row_of;

namespace {

bool is_there() {
  if (EBB_NVRTC_MAJOR != 0) return true;
  std::cout << "skipped: there is no libnvrtc\n";
  return false;
}

std::string compiled(const std::string& source, int architecture = 90) {
  return cuda::compile_by_nvrtc(EBB_NVRTC_MAJOR, architecture, source);
}

bool is_machine_code(const std::string& code) { return code.size() > 1000 && code.substr(1, 3) == "ELF"; }

// where(tanh(x y + n) > z, tanh(...), one), its derivative, and the comparison.
std::string chain_source(DType dtype) {
  static const ops::Tanh tanh;
  static const ops::Gradient<ops::Tanh> slope;
  static const ops::Add add;
  static const ops::Mul multiply;
  static const ops::Gt greater;
  static const ops::Where where;
  const auto memory = Storage::adopt(nullptr, 0, kCPU, nullptr, nullptr);
  DeviceChain chain(100);
  const int x = chain.add_memory(*memory, 0, dtype, false), y = chain.add_memory(*memory, 0, dtype, false);
  const int one = chain.add_memory(*memory, 0, dtype, true), z = chain.add_memory(*memory, 0, dtype, false);
  const int out = chain.add_memory(*memory, 0, dtype, false),
            flags = chain.add_memory(*memory, 0, kBool, false);
  const int number = chain.add_number({0, 0, 0, 0, 0, 0, 0, 0}, dtype), passing = chain.add_buffer(dtype);
  const auto call = [&](const auto& op, std::initializer_list<int> in, int to) {
    chain.add_call(row_of(op, static_cast<int>(in.size())), in.begin(), to);
  };
  call(multiply, {x, y}, passing);
  call(add, {passing, number}, passing);
  call(tanh, {passing}, passing);
  call(greater, {passing, z}, flags);
  call(where, {flags, passing, one}, out);
  call(slope, {out, passing}, x);
  return chain.source();
}

// The sum of two arrays, and all reductions of it.
template <class T>
std::string reducing_source(bool by_columns, DType dtype = dtype_of<T>()) {
  using namespace reducers;
  static const ops::Add add;
  const auto memory = Storage::adopt(nullptr, 0, kCPU, nullptr, nullptr);
  DeviceChain chain(100);
  const int x = chain.add_memory(*memory, 0, dtype, false), y = chain.add_memory(*memory, 0, dtype, false);
  const int sum = chain.add_buffer(dtype);
  const int in[] = {x, y};
  chain.add_call(row_of(add, 2), in, sum);
  const auto reduce = [&](const auto&... formula) {
    (chain.add_reduction(reduction_of(formula), {4, by_columns}, sum, *memory, 0), ...);
  };
  reduce(Sum<T>(), Prod<T>(), Extreme<T, true>(), Extreme<T, false>());
  using Bits = std::conditional_t<std::is_same_v<T, BFloat16>, Half, T>;
  reduce(CountNonzero<Bits, std::uint8_t>(), CountNonzero<Bits, std::int64_t>());
  if constexpr (!std::is_integral_v<T>)
    reduce(NanSum<T>(), Norm<T, NormKind::zero>(), Norm<T, NormKind::one>(), Norm<T, NormKind::two>(),
           Norm<T, NormKind::max>(), Norm<T, NormKind::min>(), Norm<T, NormKind::general>());
  return chain.source();
}

}  // namespace

TEST_CASE("NVRTC compiles sources of fused chains for all architectures") {
  if (!is_there()) return;
  const DType dtype = GENERATE(kFloat, kDouble, kHalf, kBFloat16);
  INFO(dtype);
  CHECK(is_machine_code(compiled(chain_source(dtype))));
  if (dtype != kHalf) return;
  for (const int architecture : {80, 86, 89, 100, 120})
    CHECK(is_machine_code(compiled(chain_source(dtype), architecture)));
}

TEST_CASE("NVRTC compiles sources of chains with reductions for all architectures") {
  if (!is_there()) return;
  const bool by_columns = GENERATE(false, true);
  INFO((by_columns ? "columns" : "rows"));
  CHECK(is_machine_code(compiled(reducing_source<float>(by_columns))));
  CHECK(is_machine_code(compiled(reducing_source<double>(by_columns))));
  CHECK(is_machine_code(compiled(reducing_source<BFloat16>(by_columns))));
  CHECK(is_machine_code(compiled(reducing_source<std::int64_t>(by_columns))));
  CHECK(is_machine_code(compiled(reducing_source<std::uint8_t>(by_columns, kBool))));
  for (const int architecture : {80, 86, 89, 90, 100, 120})
    CHECK(is_machine_code(compiled(reducing_source<Half>(by_columns), architecture)));
}

TEST_CASE("the error for a source that does not compile contains the message of NVRTC") {
  if (!is_there()) return;
  CHECK_THROWS_WITH(compiled("#include \"ops/elementwise/cuda_chain.h\"\nint x = y;\n"),
                    support::Contains("\"y\" is undefined"));
  CHECK_THROWS_WITH(cuda::compile_by_nvrtc(EBB_NVRTC_MAJOR, 1, chain_source(kFloat)),
                    support::Contains("NVRTC"));
}

// The formulas are compiled through their calls, which takes half a minute.
TEST_CASE("NVRTC compiles every elementwise formula") {
  if (!is_there()) return;
  const std::string source = R"(
#include "ops/elementwise/cuda_chain.h"
namespace ebb::ops {
template <class T>
__device__ cuda::Vector<T, 1>& at(char* p) { return *reinterpret_cast<cuda::Vector<T, 1>*>(p); }
template <class Op, class T>
__device__ void one(char* p) {
  if constexpr (has_type(Op::kTypes, dtype_of<T>())) {
    const Op& op = *reinterpret_cast<const Op*>(p);
    if constexpr (std::is_base_of_v<Unary, Op>)
      at<T>(p) = cuda::apply<T>(op, at<T>(p));
    else if constexpr (Op::kCondition)
      at<T>(p) = cuda::apply<T>(op, at<bool>(p), at<T>(p), at<T>(p));
    else if constexpr (std::is_base_of_v<Ternary, Op>)
      at<T>(p) = cuda::apply<T>(op, at<T>(p), at<T>(p), at<T>(p));
    else
      at<T>(p) = cuda::apply<T>(op, at<T>(p), at<T>(p));
  }
}
template <class... Op>
__device__ void all(List<Op...>, char* p) {
  ((one<Op, std::uint8_t>(p), one<Op, std::int64_t>(p), one<Op, bool>(p)), ...);
  ((one<Op, Half>(p), one<Op, double>(p)), ...);
}
}
extern "C" __global__ void jit_kernel(char* p) {
  ebb::ops::all(FORMULAS{}, p);
  ebb::ops::all(ebb::ops::Gradients<FORMULAS>{}, p);
}
)";
  CHECK(is_machine_code(compiled("#define FORMULAS " EBB_TEXT(EBB_FORMULAS) + source)));
}

TEST_CASE("formulas have the same names and sizes in NVRTC sources and on the host") {
  if (!is_there()) return;
  std::string source = "#include \"ops/elementwise/cuda_chain.h\"\nnamespace ebb::cuda {\n";
  int count = 0;
  const auto add = [&]<class... Op>(ops::List<Op...>) {
    const auto one = [&](const std::type_info& type, std::size_t bytes) {
      source += detail::text("static_assert(sizeof(", detail::compile::type_text(type),
                             ") == ", std::uint64_t{bytes}, ");\n");
      ++count;
    };
    (one(typeid(Op), sizeof(Op)), ...);
  };
  add(EBB_FORMULAS());
  add(ops::Gradients<EBB_FORMULAS>());
  CHECK(count > 150);
  source += "}\n#include \"ops/elementwise/cuda_chain_rows.h\"\nnamespace ebb::cuda {\n";
  add(ops::List<reducers::Sum<Half>, reducers::NanSum<double>, reducers::Prod<std::int64_t>,
                reducers::Extreme<bool, true>, reducers::CountNonzero<float, std::uint8_t>,
                reducers::Norm<float, reducers::NormKind::general>>());
  CHECK(is_machine_code(
      compiled(source + "}\nextern \"C\" __global__ void jit_kernel(char* p) { *p = 1; }\n")));
}

// Dtypes, options, devices and indices as types, and type promotion.
#include <ebb/cuda/context.h>
#include <ebb/ebb.h>

#include "check.h"
#include "support/catch.h"

#include <algorithm>
#include <sstream>
#include <type_traits>

// Types in the interface of tensors and their text: dtypes, options, devices, indices.

using namespace ebb;
using namespace ebb::indexing;

namespace {

template <class T>
std::string text(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

}  // namespace

TEST_CASE("dtype() has a name and a size and converts to ScalarType") {
  const Tensor x = ones({2}, kDouble);
  CHECK(x.dtype() == kDouble);
  CHECK(kDouble == x.dtype());
  CHECK(x.dtype() == x.dtype());
  CHECK(x.dtype() != ones({2}).dtype());
  CHECK(x.dtype() == TypeMeta::Make<double>());
  CHECK(x.dtype().Match<double>());
  CHECK_FALSE(x.dtype().Match<float>());
  CHECK(x.dtype().name() == "double");
  CHECK(ones({1}, kLong).dtype().name() == "long int");
  CHECK(ones({1}, kHalf).dtype().name() == "c10::Half");
  CHECK(x.dtype().itemsize() == 8);
  CHECK(x.dtype().toScalarType() == kDouble);
  CHECK(x.dtype().isScalarType());
  CHECK(typeMetaToScalarType(scalarTypeToTypeMeta(kInt)) == kInt);
  const ScalarType converted = x.dtype();
  CHECK(converted == kDouble);
  CHECK(ones({1}, kInt).to(x.dtype()).scalar_type() == kDouble);
  CHECK(zeros({1}, x.dtype()).scalar_type() == kDouble);
  CHECK(ones({1}, TensorOptions().dtype(x.dtype())).scalar_type() == kDouble);
  CHECK(sum(ones({1}, kInt), x.dtype()).scalar_type() == kDouble);
  switch (x.dtype()) {
    case kDouble:
      SUCCEED();
      break;
    default:
      FAIL("another dtype");
  }
  CHECK(text(x.dtype()) == "double");
  CHECK(text(x.scalar_type()) == "Double");
}

TEST_CASE("TensorOptions prints given and default values as libtorch does") {
  CHECK(text(TensorOptions()) ==
        "TensorOptions(dtype=float (default), device=cpu (default), layout=Strided (default), "
        "requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))");
  const auto all = dtype(kLong).device(kCUDA, 1).layout(kStrided).requires_grad(false).pinned_memory(true);
  CHECK(
      text(all.memory_format(MemoryFormat::ChannelsLast)) ==
      "TensorOptions(dtype=long int, device=cuda:1, layout=Strided, requires_grad=false, pinned_memory=true, "
      "memory_format=ChannelsLast)");
  CHECK(all.has_requires_grad());
  CHECK(all.has_layout());
  CHECK(all.has_pinned_memory());
  CHECK(all.requires_grad_opt() == false);
  CHECK(all.pinned_memory_opt() == true);
  CHECK(all.layout_opt() == kStrided);
  CHECK_FALSE(TensorOptions().requires_grad_opt().has_value());
  CHECK_FALSE(all.pinned_memory(nullopt).has_pinned_memory());
  CHECK(text(kStrided) == "Strided");
  CHECK(text(MemoryFormat::Preserve) == "Preserve");
}

TEST_CASE("a braced device converts to TensorOptions") {
  static_assert(std::is_same_v<Device::Type, DeviceType> && std::is_same_v<DeviceIndex, std::int8_t>);
  const Tensor x = ones({2});
  CHECK(x.to({kCPU, -1}).device() == Device(kCPU));
  CHECK(zeros({2}, {kCPU, -1}).device() == Device(kCPU));
  const TensorOptions options{kCUDA, 3};
  CHECK(options.device() == Device("cuda:3"));
  CHECK(text(Device(Device::Type::CUDA, 2)) == "cuda:2");
  CHECK(device_index(2).device() == Device("cuda:2"));
}

TEST_CASE("indices are printed as in Python") {
  CHECK(text(Slice(1, 2, 3)) == "1:2:3");
  CHECK(text(Slice()) == "0:9223372036854775807:1");
  CHECK(text(Slice(None, 4)) == "0:4:1");
  const std::vector<TensorIndex> indices = {None, "...", Ellipsis, 3, true, Slice(1, None)};
  CHECK(text(indices) == "(None, ..., ..., 3, true, 1:9223372036854775807:1)");
  CHECK(text(TensorIndex(tensor({1, 2}))) == text(tensor({1, 2})));
  CHECK(text(std::vector<TensorIndex>()) == "()");
}

TEST_CASE("parallel_for runs a user's loop on the thread pool and propagates exceptions") {
  std::vector<int> seen(10000, 0);
  parallel_for(0, 10000, 100, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
  });
  CHECK(std::count(seen.begin(), seen.end(), 1) == 10000);
  parallel_for(5, 5, 1, [](std::int64_t, std::int64_t) { FAIL("there is nothing to do"); });
  CHECK_THROWS_WITH(parallel_for(0, 1000, 1, [](std::int64_t, std::int64_t) { throw Error("in a piece"); }),
                    "in a piece");
}

TEST_CASE("switches of globalContext() change the settings of ebb") {
  globalContext().setDeterministicAlgorithms(true);
  CHECK(are_deterministic_algorithms_enabled());
  CHECK(globalContext().deterministicAlgorithms());
  globalContext().setDeterministicAlgorithms(false);
  CHECK_FALSE(are_deterministic_algorithms_enabled());
  globalContext().setBenchmarkCuDNN(true);
  CHECK(cuda::are_convolutions_benchmarked());
  globalContext().setBenchmarkCuDNN(false);
  globalContext().setAllowTF32CuBLAS(true);
  CHECK(globalContext().allowTF32CuDNN());
  globalContext().setAllowTF32CuDNN(false);
  CHECK_FALSE(cuda::is_tf32_allowed());
  CHECK(globalContext().hasCUDA() == cuda::is_available());
}

TEST_CASE("warning handlers work under the names of libtorch") {
  struct Keep : WarningHandler {
    std::string message;
    void process(const Warning& warning) override { message = warning.msg(); }
  } keep;
  {
    const WarningUtils::WarningHandlerGuard guard(&keep);
    CHECK(WarningUtils::get_warning_handler() == &keep);
    warn("a word");
  }
  CHECK(keep.message == "a word");
}

// Type promotion of two operands, and the dtypes of their gradients.

using namespace op_tests;

TEST_CASE("dtypes promote by the table of torch") {
  const auto vec = [](DType d) { return ones({2}, d); };
  const auto zero = [](DType d) { return ones({}, d); };
  struct Row {
    DType a, b, both, a_zero_dim, b_zero_dim;  // two vectors; then a or b is 0-dimensional
  };
  for (const Row& r :
       {Row{kFloat, kDouble, kDouble, kDouble, kFloat}, Row{kInt, kLong, kLong, kLong, kInt},
        Row{kInt, kFloat, kFloat, kFloat, kFloat}, Row{kByte, kChar, kShort, kChar, kByte},
        Row{kBool, kLong, kLong, kLong, kLong}, Row{kHalf, kBFloat16, kFloat, kBFloat16, kHalf},
        Row{kBool, kBool, kBool, kBool, kBool}, Row{kLong, kHalf, kHalf, kHalf, kHalf}}) {
    INFO(to_string(r.a) << " and " << to_string(r.b));
    CHECK(result_type(vec(r.a), vec(r.b)) == r.both);
    CHECK((vec(r.a) * vec(r.b)).dtype() == r.both);
    CHECK((zero(r.a) * vec(r.b)).dtype() == r.a_zero_dim);
    CHECK((vec(r.a) * zero(r.b)).dtype() == r.b_zero_dim);
    CHECK((zero(r.a) * zero(r.b)).dtype() == r.both);
  }
  CHECK((vec(kInt) + 1).dtype() == kInt);
  CHECK((vec(kInt) + 1.5).dtype() == kFloat);
  CHECK((vec(kBool) + 1).dtype() == kLong);
  CHECK((vec(kHalf) * 2.5).dtype() == kHalf);
  CHECK((vec(kInt) / 2).dtype() == kFloat);
  CHECK((vec(kInt) / vec(kInt)).dtype() == kFloat);
  CHECK((2.5 * zero(kLong)).dtype() == kFloat);
  CHECK(where(vec(kBool), vec(kInt), 2.5).dtype() == kFloat);
  CHECK(result_type(vec(kInt), 2.5) == kFloat);
  CHECK(can_cast(kInt, kFloat));
  CHECK_FALSE(can_cast(kFloat, kInt));
  CHECK_FALSE(can_cast(kInt, kBool));
  // Each gradient has the dtype of its operand.
  const Variable f = ones({2}, kFloat).requires_grad_(), d = ones({2}, kDouble).requires_grad_();
  (f * d).sum().backward();
  CHECK(f.grad().dtype() == kFloat);
  CHECK(d.grad().dtype() == kDouble);
}

TEST_CASE("float_power computes in Double") {
  CHECK(float_power(longs({2, 3}), -1).equal(tensor({0.5, 1.0 / 3}, kDouble)));
  CHECK(float_power(2, tensor({0.5}, kFloat)).dtype() == kDouble);
  CHECK(longs({2}).float_power(longs({3})).equal(tensor({8.0}, kDouble)));
  CHECK_THROWS_WITH(ones({2}).float_power_(2),
                    support::Contains("float_power_: the result is Double and cannot be stored"));
}

TEST_CASE("outer accepts two dtypes") {
  const Variable x = longs({1, 2}), y = tensor({0.5, 1.5}, kDouble).requires_grad_();
  const Variable z = outer(x, y);
  CHECK(z.equal(tensor({{0.5, 1.5}, {1.0, 3.0}}, kDouble)));
  z.sum().backward();
  CHECK(y.grad().equal(tensor({3.0, 3.0}, kDouble)));
}

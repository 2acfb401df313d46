// Code patterns of projects that use libtorch, compiled unchanged.
#include "support/catch.h"

#include <ATen/ParallelOpenMP.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/core/CPUAllocator.h>
#include <torch/csrc/WindowsTorchApiMacro.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/extension.h>
#include <torch/library.h>
#include <torch/mps.h>
#include <torch/version.h>

#include <array>
#include <sstream>

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

torch::Tensor clamp_forward(const torch::Tensor& x) { return x.clamp(-1, 1); }
torch::Tensor clamp_on_cpu(const torch::Tensor& x) {
  const at::AutoDispatchBelowADInplaceOrView guard;
  return clamp_forward(x);
}

}  // namespace

TORCH_LIBRARY(clamps, m) {
  m.def("clamp(Tensor x) -> Tensor");
  m.def("clamp_now", &clamp_forward);
  m.def(torch::schema("other(Tensor x) -> Tensor"), [](const torch::Tensor& x) { return x; });
}
TORCH_LIBRARY_IMPL(clamps, CPU, m) { m.impl("clamp", clamp_on_cpu); }
TORCH_LIBRARY_IMPL(clamps, CUDA, m) { m.impl("clamp", TORCH_FN(clamp_on_cpu)); }
TORCH_LIBRARY_IMPL(clamps, Autograd, m) {
  m.impl("clamp", torch::dispatch(c10::DispatchKey::Autograd, &clamp_forward));
}
TORCH_LIBRARY_FRAGMENT(clamps, m) { m.def("more", &clamp_forward).def("and_more", &clamp_forward); }

namespace {

struct Scale : torch::autograd::Function<Scale> {
  static Variable forward(AutogradContext* ctx, const Variable& x, double factor) {
    ctx->saved_data["factor"] = factor;
    return x * factor;
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    return {grads[0] * ctx->saved_data["factor"].toDouble(), Variable()};
  }
};
struct Keep : torch::autograd::Function<Keep> {
  static variable_list forward(AutogradContext*, Variable x) { return {x + 1}; }
  static variable_list backward(AutogradContext*, variable_list&& grads) { return std::move(grads); }
};

struct BlockImpl : torch::nn::Module {
  torch::nn::Linear linear{nullptr};
  BlockImpl() { linear = register_module("linear", torch::nn::Linear(2, 2)); }
  torch::Tensor forward(const torch::Tensor& x) { return linear(x); }
};
class Block : public torch::nn::ModuleHolder<BlockImpl> {
 public:
  using torch::nn::ModuleHolder<BlockImpl>::ModuleHolder;
  torch::Tensor weight() const { return impl_->linear->weight; }
};

}  // namespace

TEST_CASE("a module's registered functions are callable by name") {
  CHECK(torch::equal(clamp_forward(torch::full({1}, 3)), torch::ones({1}, torch::kLong)));
  auto x = torch::full({1}, 0.5, torch::requires_grad());
  CHECK_FALSE(clamp_on_cpu(x).requires_grad());
}

TEST_CASE("a custom backward takes its gradients by value or by reference") {
  auto x = torch::ones({2}, torch::requires_grad());
  (Scale::apply(x, 3.0).sum() + Keep::apply(x)[0].sum()).backward();
  CHECK(torch::equal(x.grad(), torch::full({2}, 4.f)));
}

TEST_CASE("a class derived from ModuleHolder accesses its module") {
  Block block;
  CHECK(block.weight().is_same(block->linear->weight));
}

TEST_CASE("the cuDNN flags of globalContext return the values that were set") {
  at::Context& context = at::globalContext();
  CHECK_FALSE(context.deterministicCuDNN());
  context.setDeterministicCuDNN(true);
  CHECK(context.deterministicCuDNN());
  CHECK_FALSE(context.deterministicAlgorithms());
  context.setDeterministicCuDNN(false);
  context.setDeterministicAlgorithms(true, /*warn_only=*/true);
  CHECK(context.deterministicCuDNN());
  context.setDeterministicAlgorithms(false);
  CHECK_FALSE(torch::globalContext().deterministicCuDNN());
  context.setFloat32MatmulPrecision("high");
  CHECK(context.allowTF32CuBLAS());
  context.setFloat32MatmulPrecision("highest");
  CHECK_FALSE(context.allowTF32CuBLAS());
  CHECK(at::getNumGPUs() == static_cast<size_t>(torch::cuda::device_count()));
  CHECK_FALSE(context.hasMKL());
  CHECK(&context.defaultGenerator(at::kCPU) == &context.defaultGenerator());
  CHECK_THROWS_WITH(context.defaultGenerator(at::kCUDA), support::Contains("manual_seed"));
}

TEST_CASE("availability queries for unsupported devices return false") {
  CHECK_FALSE(torch::mps::is_available());
  const torch::Device device(torch::mps::is_available() ? torch::kMPS : torch::kCPU);
  CHECK(device.is_cpu());
  CHECK_FALSE(device.is_mps());
  torch::mps::manual_seed(1);
  CHECK_THROWS_WITH(torch::mps::synchronize(), support::Contains("no MPS devices"));
  CHECK_THROWS_WITH(torch::ones({1}).to(torch::kMPS), support::Contains("no devices of type mps"));
  CHECK_THROWS_WITH(torch::Device(torch::kXPU, 0), support::Contains("no devices of type xpu"));
  CHECK(c10::str(torch::kHIP) == "hip");
}

TEST_CASE("type() contains dtype and device and is accepted by factories and AT_DISPATCH") {
  const auto x = torch::ones({2}, torch::kDouble);
  CHECK(x.type().scalarType() == torch::kDouble);
  CHECK_FALSE(x.type().is_cuda());
  CHECK_FALSE(x.type().is_sparse());
  CHECK(x.type().backend() == c10::Backend::CPU);
  CHECK(x.type() == torch::zeros({5}, x.type()).type());
  CHECK_FALSE(x.type() == x.to(torch::kFloat).type());
  CHECK(c10::str(x.type()) == "CPUDoubleType");
  size_t bytes = 0;
  AT_DISPATCH_FLOATING_TYPES(x.type(), "bytes", [&] { bytes = sizeof(scalar_t); });
  CHECK(bytes == 8);
}

TEST_CASE("convolution options accept arrays as sizes") {
  const std::array<int64_t, 2> one{1, 2};
  torch::nn::Conv2d conv(torch::nn::Conv2dOptions(1, 1, 3).padding(one));
  CHECK(conv(torch::ones({1, 1, 4, 4})).sizes() == torch::IntArrayRef({1, 1, 4, 6}));
  namespace F = torch::nn::functional;
  CHECK(F::conv2d(torch::ones({1, 1, 4, 4}), torch::ones({1, 1, 3, 3}), F::Conv2dFuncOptions().padding(one))
            .sizes() == torch::IntArrayRef({1, 1, 4, 6}));
}

TEST_CASE("named casts such as _cast_Float convert to their dtype") {
  const auto x = torch::full({1}, 1.5);
  CHECK(at::_cast_Long(x).dtype() == torch::kLong);
  CHECK(at::_cast_Float(x).is_same(x));
  CHECK(at::_cast_Half(x, false).dtype() == torch::kHalf);
  CHECK(at::_cast_Byte(x).dtype() == torch::kByte);
  CHECK(at::_cast_Char(x).dtype() == torch::kChar);
  CHECK(at::_cast_Short(x).dtype() == torch::kShort);
  CHECK(at::_cast_Int(x).dtype() == torch::kInt);
  CHECK(at::_cast_Double(x).dtype() == torch::kDouble);
}

TEST_CASE("in-place arithmetic of 16-bit floats rounds once") {
  at::Half h = 2048;
  h += 1;
  CHECK(h == 2048);
  h += at::Half(2);
  CHECK(h == 2050);
  h -= 2.f;
  h *= 0.5;
  h /= 512;
  CHECK(h == 2);
  at::BFloat16 b = 256;
  b += 1;
  CHECK(b == 256);
  CHECK(c10::str(h, ' ', b) == "2 256");
}

TEST_CASE("memory of the CPU allocator is freed with its last pointer") {
  c10::DataPtr data = c10::GetCPUAllocator()->allocate(64);
  CHECK(data);
  CHECK(data.device() == torch::kCPU);
  const c10::DataPtr other = data;
  data.clear();
  CHECK_FALSE(data);
  static_cast<char*>(other.get())[63] = 1;
}

// Ops on channels-last tensors: values and gradients equal those of contiguous tensors, and the format is
// preserved from layer to layer. The file is built twice: here for the CPU, in tests/cuda for CUDA.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <functional>

using namespace ebb;

namespace {

#if defined(EBB_TEST_ON_CUDA)
const Device kHere = Device::CUDA;
#else
const Device kHere = Device::CPU;
#endif

constexpr auto kLast = MemoryFormat::ChannelsLast;

Tensor random(IntArrayRef sizes) { return randn(sizes, kDouble).to(kHere); }
MemoryFormat last_of(const Tensor& x) { return x.dim() == 4 ? kLast : MemoryFormat::ChannelsLast3d; }
bool is_last(const Tensor& x) { return x.is_contiguous(last_of(x)) && !x.is_contiguous(); }
bool same(const Tensor& a, const Tensor& b) { return allclose(a.cpu(), b.cpu(), 1e-10, 1e-12); }

// Compares the layer and the gradients of x for both layouts of x and of the incoming gradient.
void compare(const char* name, const std::function<Tensor(const Tensor&)>& layer, const Tensor& x) {
  INFO(name);
  Tensor plain = x.clone().requires_grad_(), last = x.contiguous(last_of(x)).requires_grad_();
  const Tensor expected = layer(plain), got = layer(last);
  CHECK(expected.is_contiguous());
  CHECK(is_last(got));
  CHECK(same(got, expected));
  const Tensor seed = random(expected.sizes());
  expected.backward(seed);
  CHECK(plain.grad().is_contiguous());
  for (const Tensor& each : {seed, seed.contiguous(last_of(x))}) {
    last.mutable_grad().reset();
    got.backward(each, true);
    CHECK(same(last.grad(), plain.grad()));
    CHECK(is_last(last.grad()));
  }
}

Tensor leaf(IntArrayRef sizes, MemoryFormat format = kLast) {
  return randn(sizes, kDouble).contiguous(format).requires_grad_();
}

}  // namespace

TEST_CASE("convolutions of channels-last tensors equal those of contiguous tensors") {
  manual_seed(3);
  const Tensor x = random({2, 4, 6, 5}), cube = random({2, 4, 4, 3, 5}), b = random({6});
  const Tensor w = random({6, 4, 3, 2}), grouped = random({6, 2, 2, 2}), w3 = random({2, 4, 2, 1, 3}),
               up = random({4, 3, 2, 3}), up3 = random({4, 2, 2, 2, 2});
  compare("plain", [&](const Tensor& v) { return conv2d(v, w, b); }, x);
  compare("stride", [&](const Tensor& v) { return conv2d(v, w, b, {2, 1}, {1, 0}); }, x);
  compare("groups", [&](const Tensor& v) { return conv2d(v, grouped, {}, 1, 1, 2, 2); }, x);
  compare("3d", [&](const Tensor& v) { return conv3d(v, w3, {}, {1, 2, 1}, {1, 0, 1}); }, cube);
  compare("transposed", [&](const Tensor& v) { return conv_transpose2d(v, up, b.slice(0, 0, 3), 2); }, x);
  compare("transposed 3d", [&](const Tensor& v) { return conv_transpose3d(v, up3, {}, 2, 1, 1); }, cube);
  compare("relu", [&](const Tensor& v) { return convolution_relu(v, w, b, 1, 1); }, x);
  CHECK(same(convolution_relu(x, w, b, 2, 1), relu(conv2d(x, w, b, 2, 1))));
}

TEST_CASE("poolings of channels-last tensors equal those of contiguous tensors") {
  manual_seed(4);
  const Tensor x = random({2, 4, 6, 5}), cube = random({2, 4, 4, 3, 5});
  compare("max", [](const Tensor& v) { return max_pool2d(v, {3, 2}, {2, 1}, 1); }, x);
  compare("dilated", [](const Tensor& v) { return max_pool2d(v, 2, 1, 0, 2); }, x);
  compare("max 3d", [](const Tensor& v) { return max_pool3d(v, 2, 1); }, cube);
  compare("adaptive max", [](const Tensor& v) { return std::get<0>(adaptive_max_pool2d(v, {4, 3})); }, x);
  compare("mean", [](const Tensor& v) { return avg_pool2d(v, 3, 2, 1, false, false); }, x);
  compare("mean 3d", [](const Tensor& v) { return avg_pool3d(v, 2, 1); }, cube);
  compare("adaptive mean", [](const Tensor& v) { return adaptive_avg_pool2d(v, {4, 3}); }, x);
  const auto [plain, at] = max_pool2d_with_indices(x, 2);
  const auto [last, at_last] = max_pool2d_with_indices(x.contiguous(kLast), 2);
  CHECK(equal(at.cpu(), at_last.cpu()));
  CHECK(is_last(at_last));
  CHECK(same(max_unpool2d(last, at_last, {6, 5}), max_unpool2d(plain, at, {6, 5})));
}

TEST_CASE("batch_norm of channels-last tensors equals that of contiguous tensors") {
  manual_seed(5);
  const Tensor x = random({2, 4, 6, 5}), cube = random({2, 4, 4, 3, 5}), scale = random({4}),
               shift = random({4});
  for (const bool training : {true, false}) {
    const auto normalised = [&](const Tensor& v) {
      const Tensor mean = ones({4}, v.options()), var = full({4}, 2, v.options());
      const Tensor out = batch_norm(v, scale, shift, mean, var, training, 0.1, 1e-5, true);
      return training ? out * mean.view({4}).sum() + var.sum() : out;  // includes the running statistics
    };
    compare("2d", normalised, x);
    compare("3d", normalised, cube);
  }
}

TEST_CASE("a network with a channels-last input has channels-last activations and gradients") {
  manual_seed(6);
  nn::Conv2d first(nn::Conv2dOptions(3, 8, 3).padding(1)), second(nn::Conv2dOptions(8, 4, 3).stride(2));
  nn::BatchNorm2d norm(8);
  nn::Linear head(4 * 3 * 3, 5);
  const std::vector<std::shared_ptr<nn::Module>> modules{first.ptr(), norm.ptr(), second.ptr(), head.ptr()};
  for (const auto& module : modules) {
    module->to(kDouble);
    module->to(kHere);
  }
  const Tensor x = random({2, 3, 16, 16});
  bool stays = false;
  const auto run = [&](const Tensor& input) {
    const Tensor a = first(input), b = norm(a), c = relu(b), d = max_pool2d(c, 2), e = second(d),
                 f = relu(e + e.sigmoid());
    stays = is_last(a) && is_last(b) && is_last(c) && is_last(d) && is_last(e) && is_last(f);
    const Tensor out = head(f.flatten(1));
    out.square().sum().backward();
    return out;
  };
  const auto take_gradients = [&] {
    std::vector<Tensor> out;
    for (const auto& module : modules)
      for (Tensor& p : module->parameters()) {
        out.push_back(p.grad().clone());
        p.mutable_grad().reset();
      }
    return out;
  };
  const Tensor expected = run(x);
  CHECK_FALSE(stays);
  const std::vector<Tensor> wanted = take_gradients();
  const auto check_gradients = [&] {
    const std::vector<Tensor> got = take_gradients();
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(same(got[i], wanted[i]));
  };

  // The format of the input decides; the gradients of the weights have the format of the weights.
  CHECK(same(run(x.contiguous(kLast)), expected));
  CHECK(stays);
  CHECK(first->weight.grad().is_contiguous());
  CHECK(second->weight.grad().is_contiguous());
  check_gradients();

  // Channels-last weights alone also make the results channels-last.
  for (const auto& module : modules) module->to(kLast);
  CHECK(is_last(second->weight));
  CHECK(same(run(x), expected));
  CHECK(stays);
  CHECK(is_last(first->weight.grad()));
  CHECK(is_last(second->weight.grad()));
  check_gradients();
  CHECK_THROWS_WITH(first->to(MemoryFormat::Preserve),
                    support::Contains("Module::to: MemoryFormat::Preserve names no order. Use"));
}

TEST_CASE("layers of channels-last tensors have the right first and second derivatives") {
  manual_seed(7);
  const auto block = [](const variable_list& in) {
    const Tensor a = conv2d(in[0].to(kHere), in[1].to(kHere), in[2].to(kHere), 1, 1);
    const Tensor b = batch_norm(a, {}, {}, {}, {}, true, 0.1, 1e-5, true);
    if (!is_last(b)) throw Error("the block is not channels-last");
    return variable_list{(avg_pool2d(b, 2) + max_pool2d(b, 2)).cpu()};
  };
  const auto fused = [](const variable_list& in) {
    const Tensor y = convolution_relu(in[0].to(kHere), in[1].to(kHere), in[2].to(kHere), 1, 1);
    return variable_list{y.cpu()};
  };
  const variable_list in{leaf({2, 2, 4, 3}), leaf({3, 2, 2, 2}), leaf({3}, MemoryFormat::Contiguous)};
  CHECK(gradcheck(block, in));
  CHECK(gradgradcheck(block, in));
  CHECK(gradcheck(fused, in));
  CHECK(gradgradcheck(fused, in));
}

TEST_CASE("convolutions and poolings return a channels-last result only if an operand is channels-last") {
  const Tensor w = random({3, 2, 2, 2}), x = random({2, 2, 4, 4});
  CHECK(conv2d(x, w).is_contiguous());
  CHECK(is_last(conv2d(x, w.contiguous(kLast))));
  // Unbatched images and inputs with one spatial dimension have no channels-last format.
  CHECK(max_pool2d(x.contiguous(kLast).select(0, 0), 2).is_contiguous());
  CHECK(max_pool3d(random({2, 3, 4, 5}).contiguous(kLast), 2).is_contiguous());
  const Tensor rows = random({2, 5, 3}).transpose(1, 2);
  CHECK(conv1d(rows, random({4, 3, 2})).is_contiguous());
  CHECK(max_pool1d(rows, 2).is_contiguous());
  // With one channel both formats apply, and the result has contiguous strides.
  CHECK(conv2d(random({2, 1, 4, 4}).contiguous(kLast), random({3, 1, 2, 2})).is_contiguous());
  CHECK(conv2d(empty({0, 2, 4, 4}, x.options()).contiguous(kLast), w).sizes() == IntArrayRef({0, 3, 3, 3}));
  for (const DType dtype : {kHalf, kBFloat16, kFloat}) {
    const Tensor y = conv2d(x.to(dtype).contiguous(kLast), w.to(dtype));
    CHECK(y.dtype() == dtype);
    CHECK(is_last(y));
    CHECK(is_last(avg_pool2d(y, 2, 1)));
  }
}

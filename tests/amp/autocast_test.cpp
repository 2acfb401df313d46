// Autocast scopes: casts, exceptions from casting, nesting, and gradients.
#include <ebb/amp/autocast.h>
#include <ebb/autograd/checkpoint.h>
#include <ebb/ebb.h>

#include "amp/device.h"
#include "support/catch.h"

#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace ebb;

namespace {

Tensor weights() { return (arange(12, kFloat).reshape({4, 3}) / 7).to(kHere).requires_grad_(); }
Tensor inputs() { return (arange(8, kFloat).reshape({2, 4}) / 3).to(kHere); }

struct Heard : WarningHandler {
  void process(const Warning& warning) override { said = warning.msg(); }
  std::string said;
};

// Returns the dtype of a product in the current scope.
DType product_dtype() { return mm(inputs(), weights()).dtype(); }

// Returns the node that cast operand i of the product.
const autograd::Node* cast_of(const Tensor& product, std::size_t i) {
  return product.grad_fn()->next_edges()[i].function.get();
}

}  // namespace

TEST_CASE("autocast is off by default and ends with its scope") {
  CHECK(product_dtype() == kFloat);
  {
    const amp::autocast casting(kHere, kBFloat16);
    CHECK(autocast::is_autocast_enabled(kHere));
    CHECK(product_dtype() == kBFloat16);
    {
      const amp::autocast off(kHere, nullopt, false);
      CHECK_FALSE(autocast::is_autocast_enabled(kHere));
      CHECK(product_dtype() == kFloat);
      const amp::autocast on(kHere, kHalf);
      CHECK(product_dtype() == kHalf);
    }
    CHECK(product_dtype() == kBFloat16);
    CHECK_THROWS_WITH(mm(inputs(), inputs()),
                      support::Contains("mm: shapes [2, 4] and [2, 4] cannot be multiplied: 4"));
    CHECK(autocast::is_autocast_enabled(kHere));
  }
  CHECK_FALSE(autocast::is_autocast_enabled(kHere));
  CHECK(product_dtype() == kFloat);
}

TEST_CASE("autocast has the default dtype of PyTorch for each device") {
  CHECK(autocast::get_autocast_dtype(kCPU) == kBFloat16);
  CHECK(autocast::get_autocast_gpu_dtype() == kHalf);
  const amp::autocast casting(kHere);
  CHECK(product_dtype() == (kHere == kCUDA ? kHalf : kBFloat16));
  const DeviceType other = kHere == kCUDA ? kCPU : kCUDA;
  CHECK_FALSE(autocast::is_autocast_enabled(other));
  if (kHere == kCUDA) CHECK(mm(inputs().cpu(), weights().cpu()).dtype() == kFloat);
}

TEST_CASE("autocast with a dtype of more than 16 bits warns and stays off") {
  Heard heard;
  const WarningHandlerGuard guard(&heard);
  const amp::autocast casting(kHere, kFloat);
  CHECK_THAT(heard.said, support::Contains("stays off"));
  CHECK(product_dtype() == kFloat);
  CHECK_THROWS_WITH(autocast::set_autocast_dtype(kHere, kDouble), support::Contains("got Double"));
}

TEST_CASE("autocast casts neither Double nor integer tensors nor the targets of in-place ops") {
  const amp::autocast casting(kHere, kBFloat16);
  const Tensor x = inputs();
  CHECK(mm(x.to(kDouble), weights().to(kDouble)).dtype() == kDouble);
  CHECK(mm(x.to(kLong), ones({4, 2}, TensorOptions(kLong).device(kHere))).dtype() == kLong);
  Tensor sum = zeros({2, 3}, TensorOptions(kHere));
  sum.addmm_(x, weights().detach());
  CHECK(sum.dtype() == kFloat);
  CHECK(equal(sum, [&] {
    const amp::autocast off(kHere, nullopt, false);
    return mm(x, weights());
  }()));
}

TEST_CASE("results and gradients under autocast equal those of explicit casts") {
  const Tensor x = inputs().requires_grad_(), w = weights(), y = inputs().requires_grad_(), v = weights();
  const Tensor by_hand = mm(y.to(kBFloat16), v.to(kBFloat16)).to(kFloat).exp().sum();
  by_hand.backward();
  Tensor loss;
  {
    const amp::autocast casting(kHere, kBFloat16);
    loss = mm(x, w).to(kFloat).exp().sum();
  }
  loss.backward();
  CHECK(equal(loss, by_hand));
  CHECK(w.grad().dtype() == kFloat);
  CHECK(x.grad().dtype() == kFloat);
  CHECK(equal(w.grad(), v.grad()));
  CHECK(equal(x.grad(), y.grad()));
}

TEST_CASE("autocast casts a weight once per outermost scope") {
  const Tensor x = inputs(), w = weights();
  const amp::autocast casting(kHere, kBFloat16);
  const Tensor first = mm(x, w), second = [&] {
    const amp::autocast inner(kHere, kBFloat16);
    return mm(x, w);
  }();
  CHECK(cast_of(first, 1) == cast_of(second, 1));
  CHECK(cast_of(mm(x, w), 1) == cast_of(first, 1));
  // Two backward calls through the same cast.
  first.sum().backward();
  second.sum().backward();
  CHECK(allclose(w.grad(), 2 * x.to(kBFloat16).to(kFloat).sum(0).unsqueeze(1).expand({4, 3}), 2e-2, 0));
  const amp::autocast afresh(kHere, kBFloat16, true, /*cache_enabled=*/false);
  CHECK(cast_of(mm(x, w), 1) != cast_of(first, 1));
}

TEST_CASE("autocast casts a modified weight again") {
  Tensor w = weights();
  const Tensor x = ones({1, 4}, TensorOptions(kHere));
  const amp::autocast casting(kHere, kBFloat16);
  const Tensor before = mm(x, w);
  {
    const NoGradGuard no_grad;
    w.fill_(2);
  }
  CHECK(equal(mm(x, w), full({1, 3}, 8, TensorOptions(kBFloat16).device(kHere))));
  w.set_data(full({4, 3}, 3.0, TensorOptions(kHere)));
  CHECK(equal(mm(x, w), full({1, 3}, 12, TensorOptions(kBFloat16).device(kHere))));
  for (int value = 4; value < 8; ++value) {
    w.set_data(zeros({4, 3}, TensorOptions(kHere)));
    w.set_data(full({4, 3}, value, TensorOptions(kHere).dtype(kFloat)));  // may have the first data's address
    CHECK(equal(mm(x, w), full({1, 3}, 4 * value, TensorOptions(kBFloat16).device(kHere))));
  }
  w.set_data(arange(12, TensorOptions(kHere).dtype(kFloat)).view({4, 3}));
  const Tensor rows = mm(x, w);
  w.set_data(w.detach().view({3, 4}).t());  // the same memory with other strides
  CHECK_FALSE(equal(mm(x, w), rows));
  const amp::autocast other(kHere, kHalf);
  CHECK(mm(x, w).dtype() == kHalf);
}

TEST_CASE("autocast: a cast under no_grad does not disable gradients of later casts") {
  const Tensor x = inputs(), w = weights();
  const amp::autocast casting(kHere, kBFloat16);
  {
    const NoGradGuard no_grad;
    CHECK_FALSE(mm(x, w).requires_grad());
  }
  mm(x, w).sum().backward();
  CHECK(w.grad().defined());
}

TEST_CASE("autocast applies only to the thread that enables it") {
  const amp::autocast casting(kHere, kBFloat16);
  DType there = kDouble;
  std::thread([&] { there = product_dtype(); }).join();
  CHECK(there == kFloat);
}

TEST_CASE("autocast is off in backward") {
  const Tensor x = inputs(), w = weights();
  // The gradient is in Float, even if backward() is called with autocast on.
  const Tensor loss = mm(x, w).sum();
  const amp::autocast casting(kHere, kBFloat16);
  bool on = true;
  loss.register_hook([&](const Tensor&) { on = autocast::is_autocast_enabled(kHere); });
  loss.backward();
  CHECK_FALSE(on);
  CHECK(autocast::is_autocast_enabled(kHere));
  const Tensor v = weights();
  {
    const amp::autocast off(kHere, nullopt, false);
    mm(x, v).sum().backward();
  }
  CHECK(equal(w.grad(), v.grad()));
}

TEST_CASE("autocast: second derivatives through casts are right") {
  const Tensor x = inputs().requires_grad_();
  Tensor y;
  {
    const amp::autocast casting(kHere, kBFloat16);
    y = mm(x, x.t()).pow(2).sum();
  }
  const Tensor g = autograd::grad({y}, {x}, {}, true, true)[0];
  CHECK(g.dtype() == kFloat);
  g.sum().backward();
  CHECK(x.grad().dtype() == kFloat);
}

TEST_CASE("autocast: a checkpoint recomputes with the autocast settings of its first run") {
  const Tensor x = inputs().requires_grad_(), y = inputs().requires_grad_(), w = weights(), v = weights();
  Tensor kept, plain;
  {
    const amp::autocast casting(kHere, kBFloat16);
    const auto layers = [](const Tensor& p) {
      return [p](const Tensor& t) { return mm(mm(t, p).relu(), p.t()).sigmoid(); };
    };
    kept = autograd::checkpoint(layers(w), x);
    plain = layers(v)(y);
  }
  CHECK(equal(kept, plain));
  kept.to(kFloat).sum().backward();
  plain.to(kFloat).sum().backward();
  CHECK(equal(x.grad(), y.grad()));
  CHECK(equal(w.grad(), v.grad()));
  CHECK_FALSE(autocast::is_autocast_enabled(kHere));
}

namespace {

// A product whose backward multiplies a Float weight and a 16-bit gradient.
struct Product : autograd::Function<Product> {
  static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x, const Tensor& w) {
    ctx->save_for_backward({x, w});
    return mm(x, w);
  }
  static autograd::variable_list backward(autograd::AutogradContext* ctx, autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    return {mm(grads[0], saved[1].t()), mm(saved[0].t(), grads[0])};
  }
};

}  // namespace

TEST_CASE("autocast: backward of a custom function uses the autocast settings of its forward") {
  const Tensor x = inputs().requires_grad_(), w = weights(), y = inputs().requires_grad_(), v = weights();
  Tensor own, plain;
  {
    const amp::autocast casting(kHere, kBFloat16);
    own = Product::apply(x, w);
    plain = mm(y, v);
  }
  CHECK(own.dtype() == kBFloat16);
  own.to(kFloat).sum().backward();
  plain.to(kFloat).sum().backward();
  CHECK(equal(x.grad().to(kFloat), y.grad()));
  CHECK(equal(w.grad().to(kFloat), v.grad()));
  CHECK_FALSE(autocast::is_autocast_enabled(kHere));
}

TEST_CASE("autocast can be controlled without a guard by functions for its state, dtype, nesting and cache") {
  autocast::set_autocast_enabled(kHere, true);
  autocast::set_autocast_dtype(kHere, kBFloat16);
  CHECK(autocast::increment_nesting() == 1);
  const Tensor x = inputs(), w = weights();
  const Tensor first = mm(x, w);
  CHECK(first.dtype() == kBFloat16);
  CHECK(cast_of(mm(x, w), 1) == cast_of(first, 1));
  autocast::clear_cache();
  CHECK(cast_of(mm(x, w), 1) != cast_of(first, 1));
  CHECK(autocast::decrement_nesting() == 0);
  CHECK(cast_of(mm(x, w), 1) != cast_of(mm(x, w), 1));
  CHECK_THROWS_WITH(autocast::decrement_nesting(), support::Contains("no scope"));
  autocast::set_autocast_enabled(kHere, false);
  autocast::set_autocast_dtype(kHere, kHere == kCUDA ? kHalf : kBFloat16);
  CHECK(product_dtype() == kFloat);
  CHECK(autocast::is_autocast_cache_enabled());
}

TEST_CASE("autocast: norms accept 16-bit inputs with Float parameters") {
  manual_seed(2);
  const TensorOptions here(kHere);
  const Tensor h = randn({3, 4, 5}).to(kBFloat16).to(kHere), scale = rand({4}).to(kHere).requires_grad_(),
               shift = rand({4}).to(kHere).requires_grad_();
  Tensor mean = zeros({4}, here), var = ones({4}, here);
  const auto check = [&](const Tensor& got, const Tensor& wide) {
    CHECK(got.dtype() == kBFloat16);
    CHECK(equal(got, wide.to(kBFloat16)));
    const Tensor seed = ones_like(got);
    const auto a = autograd::grad({got}, {scale, shift}, {seed});
    const auto b = autograd::grad({wide}, {scale, shift}, {seed.to(kFloat)});
    CHECK(a[0].dtype() == kFloat);
    CHECK(equal(a[0], b[0]));
    CHECK(equal(a[1], b[1]));
  };
  const Tensor x = h.to(kFloat), mean2 = mean.clone(), var2 = var.clone();
  check(batch_norm(h, scale, shift, mean, var, true, 0.1, 1e-5),
        batch_norm(x, scale, shift, mean2, var2, true, 0.1, 1e-5));
  CHECK(equal(mean, mean2));
  CHECK(equal(var, var2));
  check(batch_norm(h, scale, shift, mean, var, false, 0.1, 1e-5),
        batch_norm(x, scale, shift, mean, var, false, 0.1, 1e-5));
  check(instance_norm(h, scale, shift, {}, {}, true, 0.1, 1e-5),
        instance_norm(x, scale, shift, {}, {}, true, 0.1, 1e-5));
  check(group_norm(h, 2, scale, shift), group_norm(x, 2, scale, shift));
  const Tensor t = h.transpose(1, 2), u = x.transpose(1, 2);
  check(layer_norm(t, 4, scale, shift), layer_norm(u, 4, scale, shift));
  const Tensor rms = rms_norm(t, 4, scale, 1e-5);
  CHECK(equal(rms, rms_norm(u, 4, scale, 1e-5).to(kBFloat16)));
  CHECK_THROWS_WITH(layer_norm(t, 4, scale.to(kDouble)), support::Contains("dtype"));
}

TEST_CASE("autocast: recurrent layers accept inputs whose dtype differs from that of the weights") {
  nn::GRU gru(3, 4);
  nn::LSTM lstm(nn::LSTMOptions(3, 4).num_layers(2));
  gru->to(kHere, kBFloat16);
  lstm->to(kHere);
  const Tensor x = rand({5, 2, 3}, TensorOptions(kHere));
  CHECK_THROWS_WITH(gru(x), support::Contains("does not match weight dtype"));
  const amp::autocast casting(kHere, kBFloat16);
  CHECK(std::get<0>(gru(x)).dtype() == (kHere == kCUDA ? kBFloat16 : kFloat));
  CHECK(std::get<0>(lstm(x.to(kBFloat16))).dtype() == kBFloat16);
}

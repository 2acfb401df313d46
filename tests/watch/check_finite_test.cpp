// CheckFinite: the first NaN or infinity in forward, in backward and in optimizers.
#include <ebb/ebb.h>
#include <ebb/models.h>
#include <ebb/watch/check_finite.h>

#include "support/catch.h"

#include <functional>
#include <limits>
#include <thread>

using namespace ebb;
using support::Contains;
using watch::CheckFinite;
using watch::CheckFiniteOptions;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A module that applies a function between two layers.
struct NetImpl : nn::Module {
  explicit NetImpl(std::function<Tensor(const Tensor&)> applied) : middle(std::move(applied)) {
    fc1 = register_module("fc1", nn::Linear(4, 8));
    inner = register_module("inner", nn::Sequential(nn::Linear(8, 8), nn::Functional(middle)));
    fc2 = register_module("fc2", nn::Linear(8, 1));
  }
  Tensor forward(const Tensor& x) { return fc2(inner->forward(fc1(x))); }
  std::function<Tensor(const Tensor&)> middle;
  nn::Linear fc1{nullptr}, fc2{nullptr};
  nn::Sequential inner{nullptr};
};
EBB_MODULE(Net);

// Returns what is found while `program` runs, or an empty result. The program also gets the error.
watch::NonFinite found_by(const std::function<void()>& program, CheckFiniteOptions options = {},
                          const nn::Module* model = nullptr) {
  const std::unique_ptr<CheckFinite> check =
      model ? std::make_unique<CheckFinite>(*model, options) : std::make_unique<CheckFinite>(options);
  try {
    program();
  } catch (const Error& error) {
    REQUIRE(check->found());
    CHECK_THAT(std::string(error.what()), support::StartsWith(check->found()->message));
  }
  return check->found().value_or(watch::NonFinite());
}

// Trains for some steps and returns all parameters in one tensor.
template <class Model>
Tensor trained(Model model, const Tensor& x, int steps = 3) {
  optim::Adam optimizer(model->parameters(), optim::AdamOptions(1e-3));
  for (int i = 0; i < steps; ++i) {
    optimizer.zero_grad();
    model->forward(x).square().mean().backward();
    optimizer.step();
  }
  return nn::utils::parameters_to_vector(model->parameters()).detach();
}

// Returns whether two tensors have the same bits.
bool same(const Tensor& a, const Tensor& b) { return a.equal(b); }

}  // namespace

TEST_CASE("CheckFinite names the op, the module and the inputs of the first NaN in forward") {
  Net net([](const Tensor& x) { return (-x.abs() - 1).log(); });
  const watch::NonFinite found = found_by([&] { net(ones({2, 4})); });
  CHECK(found.op == "log");
  CHECK(found.module == "module 'inner.1', ebb::nn::FunctionalImpl");
  CHECK(found.direction == "forward");
  CHECK(found.step == 0);
  CHECK_THAT(
      found.message,
      support::StartsWith("CheckFinite: in step 0, forward of module 'inner.1', ebb::nn::FunctionalImpl: "
                          "log computed Float[2, 8] on cpu with 16 NaN and 0 infinities. It read:\n  "
                          "Float[2, 8] on cpu from -"));
  CHECK_THAT(found.message, support::EndsWith("The op overflows, or an input is outside its domain."));
}

TEST_CASE("CheckFinite counts NaN and infinities and gives the range of the finite elements") {
  const Tensor x = tensor({-1.0, 0.0, 1.0, 4.0}, kDouble);
  const watch::NonFinite found = found_by([&] { x.log2(); });
  CHECK(found.module.empty());
  CHECK_THAT(found.message, Contains("log2 computed Double[4] on cpu with 1 NaN and 1 infinities, the others "
                                     "from 0 to 2. It read:\n  Double[4] on cpu from -1 to 4\n"));
}

TEST_CASE("CheckFinite names the node and the module of an infinite gradient") {
  Net net([](const Tensor& x) { return (x * 0).abs().sqrt(); });
  Tensor loss;
  CHECK(found_by([&] { loss = net(ones({2, 4})).sum(); }).op.empty());
  const watch::NonFinite found = found_by([&] { loss.backward(); });
  CHECK(found.direction == "backward");
  CHECK(found.module == "module 'inner.1', ebb::nn::FunctionalImpl");
  CHECK_THAT(found.message, Contains("backward of SqrtBackward0, module 'inner.1'"));
}

TEST_CASE("CheckFinite names the parameter and the step of an update that overflows") {
  Net net([](const Tensor& x) { return x.relu(); });
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(1e-3).momentum(0.9));
  const auto step = [&](double scale) {
    return found_by(
        [&] {
          for (const double factor : {1.0, 1.0, scale}) {
            optimizer.zero_grad();
            net->fc2->weight.mutable_grad() = full({1, 8}, factor);
            optimizer.step();
          }
        },
        {}, net.get());
  };
  CHECK(step(1).op.empty());
  optimizer.param_groups()[0].options().set_lr(1e10);
  const watch::NonFinite found = step(1e30);
  CHECK(found.op == "SGD");
  CHECK(found.module == "fc2.weight");
  CHECK(found.direction == "optimizer");
  CHECK(found.step == 2);
  CHECK_THAT(found.message,
             Contains("in step 2, optimizer of parameter fc2.weight: SGD computed Float[1, 8] on "
                      "cpu with 0 NaN and 8 infinities"));
  CHECK_THAT(found.message, Contains("\n  the gradient, Float[1, 8] on cpu from 1e+30 to 1e+30"));
  CHECK_THAT(found.message, Contains("\n  momentum_buffer, now Float[1, 8] on cpu from 1e+30 to 1e+30"));
}

TEST_CASE("CheckFinite numbers a parameter if it does not know the model") {
  Tensor w = ones({3}).requires_grad_();
  optim::Adam optimizer({ones({2}).requires_grad_(), w}, optim::AdamOptions(1));
  w.mutable_grad() = tensor({0.0, kNaN, 1.0});
  CHECK_THAT(found_by([&] { optimizer.step(); }).message,
             Contains("in step 0, optimizer of parameter 1: Adam"));
}

TEST_CASE("CheckFinite accepts masks of infinities and what is computed from them") {
  const Tensor scores = randn({2, 3, 3}), mask = ones({3, 3}, kBool).tril();
  CHECK(found_by([&] {
          const Tensor masked = scores.masked_fill(mask.logical_not(), -kInfinity);
          masked.softmax(-1);
          masked.log_softmax(-1);
          (scores + full({3, 3}, -kInfinity).triu(1)).clone().amax(-1);
          where(mask, scores, -kInfinity).exp().sum();
          scores.clamp(-kInfinity, 0.0);
          full({2}, kNaN);
          scaled_dot_product_attention(scores, scores, scores, mask);
          const Tensor added = zeros({3, 3}).masked_fill(mask.logical_not(), -kInfinity);
          Tensor query = scores.clone().requires_grad_();
          scaled_dot_product_attention(query, scores, scores, added).sum().backward();
          masked.masked_fill_(mask, 0);
          nn::functional::ctc_loss(randn({4, 2, 3}).log_softmax(-1), tensor({1, 2, 1, 1}).view({2, 2}),
                                   tensor({4, 4}), tensor({2, 1}));
        }).op.empty());
  CHECK(found_by([&] { scores.masked_fill(mask.logical_not(), -kInfinity).sub(-kInfinity).add(1); }).op ==
        "sub");
  const Tensor infinite = full({2}, kInfinity);
  CHECK(found_by([&] { infinite - infinite; }).op == "sub");
}

TEST_CASE("CheckFinite says that a NaN in the data was not computed in the scope") {
  Tensor x = ones({2, 4});
  x[1][2] = kNaN;
  Net net([](const Tensor& y) { return y.relu(); });
  const watch::NonFinite found = found_by([&] { net(x); }, {}, net.get());
  CHECK(found.module == "module 'fc1', ebb::nn::LinearImpl");
  CHECK_THAT(found.message,
             Contains("\n  Float[2, 4] on cpu with 1 NaN and 0 infinities, the others from 1 to 1"));
  CHECK_THAT(found.message, Contains("\n  fc1.weight, Float[8, 4] on cpu from "));
  CHECK_THAT(found.message, support::EndsWith("look at the data and at the initial weights."));
}

TEST_CASE("CheckFinite describes the input that an in-place op overwrites") {
  Tensor x = tensor({-3.0F, 2.0F});
  const watch::NonFinite found = found_by([&] { x.div_(0); });
  CHECK(found.op == "div");
  CHECK_THAT(found.message, Contains("It read:\n  Float[2] on cpu from -3 to 2 before the op\n"));
  // An infinity that the op has found is not its fault.
  Tensor y = full({2}, kInfinity);
  CHECK(found_by([&] { y.mul_(2); }).op.empty());
  Tensor z = full({2}, kNaN);
  CHECK(found_by([&] { z.mul_(2); }).op == "mul");
  // The same as for y, for an op whose kernel only writes to the tensor.
  CHECK(found_by([&] { y.masked_fill_(tensor({true, false}), 0); }).op.empty());
}

TEST_CASE("CheckFinite checks only the chosen directions and only NaN if infinities are off") {
  const auto forward = [] { ones({2}) / 0; };
  CHECK(found_by(forward).op == "div");
  CHECK(found_by(forward, CheckFiniteOptions().infinities(false)).op.empty());
  CHECK(found_by(forward, CheckFiniteOptions().forward(false)).op.empty());
  CHECK(found_by(forward, CheckFiniteOptions().backward(false).optimizer(false)).op == "div");

  const auto backward = [] {
    Tensor x = zeros({2}).requires_grad_();
    x.sqrt().sum().backward();
  };
  CHECK(found_by(backward, CheckFiniteOptions().forward(false).optimizer(false)).direction == "backward");
  CHECK(found_by(backward, CheckFiniteOptions().backward(false)).op.empty());

  const auto update = [] {
    Tensor x = zeros({2}).requires_grad_();
    x.mutable_grad() = full({2}, kNaN);
    optim::SGD(std::vector<Tensor>{x}, optim::SGDOptions(1)).step();
  };
  CHECK(found_by(update, CheckFiniteOptions().forward(false).backward(false)).direction == "optimizer");
  CHECK(found_by(update, CheckFiniteOptions().optimizer(false)).op.empty());
}

TEST_CASE("CheckFinite without throws warns once and keeps the first result") {
  WarningHandler* const previous = Warning::get_warning_handler();
  struct Count : WarningHandler {
    void process(const Warning& warning) override { texts.push_back(warning.msg()); }
    std::vector<std::string> texts;
  } count;
  Warning::set_warning_handler(&count);
  const watch::NonFinite found = found_by(
      [] {
        (zeros({2}) - 1).log();
        ones({3}) / 0;
      },
      CheckFiniteOptions().throws(false));
  Warning::set_warning_handler(previous);
  CHECK(found.op == "log");
  CHECK(count.texts == std::vector<std::string>{found.message});
}

TEST_CASE("CheckFinite checks every floating dtype, views and empty tensors") {
  for (const DType dtype : {kHalf, kBFloat16, kFloat, kDouble}) {
    const Tensor x = ones({2, 3}, dtype);
    CHECK(found_by([&] { x.t() / 0; }).op == "div");
    CHECK(found_by([&] { x.slice(0, 0, 0) / 0; }).op.empty());
    CHECK(found_by([&] { x + 1; }).op.empty());
  }
  CHECK(found_by([] { ones({2}, kLong) * 2; }).op.empty());
  CHECK(found_by([] { (ones({1}, kHalf) * 60000).mul(2); }).op == "mul");
}

TEST_CASE("CheckFinite does not change the results of a training run and reports nothing in it") {
  const auto check = [](const auto& make, const Tensor& x) {
    manual_seed(3);
    const Tensor expected = trained(make(), x);
    CHECK(expected.isfinite().all().item<bool>());
    manual_seed(3);
    Tensor got;
    const watch::NonFinite found = found_by([&] { got = trained(make(), x); });
    CHECK(found.message.empty());
    CHECK(same(got, expected));
  };
  manual_seed(2);
  check([] { return models::resnet18(models::ResNetOptions().num_classes(5)); }, randn({2, 3, 32, 32}));
  check(
      [] {
        return nn::Sequential(
            nn::TransformerEncoderLayer(nn::TransformerEncoderLayerOptions(16, 2).dim_feedforward(32)),
            nn::LayerNorm(nn::LayerNormOptions({16})), nn::Dropout(0.5), nn::GELU(), nn::Linear(16, 3));
      },
      randn({5, 2, 16}));
}

TEST_CASE("CheckFinite lets a compiled function run eagerly in its scope and replay after it") {
  auto compiled = compile([](Tensor x) { return x.exp().log(); });
  const Tensor x = ones({4});
  for (int i = 0; i < 4; ++i) compiled(x);
  const auto before = compiled.report().replays;
  REQUIRE(before > 0);
  CHECK(found_by([&] { compiled(x * -1000); }).op == "log");
  CHECK(compiled.report().replays == before);
  compiled(x);
  CHECK(compiled.report().replays == before + 1);
}

TEST_CASE("CheckFinite belongs to one thread and is off after its scope") {
  const auto divide = [] { ones({2}) / 0; };
  {
    const CheckFinite check;
    std::thread(divide).join();
    CHECK_FALSE(check.found());
    CHECK_THROWS_MATCHES(CheckFinite(), Error, support::Saying("this thread has another CheckFinite"));
    CHECK_THROWS_AS(divide(), Error);
    CHECK_NOTHROW(divide());  // the first result ends the check
  }
  CHECK_NOTHROW(divide());
  CHECK(found_by(divide).op == "div");
}

TEST_CASE("CheckFinite reports the closure of an optimizer as forward and backward") {
  Tensor x = ones({2}).requires_grad_();
  optim::LBFGS optimizer({x}, optim::LBFGSOptions(1));
  const auto with = [&](const std::function<Tensor()>& loss) {
    return found_by([&] {
      optimizer.step([&] {
        AutoGradMode grad(true);
        optimizer.zero_grad();
        Tensor value = loss();
        value.backward();
        return value;
      });
    });
  };
  CHECK(with([&] { return (x - 5).log().sum(); }).direction == "forward");
  CHECK(with([&] { return (x * 0).sqrt().sum(); }).direction == "backward");
}

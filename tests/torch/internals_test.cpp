// Names below libtorch's documented ones that programs use, and warnings that they look for.
#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/torch.h>

#include <sstream>

#include "support/catch.h"
#include "support/warnings.h"

namespace F = torch::nn::functional;

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

int warnings_of(const char* text, const std::function<void()>& body) {
  support::Warnings warnings;
  body();
  int count = 0;
  for (const std::string& each : warnings.texts) count += each.find(text) != std::string::npos;
  return count;
}

struct Zeros : torch::autograd::Function<Zeros> {
  static torch::Tensor forward(AutogradContext*, const torch::Tensor& x) { return 2 * x; }
  static variable_list backward(AutogradContext*, const variable_list& grads) { return {grads[0] + 3}; }
};

/// Notes in backward the ranges of arguments that want gradients.
struct Wanted : torch::autograd::Function<Wanted> {
  static torch::Tensor forward(AutogradContext*, const torch::Tensor& a, const torch::Tensor& b,
                               const torch::Tensor& c) {
    return a + b + c;
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const torch::autograd::IndexRange first = {0, 2}, last = {2, 3}, none = {1, 1};
    seen = {ctx->needs_input_grad({first}), ctx->needs_input_grad({last}), ctx->needs_input_grad({none}),
            ctx->needs_input_grad({none, last, first})};
    return {grads[0], grads[0], grads[0]};
  }
  static inline std::vector<bool> seen;
};

}  // namespace

TEST_CASE("backward asks for ranges of arguments that want gradients") {
  const auto x = torch::ones(1, torch::requires_grad()), y = torch::ones(1);
  Wanted::apply(y, x, y).backward();
  CHECK(Wanted::seen == std::vector<bool>{true, false, false, true});
  Wanted::apply(y, y, x).backward();
  CHECK(Wanted::seen == std::vector<bool>{false, true, false, true});
}

TEST_CASE("a leaf is made of data, and undefined gradients reach a function as zeros") {
  const auto data = torch::full({1}, 5.0);
  auto leaf = torch::autograd::make_variable(data, /*requires_grad=*/true);
  CHECK((leaf.is_leaf() && leaf.requires_grad() && !data.requires_grad()));
  CHECK(at::native::is_nonzero(leaf));
  torch::autograd::UndefinedGrad().apply({Zeros::apply(leaf)})[0].backward();
  CHECK(leaf.grad().item<float>() == 3);
}

TEST_CASE("ops are found in at::native and functions of dropout in detail") {
  const auto x = torch::arange(6.0).view({2, 3});
  CHECK(torch::equal(at::native::clamp_min(x, 2), x.clamp(2)));
  CHECK(torch::equal(torch::_reshape_alias(x, {3, 2}, {2, 1}), x.view({3, 2})));
  CHECK(torch::equal(F::detail::alpha_dropout(x, 0.5, /*training=*/false, /*inplace=*/false), x));
  CHECK(F::detail::dropout(x, 1, true, false).sum().item<float>() == 0);
}

TEST_CASE("calls that libtorch warns of are warned of") {
  const c10::Warning::WarnAlways always;
  const auto x = torch::ones({2}, torch::requires_grad());
  const auto y = 2 * x, bytes = torch::tensor({1, 0}, torch::kByte);
  const std::vector<std::tuple<const char*, int, std::function<void()>>> table = {
      {"is not a leaf", 1, [&] { CHECK_FALSE(y.grad().defined()); }},
      {"is not a leaf", 0, [&] { CHECK_FALSE(x.grad().defined()); }},
      {"is not a leaf", 0,
       [&] {
         y.retain_grad();
         CHECK_FALSE(y.grad().defined());
       }},
      {"create_graph=True", 1, [&] { (x * x).sum().backward({}, torch::nullopt, /*create_graph=*/true); }},
      {"create_graph=True", 0, [&] { (x * x).sum().backward({}, /*retain_graph=*/true); }},
      {"torch.uint8 is now deprecated", 1, [&] { CHECK(y.index({bytes}).numel() == 1); }},
      {"torch.uint8 is now deprecated", 1, [&] { y.detach().index_put_({bytes}, 0); }},
      {"torch.uint8 is now deprecated", 1, [&] { torch::where(bytes, y, 0); }},
      {"torch.uint8 is now deprecated", 0, [&] { torch::where(bytes != 0, y, 0); }},
      {"AutoNonVariableTypeMode is deprecated", 1, [] { at::AutoNonVariableTypeMode guard; }},
  };
  int row = 0;
  for (const auto& [text, times, body] : table) {
    INFO("row " << row++);
    CHECK(warnings_of(text, body) == times);
  }
  x.mutable_grad().reset();  // it holds x, which holds it
}

TEST_CASE("warnings of once are given every time on request") {
  const auto walk = [] { TORCH_WARN_ONCE("the ", 1, "st time"); };
  CHECK(warnings_of("the 1st time", [&] { (walk(), walk()); }) == 1);
  const c10::WarningUtils::WarnAlways always;
  CHECK(warnings_of("the 1st time", [&] { (walk(), walk()); }) == 2);
}

TEST_CASE("an optimizer reads the lists of old files, and says so") {
  auto a = torch::ones(2, torch::requires_grad()), b = torch::ones(3, torch::requires_grad());
  torch::serialize::OutputArchive out;
  const auto list = [&](const std::string& name, const std::vector<torch::Tensor>& values) {
    out.write(name + "/size", torch::tensor(static_cast<int64_t>(values.size())));
    for (size_t i = 0; i < values.size(); ++i) out.write(name + "/" + std::to_string(i), values[i], true);
  };
  list("step_buffers", {torch::tensor(int64_t{7})});
  list("exp_average_buffers", {torch::full({2}, 0.5)});
  list("exp_average_sq_buffers", {torch::full({2}, 0.25)});
  list("max_exp_average_sq_buffers", {});
  std::stringstream stream;
  out.save_to(stream);
  torch::optim::Adam adam(std::vector<torch::Tensor>{a, b});
  CHECK(warnings_of("old serialization format", [&] { torch::load(adam, stream); }) == 1);
  CHECK(adam.state().size() == 1);
  const auto& state = static_cast<torch::optim::AdamParamState&>(*adam.state().at(a.unsafeGetTensorImpl()));
  CHECK(state.step() == 7);
  CHECK(state.exp_avg().sum().item<float>() == 1);
  CHECK(state.exp_avg_sq().sum().item<float>() == 0.5F);
}

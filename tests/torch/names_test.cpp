// Names, namespaces and internals of libtorch that programs use.
#include "support/catch.h"
#include "support/scopes.h"

#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/csrc/utils/variadic.h>
#include <torch/detail/static.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <sstream>

// Module names as libtorch prints them, and type traits.

namespace {

struct EncoderImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) { return x; }
};
TORCH_MODULE(Encoder);

}  // namespace

namespace webb {
struct Page : torch::nn::Module {};
}  // namespace webb

namespace {

// Programs name TorchScript types in code that never runs.
[[maybe_unused]] void describe(const torch::jit::script::Module&) {}

}  // namespace

namespace torch::nn {
template <class T>
struct BoxImpl : Module {};
}  // namespace torch::nn

TEST_CASE("module names begin with torch") {
  CHECK(torch::nn::LinearImpl(2, 3).name() == "torch::nn::LinearImpl");
  CHECK(c10::str(torch::nn::Linear(2, 3)) == "torch::nn::Linear(in_features=2, out_features=3, bias=true)");
  CHECK(c10::str(torch::nn::Conv2d(1, 2, 3)).find("torch::nn::Conv2d(1, 2, kernel_size=[3, 3]") == 0);
  CHECK(c10::str(torch::nn::Sequential(torch::nn::ReLU(), torch::nn::Functional(torch::relu))) ==
        "torch::nn::Sequential(\n  (0): torch::nn::ReLU()\n  (1): torch::nn::Functional()\n)");
  CHECK(c10::str(torch::nn::ModuleList()).find("torch::nn::ModuleList") == 0);
  CHECK(c10::str(torch::nn::ModuleDict()).find("torch::nn::ModuleDict") == 0);
  CHECK(c10::str(torch::nn::LazyLinear(3)).find("torch::nn::LazyLinear(") == 0);
  CHECK(c10::str(torch::nn::FractionalMaxPool2d(torch::nn::FractionalMaxPool2dOptions(5).output_size(1))) ==
        "torch::nn::FractionalMaxPool2d()");
  CHECK(torch::nn::BoxImpl<torch::nn::LinearImpl>().name() == "torch::nn::BoxImpl<torch::nn::LinearImpl>");
  CHECK_THROWS_WITH(torch::nn::BoxImpl<int>().clone(),
                    support::Contains("Subclass torch::nn::Cloneable<torch::"));
}

TEST_CASE("MultiheadAttention prints its name without Impl, and user classes keep their namespaces") {
  CHECK(c10::str(torch::nn::MultiheadAttention(4, 2)) ==
        "torch::nn::MultiheadAttention(\n  (out_proj): torch::nn::Linear(in_features=4, out_features=4, "
        "bias=true)\n)");
  CHECK(EncoderImpl().name() == "(anonymous namespace)::EncoderImpl");
  CHECK(webb::Page().name() == "webb::Page");
}

TEST_CASE("errors of AnyValue and AnyModule name the types") {
  torch::nn::AnyValue value(3);
  CHECK_THROWS_WITH(value.get<float>(), "Attempted to cast AnyValue to float, but its actual type is int");
  torch::nn::AnyModule none;
  CHECK_THROWS_WITH(none.get<torch::nn::LinearImpl>(), "Cannot call get() on an empty AnyModule");
  CHECK_THROWS_WITH(none.ptr<torch::nn::LinearImpl>(), "Cannot call ptr() on an empty AnyModule");
  CHECK_THROWS_WITH(none.type_info(), "Cannot call type_info() on an empty AnyModule");
  torch::OrderedDict<std::string, int> empty;
  CHECK_THROWS_WITH(empty.front(), "Called front() on an empty OrderedDict");
  CHECK_THROWS_WITH(empty.back(), "Called back() on an empty OrderedDict");
}

TEST_CASE("the type traits of libtorch give the values of libtorch") {
  static_assert(torch::all_of<>::value && torch::all_of<true, true>::value &&
                !torch::all_of<true, false>::value);
  static_assert(!torch::any_of<>::value && torch::any_of<false, true>::value && torch::none_of<false>::value);
  static_assert(torch::detail::is_module<EncoderImpl&>::value && !torch::detail::is_module<int>::value);
  static_assert(torch::detail::check_not_lvalue_references<int, std::string>());
  static_assert(!torch::detail::check_not_lvalue_references<int, std::string&>());
  static_assert(
      std::is_same_v<torch::detail::return_type_of_forward_t<EncoderImpl, torch::Tensor>, torch::Tensor>);
  static_assert(std::is_same_v<torch::detail::return_type_of_forward_t<EncoderImpl, int, int>, void>);
  std::vector<int> seen;
  torch::apply([&](int x) { seen.push_back(x); }, 1, 2, 3);
  CHECK(seen == std::vector<int>{1, 2, 3});
  CHECK_FALSE(at::hasMAGMA());
}

// The namespaces torch, at and c10: reopened, specialized, and used together.

namespace F = torch::nn::functional;

// Programs add a layer to torch's own namespace like this.
namespace torch {
namespace nn {
struct DoubleImpl : Cloneable<DoubleImpl> {
  void reset() override {}
  Tensor forward(const Tensor& x) { return 2 * x; }
};
TORCH_MODULE(Double);
}  // namespace nn

namespace program {
Tensor three() { return full({1}, 3); }
}  // namespace program
}  // namespace torch

// A user-defined sample type, and a Stack transform for it.
struct Point {
  torch::Tensor place;
  int64_t label = 0;
};

namespace torch::data::transforms {
template <>
struct Stack<Point> : public Collation<Point> {
  Point apply_batch(std::vector<Point> points) override {
    std::vector<torch::Tensor> places;
    int64_t labels = 0;
    for (Point& point : points) places.push_back(point.place), labels += point.label;
    return {torch::stack(places), labels};
  }
};
}  // namespace torch::data::transforms

struct Points : torch::data::datasets::Dataset<Points, Point> {
  Point get(size_t index) override { return {torch::full({2}, static_cast<double>(index)), 1}; }
  torch::optional<size_t> size() const override { return 6; }
};

namespace at::native {
Tensor plus_one(const Tensor& x) { return add(x, 1); }
}  // namespace at::native

TEST_CASE("torch, at and c10 contain aliases of the same types") {
  static_assert(std::is_same_v<torch::Tensor, at::Tensor> &&
                std::is_same_v<torch::Tensor, torch::autograd::Variable>);
  static_assert(std::is_same_v<c10::ScalarType, torch::Dtype> && std::is_same_v<at::Device, c10::Device>);
  static_assert(c10::kFloat == at::kFloat && torch::kFloat32 == at::kFloat &&
                at::kCUDA == c10::DeviceType::CUDA);
  static_assert(std::is_same_v<at::indexing::Slice, torch::indexing::Slice>);
  static_assert(std::is_same_v<c10::Error, torch::Error>);
  static_assert(std::is_same_v<torch::IntArrayRef, at::IntArrayRef> &&
                std::is_same_v<at::Scalar, c10::Scalar>);
  CHECK(at::add(torch::ones(1), at::ones(1)).item<float>() == 2);
}

TEST_CASE("a program can reopen the namespaces of torch") {
  auto chain = torch::nn::Sequential(torch::nn::Double(), torch::nn::ReLU());
  CHECK(chain->forward(torch::program::three()).item<float>() == 6);
  CHECK(at::native::plus_one(torch::zeros(1)).item<float>() == 1);
  CHECK(F::relu(torch::full({1}, -1)).item<float>() == 0);
}

TEST_CASE("a program can specialize templates of torch") {
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      Points().map(torch::data::transforms::Stack<Point>()), 3);
  int64_t batches = 0;
  double sum = 0;
  for (Point& batch : *loader) {
    CHECK(batch.place.sizes() == torch::IntArrayRef{3, 2});
    CHECK(batch.label == 3);
    sum += batch.place.sum().item<double>();
    ++batches;
  }
  CHECK(batches == 2);
  CHECK(sum == 30);
}

TEST_CASE("using namespace torch and at and c10 together compiles") {
  using namespace torch;
  using namespace at;
  using namespace c10;
  nn::Linear layer(2, 3);
  const Tensor x = ones({4, 2}, TensorOptions().dtype(kFloat).device(kCPU));
  CHECK(layer(x).sizes() == IntArrayRef{4, 3});
  CHECK(x.index({indexing::Slice(0, 2), 0}).numel() == 2);
  for (const auto i : irange(2)) CHECK(str(i).size() == 1);
  autograd::Variable leaf = full({1}, 2.0, requires_grad(true));
  leaf.pow(2).backward();
  CHECK(leaf.grad().item<float>() == 4);
  CHECK(cuda::device_count() < 100);
}

// Undocumented libtorch names that programs use, and warnings that they check.

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

/// Records in backward which ranges of inputs need gradients.
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

TEST_CASE("a custom backward can query whether ranges of inputs need gradients") {
  const auto x = torch::ones(1, torch::requires_grad()), y = torch::ones(1);
  Wanted::apply(y, x, y).backward();
  CHECK(Wanted::seen == std::vector<bool>{true, false, false, true});
  Wanted::apply(y, y, x).backward();
  CHECK(Wanted::seen == std::vector<bool>{false, true, false, true});
}

TEST_CASE("make_variable makes a leaf and undefined gradients reach a Function as zeros") {
  const auto data = torch::full({1}, 5.0);
  auto leaf = torch::autograd::make_variable(data, /*requires_grad=*/true);
  CHECK((leaf.is_leaf() && leaf.requires_grad() && !data.requires_grad()));
  CHECK(at::native::is_nonzero(leaf));
  torch::autograd::UndefinedGrad().apply({Zeros::apply(leaf)})[0].backward();
  CHECK(leaf.grad().item<float>() == 3);
}

TEST_CASE("ops exist in at::native and dropout functions in functional::detail") {
  const auto x = torch::arange(6.0).view({2, 3});
  CHECK(torch::equal(at::native::clamp_min(x, 2), x.clamp(2)));
  CHECK(torch::equal(torch::_reshape_alias(x, {3, 2}, {2, 1}), x.view({3, 2})));
  CHECK(torch::equal(F::detail::alpha_dropout(x, 0.5, /*training=*/false, /*inplace=*/false), x));
  CHECK(F::detail::dropout(x, 1, true, false).sum().item<float>() == 0);
}

TEST_CASE("calls that warn in libtorch also warn in ebb") {
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
  x.mutable_grad().reset();  // breaks the reference cycle
}

TEST_CASE("WarnAlways repeats warnings that are otherwise given once") {
  const auto walk = [] { TORCH_WARN_ONCE("the ", 1, "st time"); };
  CHECK(warnings_of("the 1st time", [&] { (walk(), walk()); }) == 1);
  const c10::WarningUtils::WarnAlways always;
  CHECK(warnings_of("the 1st time", [&] { (walk(), walk()); }) == 2);
}

TEST_CASE("an optimizer reads the buffer lists of old files and warns") {
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

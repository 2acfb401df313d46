// The text of sources that Compiled::emit() writes, and its errors. The folder emit compiles and runs
// sources.
#include "support/files.h"
#include "twins.h"

#include <fstream>
#include <sstream>

using namespace twins;
using support::Contains;
using support::temporary;

namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  REQUIRE(file);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Calls the function with these arguments, which may share memory, until it has a tape.
template <class C, class... Args>
void prepare(C& compiled, const Args&... args) {
  for (int i = 0; i < 5 && !compiled.report().replayed; ++i) compiled(args...);
  INFO(compiled.report().reason);
  REQUIRE(compiled.report().replayed);
}

/// Returns the message of the error that emit() throws, or an empty string if it writes a source.
template <class C>
std::string refusal(const C& compiled, const std::string& path = "never.cpp") {
  try {
    compiled.emit(path);
  } catch (const Error& error) {
    CHECK_FALSE(std::filesystem::exists(path));
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("emit throws before the function is replayed") {
  auto f = compile([](const Tensor& x) { return x + 1; });
  CHECK_THAT(refusal(f), Contains("has not been called yet"));
  f(ones({2}));
  CHECK_THAT(refusal(f), Contains("it has not been called twice yet") && Contains("report().replayed"));
  Warnings warnings;
  auto decides = compile([](const Tensor& x) { return x.sum().item<float>() > 0 ? x : -x; });
  for (int i = 0; i < 5; ++i) decides(ones({2}));
  CHECK_THAT(refusal(decides), Contains("reads or writes elements"));
}

TEST_CASE("emit throws for backward, optimizer steps, checks of values and random numbers") {
  const Tensor x = rand({4, 6});
  Training training(perceptron(), [](const auto& p) { return std::make_unique<optim::SGD>(p, 0.1); });
  const Tensor y = randint(3, {4}, kLong);
  auto step = compile([&](const Tensor& a, const Tensor& b) { return training.step(a, b); });
  prepare(step, x, y);
  CHECK_THAT(refusal(step), Contains("autograd::grad()"));

  auto updates = compile([&] { training.optimizer->step(); });
  prepare(updates);
  CHECK_THAT(refusal(updates), Contains("SGD is more than a kernel call"));

  auto checks = compile([](const Tensor& a) { return nn::functional::binary_cross_entropy(a, a); });
  prepare(checks, x);
  CHECK_THAT(refusal(checks), Contains("binary_cross_entropy is more than a kernel call"));

#ifndef EBB_STATIC
  auto drops = compile([](const Tensor& a) { return dropout(a, 0.5, true); });
  prepare(drops, x);
  CHECK_THAT(refusal(drops), Contains("draws random numbers"));
  auto draws = compile([](const Tensor& a) { return a + randn({6}); });
  prepare(draws, x);
  CHECK_THAT(refusal(draws), Contains("draws random numbers"));
#endif
}

TEST_CASE("the emitted class is named after its file") {
  auto f = compile([](const Tensor& x) { return x + 1; });
  prepare(f, ones({2}));
  CHECK_THAT(refusal(f, "step.cc"), Contains("ends with .cpp"));
  CHECK_THAT(refusal(f, temporary(".cpp")), Contains("no class can be named"));
  CHECK_THAT(refusal(f, temporary("2nd.cpp")), Contains("no class can be named"));
#ifdef EBB_STATIC
  CHECK_THAT(refusal(f, temporary("plus.cpp")), Contains("static"));
#else
  CHECK(refusal(f, temporary("plus_one-more.cpp")).empty());
  CHECK_THAT(read(temporary("plus_one-more.h")), Contains("class PlusOneMore {"));
  CHECK_THROWS_WITH(f.emit(temporary("missing/plus.cpp")), Contains("cannot create a temporary file beside"));
#endif
}

#ifndef EBB_STATIC

TEST_CASE("emit writes each kernel call with all its arguments") {
  const Tensor weight = randn({3, 4}), large = arange(40, kDouble);
  auto f = compile([&](const Tensor& x, const Tensor& y, double by) {
    const Tensor bias = tensor({0.5F, -2.0F, 8.0F});
    const Tensor first = nn::functional::leaky_relu(
        x.matmul(weight.t()) + bias, nn::functional::LeakyReLUFuncOptions().negative_slope(by));
    const Tensor second = cat({y, tensor({std::int64_t{7}})}), third = x.clamp(-1, 1).sum(-1);
    const Tensor sum = large.sum(), constants = tensor(std::vector<double>(20, 0.5)).sum();
    const Tensor fourth = sum + constants,
                 fifth = full({2}, std::numeric_limits<double>::infinity(), kDouble);
    return std::make_tuple(first, second, third, fourth, fifth);
  });
  prepare(f, randn({2, 4}), arange(3), 0.1);
  f.emit(temporary("step.cpp"));
  const std::string source = read(temporary("step.cpp")), header = read(temporary("step.h"));
  for (const char* line : {
           "Plan(\"Step\", weights, ",
           "{{kFloat, {2, 4}, {4, 1}, 0, -1, 0}, {kLong, {3}, {1}, 0, -1, 0}}",
           "kernels::product(kCPU, t0, none, x0, w0, ProductArgs{false, false, Scalar(0), Scalar(1)});",
           "kernels::Binary<ops::Add>::slot(kCPU, t1, kFloat, t0, c0, ops::Add{});",
           "kernels::Unary<ops::LeakyRelu>::slot(kCPU, y0, t1, ops::LeakyRelu{{}, 0.1});",
           "kernels::join(kCPU, y1, {x1, c1}, 0);",
           "kernels::Unary<ops::Clamp>::slot(kCPU, t2, x0, ops::Clamp{{}, number(-1.0, -1), number(1.0, 1), "
           "true, true});",
           "kernels::sum(kCPU, y2, t2, 2U, 1.0);",
           "kernels::Binary<ops::Add>::slot(kCPU, y3, kDouble, t3, read(t4), ops::Add{});",
           "kernels::fill(kCPU, y4, Scalar(std::numeric_limits<double>::infinity()));",
           "NdArray x0{argument(0, 32), {2, 4}, {4, 1}, 0, kFloat};",
           "NdArray w0{weight(\"w0\", 48), {4, 3}, {1, 4}, 0, kFloat};",
           "NdArray c0{constant(12, {13835058056339128320U, 1090519040U}), {3}, {1}, 0, kFloat};  // 0.5, "
           "-2, 8",
           "NdArray t2{arena(0, 32), {2, 4}, {4, 1}, 0, kFloat};",
           "NdArray y1{result(32), {4}, {1}, 0, kLong};",
           "return {given(y0), given(y1), given(y2), given(y3), given(y4)};",
       }) {
    INFO(source);
    CHECK_THAT(source, Contains(line));
  }
  for (const char* line :
       {"/// x0: Float [2, 4].\n/// x1: Long [3].\n/// Gives Float [2, 3], Long [4], Float [2], Double [], "
        "Double [2].",
        "explicit Step(const std::string& weights = \"step.safetensors\");",
        "std::tuple<ebb::Tensor, ebb::Tensor, ebb::Tensor, ebb::Tensor, ebb::Tensor> operator()(const "
        "ebb::Tensor& x0, const ebb::Tensor& x1);"}) {
    INFO(header);
    CHECK_THAT(header, Contains(line));
  }
  const safetensors::File weights = safetensors::read(temporary("step.safetensors"));
  REQUIRE(weights.tensors.size() == 3);
  CHECK(weights.at("w0").equal(weight));
  CHECK(weights.at("w1").equal(large));
  CHECK(weights.at("c2").equal(full({20}, 0.5)));
}

TEST_CASE("emit writes no file of weights for a function that reads only its arguments") {
  auto f = compile([](const Tensor& x, const Tensor& none) { return none.defined() ? x : (x * 2).t(); });
  prepare(f, randn({2, 3}), Tensor());
  f.emit(temporary("twice.cpp"));
  CHECK_FALSE(std::filesystem::exists(temporary("twice.safetensors")));
  CHECK_THAT(
      read(temporary("twice.h")),
      Contains("  Twice();") && Contains("/// x1: undefined.\n/// Gives Float [3, 2] with strides [1, 3]."));
  CHECK_THAT(read(temporary("twice.cpp")),
             Contains("{{kFloat, {2, 3}, {3, 1}, 0, -1, 0}, {}}") &&
                 Contains("kernels::Binary<ops::Mul>::slot(kCPU, y0, kFloat, x0, Scalar(2), ops::Mul{});"));
}

TEST_CASE("emit marks arguments that share memory or are written to") {
  auto f = compile([](const Tensor& a, const Tensor& b) { a.add_(b); });
  const Tensor both = randn({6});
  prepare(f, both.slice(0, 2, 4), both.slice(0, 4, 6));
  f.emit(temporary("shared.cpp"));
  CHECK_THAT(read(temporary("shared.cpp")),
             Contains("{{kFloat, {2}, {1}, 2, -1, 1}, {kFloat, {2}, {1}, 4, 0, 0}}") &&
                 Contains("kernels::copy(kCPU, t0, x0);\n    kernels::Binary<ops::Add>::slot(kCPU, x0_1, "
                          "kFloat, x0_1, t0, "
                          "ops::Add{});") &&
                 Contains("NdArray x0{argument(0, 24), {2}, {1}, 4, kFloat};\n  NdArray x0_1{x0.storage(), "
                          "{2}, {1}, 2, kFloat};") &&
                 Contains("  plan_->call({x0, x1});"));
}

TEST_CASE("an emitted source restores constants before each call if its kernels write to them") {
  auto f = compile([](const Tensor& x) { return tensor({1.0F, 2.0F}).add_(x); });
  prepare(f, randn({2}));
  f.emit(temporary("adds.cpp"));
  CHECK_THAT(read(temporary("adds.cpp")),
             Contains("NdArray c0{refilled(constant(8, {4611686019492741120U})), "));
}

TEST_CASE("emit throws if a weight was replaced, and writes the current values of a modified weight") {
  nn::Linear layer(3, 2);
  auto f = compile([&](const Tensor& x) {
    const NoGradGuard no_grad;
    return layer(x);
  });
  const Tensor x = randn({1, 3});
  prepare(f, x);
  layer->weight.set_data(randn({2, 3}));
  CHECK_THAT(refusal(f, temporary("layer.cpp")), Contains("has been replaced"));
  f(x);
  prepare(f, x);
  layer->weight.detach().mul_(2);
  f.emit(temporary("layer.cpp"));
  CHECK(safetensors::read(temporary("layer.safetensors")).at("w1").equal(layer->weight));
}

TEST_CASE(
    "the three emitted files contain the same mark, which depends on the calls but not on the weights") {
  nn::Linear layer(3, 2);
  const auto emitted = [&](const std::function<Tensor(const Tensor&)>& body) {
    auto f = compile(body);
    prepare(f, ones({1, 3}));
    f.emit(temporary("marked.cpp"));
    const std::string mark = safetensors::Reader(temporary("marked.safetensors")).metadata().at("emitted_as");
    CHECK_THAT(read(temporary("marked.h")), Contains("emitted_as = " + mark + "u;"));
    CHECK_THAT(read(temporary("marked.cpp")), Contains("static_assert(Marked::emitted_as == " + mark + "u"));
    CHECK_THAT(read(temporary("marked.cpp")), Contains("Plan(\"Marked\", weights, " + mark + "u, "));
    return mark;
  };
  const auto body = [&](const Tensor& x) {
    const NoGradGuard no_grad;
    return layer(x);
  };
  const std::string mark = emitted(body);
  layer->weight.detach().mul_(2);  // the weights differ, the calls are the same
  CHECK(emitted(body) == mark);
  CHECK(emitted([&](const Tensor& x) { return body(x).relu(); }) != mark);
}

#endif

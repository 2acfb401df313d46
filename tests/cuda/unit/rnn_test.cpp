// Recurrent layers and packed sequences with cuDNN (real or emulated) and ebb's kernels, compared with the
// CPU.
#include <ebb/ebb.h>

#include "cuda/unit/against_cpu.h"
#include "support/catch.h"

#include <functional>
#include <limits>
#include <string>

// Recurrent layers and packed sequences on CUDA: results of the CPU, also in a captured graph.

using namespace ebb;
namespace utils = ebb::nn::utils::rnn;

namespace {

bool close(const Variable& on_device, const Variable& expected) {
  return on_device.device().is_cuda() && allclose(on_device.to(kCPU), expected, 1e-4, 1e-5);
}

template <class Layer>
void compare(Layer here) {
  Layer there(std::dynamic_pointer_cast<typename Layer::ContainedType>(here->clone(Device(kCUDA))));
  const Variable input = rand({5, 3, 2}), lengths = tensor({2, 5, 3}, kLong);
  const auto packed = utils::pack_padded_sequence(input, lengths, false, false);
  const auto moved = packed.cuda();
  CHECK(moved.is_cuda());
  CHECK(moved.batch_sizes().device().is_cpu());
  CHECK(moved.unsorted_indices().device().is_cuda());
  const auto expected = utils::pad_packed_sequence(std::get<0>(here->forward_with_packed_input(packed)));
  const auto got = utils::pad_packed_sequence(std::get<0>(there->forward_with_packed_input(moved)));
  CHECK(close(std::get<0>(got), std::get<0>(expected)));
  CHECK(equal(std::get<1>(got), lengths));
  std::get<0>(expected).sum().backward();
  std::get<0>(got).sum().backward();
  const auto mine = here->parameters(), theirs = there->parameters();
  for (std::size_t i = 0; i < mine.size(); ++i) CHECK(close(theirs[i].grad(), mine[i].grad()));

  const Variable static_input = input.to(kCUDA);
  Variable result;
  cuda::Graph graph;
  NoGradGuard no_grad;
  graph.capture([&] { result = std::get<0>(there->forward(static_input)); });
  static_input.copy_(rand({5, 3, 2}).to(kCUDA));
  graph.replay();
  CHECK(close(result, std::get<0>(here->forward(static_input.to(kCPU)))));
}

}  // namespace

TEST_CASE("recurrent layers on CUDA agree with the CPU") {
  manual_seed(2);
  compare(nn::LSTM(nn::LSTMOptions(2, 3).num_layers(2).bidirectional(true).proj_size(2)));
  compare(nn::GRU(nn::GRUOptions(2, 3).num_layers(2).bidirectional(true)));
  compare(nn::RNN(nn::RNNOptions(2, 3).nonlinearity(kReLU)));
}

// Recurrent layers with cuDNN (real or emulated), compared with the CPU; and cases that use ebb's own
// kernels.

using testing::Deterministic;
using testing::with_and_without_cudnn;

namespace {

enum class Kind { tanh, relu, lstm, gru };

struct Case {
  Kind kind;
  std::int64_t layers = 1;
  bool both_ways = false, packed = false, biases = true;
  std::int64_t projected = 0;
  double dropout = 0;
  std::int64_t steps = 4;
};
const Case kCases[] = {
    {Kind::lstm},
    {Kind::gru},
    {Kind::tanh},
    {Kind::relu},
    {Kind::lstm, 2, true},
    {Kind::gru, 2, true},
    {Kind::tanh, 2, true, true},
    {Kind::lstm, 1, false, true},
    {Kind::gru, 1, true, true},
    {Kind::gru, 1, false, false, false},
    {Kind::lstm, 2, true, true, false},
    {Kind::lstm, 2, true, true, true, 3},
    {Kind::lstm, 1, false, false, false, 2},
};

constexpr std::int64_t kBatch = 3, kFeatures = 3, kHidden = 5;
const std::vector<std::int64_t> kPackedSizes = {3, 2, 1, 1};

using Pair = std::tuple<Variable, Variable>;
using Padded = Pair (*)(const Variable&, const Variable&, TensorList, bool, std::int64_t, double, bool, bool,
                        bool);
using Packed = Pair (*)(const Variable&, const Variable&, const Variable&, TensorList, bool, std::int64_t,
                        double, bool, bool);

// The inputs of a call: rows, initial states, LSTM cells, parameters.
variable_list inputs_of(const Case& c) {
  const std::int64_t directions = c.both_ways ? 2 : 1, out = c.projected > 0 ? c.projected : kHidden,
                     gates = c.kind == Kind::lstm  ? 4
                             : c.kind == Kind::gru ? 3
                                                   : 1;
  variable_list all;
  const auto add = [&](const DimVector& sizes) { all.push_back(randn(sizes, kDouble) * 0.5); };
  add(c.packed ? DimVector{7, kFeatures} : DimVector{c.steps, kBatch, kFeatures});
  add({c.layers * directions, kBatch, out});
  if (c.kind == Kind::lstm) add({c.layers * directions, kBatch, kHidden});
  for (std::int64_t pass = 0; pass < c.layers * directions; ++pass) {
    add({gates * kHidden, pass < directions ? kFeatures : directions * out});
    add({gates * kHidden, out});
    for (int i = 0; c.biases && i < 2; ++i) add({gates * kHidden});
    if (c.projected > 0) add({out, kHidden});
  }
  return all;
}

// All hidden states and the final ones.
variable_list run(const Case& c, const variable_list& in) {
  const Tensor sizes = tensor(kPackedSizes, kLong);
  if (c.kind == Kind::lstm) {
    const variable_list state = {in[1], in[2]}, params(in.begin() + 3, in.end());
    const auto [y, h, last] =
        c.packed ? lstm(in[0], sizes, state, params, c.biases, c.layers, c.dropout, true, c.both_ways)
                 : lstm(in[0], state, params, c.biases, c.layers, c.dropout, true, c.both_ways, false);
    return {y, h, last};
  }
  const auto op = [&]<class F>(F) {
    return c.kind == Kind::gru ? F(gru) : c.kind == Kind::tanh ? F(rnn_tanh) : F(rnn_relu);
  };
  const variable_list params(in.begin() + 2, in.end());
  const auto [y, h] =
      c.packed ? op(Packed())(in[0], sizes, in[1], params, c.biases, c.layers, c.dropout, true, c.both_ways)
               : op(Padded())(in[0], in[1], params, c.biases, c.layers, c.dropout, true, c.both_ways, false);
  return {y, h};
}

variable_list leaves(const variable_list& values, TensorOptions where) {
  variable_list out;
  for (const Tensor& x : values) out.push_back(x.to(where).detach().requires_grad_());
  return out;
}

// A scalar that depends on every result, with weights that are the same in all dtypes.
Tensor mixed(const variable_list& results) {
  Tensor sum;
  for (const Tensor& y : results) {
    const Tensor weights = (arange(y.numel(), y.options()).remainder(11) - 5) * 0.125;
    const Tensor term = (y * weights.view(y.sizes())).sum();
    sum = sum.defined() ? sum + term : term;
  }
  return sum;
}

// Results and the gradients of all inputs; `between` runs after the forward pass.
variable_list all_of(
    const Case& c, const variable_list& values, TensorOptions where,
    const std::function<void()>& between = [] {}) {
  const variable_list in = leaves(values, where);
  variable_list all = run(c, in);
  between();
  for (const Tensor& g : autograd::grad({mixed(all)}, in)) all.push_back(g);
  return all;
}

double tolerance_of(DType dtype) {
  switch (dtype) {
    case kDouble:
      return 1e-10;
    case kHalf:
      return 1e-2;
    case kBFloat16:
      return 8e-2;
    default:
      return 2e-5;
  }
}

void check_close(const variable_list& got, const variable_list& expected, DType dtype) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("result " << i);
    CHECK(got[i].dtype() == dtype);
    const double tolerance = tolerance_of(dtype);
    CHECK(allclose(got[i].cpu().to(kDouble), expected[i].cpu().to(kDouble), tolerance, tolerance));
  }
}

// Whether the graph of a result contains cuDNN's node.
bool is_by_library(const Tensor& y) {
  const std::function<bool(const Ref<autograd::Node>&)> found = [&](const Ref<autograd::Node>& node) {
    if (!node) return false;
    if (node->name() == "CudnnRnnBackward0") return true;
    for (const autograd::Edge& edge : node->next_edges())
      if (found(edge.function)) return true;
    return false;
  };
  return found(y.grad_fn());
}

bool takes_part(const Case& c) { return c.kind != Kind::relu && c.steps > 1 && cuda::cudnn_is_available(); }

struct EnableAgain {
  ~EnableAgain() { cuda::enable_cudnn(true); }
};

}  // namespace

TEST_CASE("recurrent layers agree with the CPU with and without cuDNN") {
  manual_seed(41);
  for (const Case& c : kCases)
    for (const DType dtype : {kDouble, kFloat, kHalf, kBFloat16}) {
      INFO("case " << &c - kCases << " in " << dtype);
      variable_list values;
      for (const Tensor& x : inputs_of(c)) values.push_back(x.to(dtype));
      const variable_list expected = all_of(c, values, TensorOptions(kDouble));
      with_and_without_cudnn(
          [&] { check_close(all_of(c, values, TensorOptions(dtype).device(kCUDA)), expected, dtype); });
    }
}

TEST_CASE("supported recurrent layers run with cuDNN") {
  manual_seed(42);
  const TensorOptions there = TensorOptions(kFloat).device(kCUDA);
  const auto is_taken = [&](const Case& c) { return is_by_library(run(c, leaves(inputs_of(c), there))[0]); };
  for (const Case& c : kCases) {
    INFO("case " << &c - kCases);
    with_and_without_cudnn([&] { CHECK(is_taken(c) == (takes_part(c) && cuda::is_cudnn_enabled())); });
  }
  Case c{Kind::lstm};
  c.steps = 1;
  CHECK_FALSE(is_taken(c));
  c.steps = 2;
  CHECK(is_taken(c) == takes_part(c));
  c.projected = kHidden;  // cuDNN would treat this as no projection
  CHECK_FALSE(is_taken(c));
  const Deterministic guard;
  CHECK_FALSE(is_taken(kCases[0]));
}

TEST_CASE("recurrent layers with cuDNN are correct without gradients") {
  manual_seed(43);
  const NoGradGuard no_grad;
  for (const Case& c : kCases) {
    const variable_list values = inputs_of(c), expected = run(c, values);
    variable_list there;
    for (const Tensor& x : values) there.push_back(x.to(TensorOptions(kFloat).device(kCUDA)));
    with_and_without_cudnn([&] { check_close(run(c, there), expected, kFloat); });
  }
}

TEST_CASE("recurrent layers work if only one of forward and backward uses cuDNN") {
  const EnableAgain guard;
  manual_seed(44);
  for (const bool first : {true, false})
    for (const Case& c : kCases) {
      INFO("case " << &c - kCases);
      const variable_list values = inputs_of(c);
      cuda::enable_cudnn(first);
      const variable_list got =
          all_of(c, values, TensorOptions(kFloat).device(kCUDA), [&] { cuda::enable_cudnn(!first); });
      check_close(got, all_of(c, values, TensorOptions(kDouble)), kFloat);
    }
}

TEST_CASE("recurrent layers with cuDNN give repeatable gradients and only the requested ones") {
  manual_seed(45);
  for (const Case& c : {kCases[0], kCases[5], kCases[11]}) {
    const variable_list values = inputs_of(c), here = leaves(values, TensorOptions(kDouble));
    const variable_list there = leaves(values, TensorOptions(kFloat).device(kCUDA));
    const variable_list expected = run(c, here), got = run(c, there);
    const variable_list once = autograd::grad({mixed(got)}, there, {}, true),
                        again = autograd::grad({mixed(got)}, there, {}, true);
    for (std::size_t i = 0; i < once.size(); ++i) CHECK(allclose(once[i].cpu(), again[i].cpu(), 1e-6, 1e-6));
    // The gradient of one result with respect to one input; the other gradients are undefined.
    for (std::size_t result = 0; result < got.size(); ++result)
      for (std::size_t i = 0; i < there.size(); ++i) {
        INFO("result " << result << " by input " << i);
        const auto slope = [&](const variable_list& of, const variable_list& by) {
          return autograd::grad({mixed({of[result]})}, {by[i]}, {}, true)[0];
        };
        check_close({slope(got, there)}, {slope(expected, here)}, kFloat);
      }
    // The same if the other inputs do not require gradients.
    for (std::size_t i = 0; i < values.size(); ++i) {
      variable_list alone;
      for (const Tensor& x : there) alone.push_back(x.detach());
      alone[i].requires_grad_();
      check_close(autograd::grad({mixed(run(c, alone))}, {alone[i]}), {once[i]}, kFloat);
    }
  }
}

TEST_CASE("recurrent layers with cuDNN handle misaligned arrays") {
  manual_seed(51);
  for (const Case& c : {kCases[0], kCases[4], kCases[8]}) {
    const variable_list values = inputs_of(c), here = leaves(values, TensorOptions(kDouble));
    const variable_list there = leaves(values, TensorOptions(kFloat).device(kCUDA));
    variable_list shifted;  // one element after the start of an allocation
    for (const Tensor& x : there)
      shifted.push_back(cat({zeros({1}, x.options()), x.flatten()}).slice(0, 1).view(x.sizes()));
    const Tensor seed = randn({1000}, kDouble);
    const auto slopes = [&](const variable_list& in, const variable_list& by) {
      const Tensor y = run(c, in)[0];
      return autograd::grad({y}, by, {seed.to(y.options()).slice(0, 1, 1 + y.numel()).view(y.sizes())});
    };
    check_close(slopes(shifted, there), slopes(here, here), kFloat);
  }
}

TEST_CASE("second derivatives of recurrent layers agree with the CPU with and without cuDNN") {
  manual_seed(46);
  const auto second = [](const Case& c, const variable_list& values, TensorOptions where) {
    const variable_list in = leaves(values, where);
    const variable_list slopes = autograd::grad({mixed(run(c, in))}, in, {}, true, true);
    variable_list squares;
    for (const Tensor& g : slopes) squares.push_back(g * g);
    return autograd::grad({mixed(squares)}, in);
  };
  for (const Case& c : {kCases[0], kCases[1], kCases[6], kCases[11]}) {
    const variable_list values = inputs_of(c), expected = second(c, values, TensorOptions(kDouble));
    with_and_without_cudnn(
        [&] { check_close(second(c, values, TensorOptions(kDouble).device(kCUDA)), expected, kDouble); });
  }
}

TEST_CASE("dropout between recurrent layers is equal with and without cuDNN") {
  const EnableAgain guard;
  manual_seed(47);
  Case c{Kind::lstm, 3, true};
  c.dropout = 0.5;
  const variable_list values = inputs_of(c);
  const auto step = [&](bool on) {
    cuda::enable_cudnn(on);
    manual_seed(48);
    return all_of(c, values, TensorOptions(kFloat).device(kCUDA));
  };
  check_close(step(true), step(false), kFloat);
}

TEST_CASE("captured recurrent layers agree with the CPU with and without cuDNN") {
  manual_seed(49);
  for (const Case& c : {kCases[0], kCases[5], kCases[6]})
    with_and_without_cudnn([&] {
      const variable_list in = leaves(inputs_of(c), TensorOptions(kFloat).device(kCUDA));
      variable_list got;
      bool by_library = false;
      const auto step = [&] {
        got = run(c, in);
        by_library = is_by_library(got[0]);
        for (const Tensor& g : autograd::grad({mixed(got)}, in)) got.push_back(g);
      };
      step();
      cuda::Graph graph;
      graph.capture(step);
      CHECK(by_library == (takes_part(c) && !c.packed && cuda::is_cudnn_enabled()));
      const Tensor other = randn(in[0].sizes(), kDouble);
      {
        const NoGradGuard no_grad;
        Tensor(in[0]).copy_(other);
      }
      graph.replay();
      graph.replay();
      variable_list values = inputs_of(c);
      for (std::size_t i = 0; i < in.size(); ++i) values[i] = in[i].detach().cpu();
      check_close(got, all_of(c, values, TensorOptions(kDouble)), kFloat);
    });
}

TEST_CASE("NaN passes through recurrent layers with and without cuDNN") {
  manual_seed(50);
  for (const Case& c : {kCases[0], kCases[1], kCases[2], kCases[3]})
    with_and_without_cudnn([&] {
      INFO("case " << static_cast<int>(c.kind));
      const NoGradGuard no_grad;
      variable_list in;
      for (const Tensor& x : inputs_of(c)) in.push_back(x.to(TensorOptions(kFloat).device(kCUDA)));
      in[0][1][0][0].fill_(std::numeric_limits<double>::quiet_NaN());
      const Tensor bad = run(c, in)[0].isnan().cpu();
      CHECK_FALSE(bad[0].any().item<bool>());
      CHECK(bad.slice(0, 1).select(1, 0).all().item<bool>());
      CHECK_FALSE(bad.slice(0, 1).slice(1, 1).any().item<bool>());
    });
}

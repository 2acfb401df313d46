// Elementwise ops, activations, reductions and cumulative sums.
#include "onnx/call.h"

// Elementwise arithmetic, comparison and logic.

namespace onnx {
namespace {

Op unary(Tensor (*f)(const Tensor&)) {
  return [f](const Call& c) { return Tensors{f(c[0])}; };
}
Op binary(Tensor (*f)(const Tensor&, const Tensor&)) {
  return [f](const Call& c) { return Tensors{f(c[0], c[1])}; };
}
// Folds any number of operands from the left.
Op fold(Tensor (*f)(const Tensor&, const Tensor&)) {
  return [f](const Call& c) {
    Tensor result = c[0];
    for (std::size_t i = 1; i < c.inputs().size(); ++i) result = f(result, c[i]);
    return Tensors{result};
  };
}
Tensor plus(const Tensor& a, const Tensor& b) { return ebb::add(a, b); }
Tensor minus(const Tensor& a, const Tensor& b) { return ebb::sub(a, b); }

Tensors divide(const Call& c) {
  return {c[0].is_floating_point() ? ebb::div(c[0], c[1]) : ebb::div(c[0], c[1], "trunc")};
}
// The result has the dtype of the base; ebb would promote.
Tensors power(const Call& c) { return {ebb::pow(c[0], c[1]).to(c[0].dtype())}; }
Tensors modulo(const Call& c) {
  return {c.integer("fmod", 0) ? ebb::fmod(c[0], c[1]) : ebb::remainder(c[0], c[1])};
}
Tensors mean(const Call& c) { return {ebb::stack(ebb::broadcast_tensors(c.inputs())).mean(0)}; }
Tensors clip(const Call& c) {
  return {c.has(1) || c.has(2) ? ebb::clamp(c[0], c.maybe(1), c.maybe(2)) : c[0]};
}
Tensors is_infinite(const Call& c) {
  const bool positive = c.integer("detect_positive", 1), negative = c.integer("detect_negative", 1);
  return {positive && negative ? ebb::isinf(c[0]) : positive ? ebb::isposinf(c[0]) : ebb::isneginf(c[0])};
}
Tensors shift(const Call& c) {
  return {c.text("direction", "") == "LEFT" ? ebb::bitwise_left_shift(c[0], c[1])
                                            : ebb::bitwise_right_shift(c[0], c[1])};
}

}  // namespace

void add_elementwise(Ops& ops) {
  const std::pair<const char*, Tensor (*)(const Tensor&)> unaries[] = {
      {"Abs", ebb::abs},     {"Acos", ebb::acos},       {"Acosh", ebb::acosh},
      {"Asin", ebb::asin},   {"Asinh", ebb::asinh},     {"Atan", ebb::atan},
      {"Atanh", ebb::atanh}, {"Ceil", ebb::ceil},       {"Cos", ebb::cos},
      {"Cosh", ebb::cosh},   {"Erf", ebb::erf},         {"Exp", ebb::exp},
      {"Floor", ebb::floor}, {"IsNaN", ebb::isnan},     {"Log", ebb::log},
      {"Neg", ebb::neg},     {"Not", ebb::logical_not}, {"Reciprocal", ebb::reciprocal},
      {"Round", ebb::round}, {"Sigmoid", ebb::sigmoid}, {"Sign", ebb::sign},
      {"Sin", ebb::sin},     {"Sinh", ebb::sinh},       {"Sqrt", ebb::sqrt},
      {"Tan", ebb::tan},     {"Tanh", ebb::tanh}};
  for (const auto& [name, f] : unaries) ops[name] = unary(f);
  const std::pair<const char*, Tensor (*)(const Tensor&, const Tensor&)> binaries[] = {
      {"Add", plus},
      {"Sub", minus},
      {"Mul", ebb::mul},
      {"And", ebb::logical_and},
      {"Or", ebb::logical_or},
      {"Xor", ebb::logical_xor},
      {"Equal", ebb::eq},
      {"Greater", ebb::gt},
      {"GreaterOrEqual", ebb::ge},
      {"Less", ebb::lt},
      {"LessOrEqual", ebb::le}};
  for (const auto& [name, f] : binaries) ops[name] = binary(f);
  ops["Max"] = fold(ebb::maximum);
  ops["Min"] = fold(ebb::minimum);
  ops["Sum"] = fold(plus);
  ops["Mean"] = mean;
  ops["Div"] = divide;
  ops["Pow"] = power;
  ops["Mod"] = modulo;
  ops["Clip"] = clip;
  ops["IsInf"] = is_infinite;
  ops["BitShift"] = shift;
  ops["Where"] = [](const Call& c) { return Tensors{ebb::where(c[0], c[1], c[2])}; };
}

// Activation functions and softmax.

namespace {

Tensors hard_sigmoid(const Call& c) {
  return {ebb::clamp(c[0] * c.real("alpha", 0.2) + c.real("beta", 0.5), 0, 1)};
}
Tensors shrink(const Call& c) {
  const double lambd = c.real("lambd", 0.5), bias = c.real("bias", 0);
  if (bias == 0) return {ebb::hardshrink(c[0], lambd)};
  EBB_CHECK(bias == lambd, "Shrink: ebb has it only with the bias 0 or lambd.");
  return {ebb::softshrink(c[0], lambd)};
}
Tensors prelu(const Call& c) {
  // The weight of ebb's prelu has one element, or one per channel; the weight of ONNX broadcasts.
  return {c[1].numel() == 1 ? ebb::prelu(c[0], c[1].flatten()) : ebb::where(c[0] > 0, c[0], c[0] * c[1])};
}
Tensors hard_max(const Call& c) {
  const std::int64_t axis = wrap(c.integer("axis", -1), c[0].dim());
  return {ebb::one_hot(ebb::argmax(c[0], axis), c[0].size(axis)).movedim(-1, axis).to(c[0].dtype())};
}
// Before opset 13, the dimensions from the axis on were flattened to one.
void check_softmax(const Call& c) { EBB_CHECK(c.opset() >= 13, "Softmax: of opset ", c.opset()); }

}  // namespace

void add_activation(Ops& ops) {
  ops["Relu"] = [](const Call& c) { return Tensors{ebb::relu(c[0])}; };
  ops["LeakyRelu"] = [](const Call& c) { return Tensors{ebb::leaky_relu(c[0], c.real("alpha", 0.01))}; };
  ops["PRelu"] = prelu;
  ops["ThresholdedRelu"] = [](const Call& c) { return Tensors{ebb::threshold(c[0], c.real("alpha", 1), 0)}; };
  ops["Elu"] = [](const Call& c) { return Tensors{ebb::elu(c[0], c.real("alpha", 1))}; };
  ops["Celu"] = [](const Call& c) { return Tensors{ebb::celu(c[0], c.real("alpha", 1))}; };
  ops["Selu"] = [](const Call& c) {
    if (!c.has("alpha") && !c.has("gamma")) return Tensors{ebb::selu(c[0])};
    return Tensors{ebb::elu(c[0], c.real("alpha", 1.67326319), c.real("gamma", 1.05070102))};
  };
  ops["HardSigmoid"] = hard_sigmoid;
  ops["HardSwish"] = [](const Call& c) { return Tensors{ebb::hardswish(c[0])}; };
  ops["Shrink"] = shrink;
  ops["Softplus"] = [](const Call& c) { return Tensors{ebb::softplus(c[0])}; };
  ops["Softsign"] = [](const Call& c) { return Tensors{ebb::softsign(c[0])}; };
  ops["Softmax"] = [](const Call& c) {
    return check_softmax(c), Tensors{ebb::softmax(c[0], c.integer("axis", -1))};
  };
  ops["LogSoftmax"] = [](const Call& c) {
    return check_softmax(c), Tensors{ebb::log_softmax(c[0], c.integer("axis", -1))};
  };
  ops["Hardmax"] = hard_max;
}

// Reductions, cumulative sums, and selections by size.

namespace {

using Reduction = Tensor (*)(const Tensor& x, const Ints& axes, bool keepdims);

// The axes are an attribute, or an input in newer opsets; no axes means all axes.
Op reduction(Reduction f) {
  return [f](const Call& c) {
    Ints axes = c.has(1) ? c.numbers(1) : c.integers("axes", {});
    const bool keepdims = c.integer("keepdims", 1);
    if (c.integer("noop_with_empty_axes", 0) && axes.empty()) return Tensors{c[0]};
    if (axes.empty())
      for (std::int64_t d = 0; d < c[0].dim(); ++d) axes.push_back(d);
    return Tensors{f(c[0], axes, keepdims)};
  };
}

Tensor sum(const Tensor& x, const Ints& axes, bool keepdims) {
  return ebb::sum(x, axes, keepdims, x.dtype());
}

// ebb's prod reduces one dimension per call.
Tensor prod(const Tensor& x, const Ints& axes, bool keepdims) {
  Tensor result = x;
  for (const std::int64_t axis : axes) result = ebb::prod(result, axis, true);
  return keepdims ? result : ebb::sum(result, axes);
}

Tensors arg_extremum(const Call& c, Tensor (*f)(const Tensor&, ebb::optional<std::int64_t>, bool)) {
  const std::int64_t axis = c.integer("axis", 0);
  const bool keepdims = c.integer("keepdims", 1);
  if (!c.integer("select_last_index", 0)) return {f(c[0], axis, keepdims)};
  return {c[0].size(axis) - 1 - f(ebb::flip(c[0], axis), axis, keepdims)};
}

Tensors cumsum(const Call& c) {
  const std::int64_t axis = wrap(c.numbers(1).at(0), c[0].dim());
  const bool reverse = c.integer("reverse", 0), exclusive = c.integer("exclusive", 0);
  const Tensor x = reverse ? ebb::flip(c[0], axis) : c[0];
  Tensor y = ebb::cumsum(x, axis);
  if (exclusive) y = y - x;
  return {reverse ? ebb::flip(y, axis) : y};
}

Tensors topk(const Call& c) {
  const auto [values, indices] = ebb::topk(c[0], c.numbers(1).at(0), c.integer("axis", -1),
                                           c.integer("largest", 1) != 0, c.integer("sorted", 1) != 0);
  return {values, indices};
}

// ebb does not return the index of the first occurrence; it is the smallest index among the occurrences of a
// value.
Tensors unique(const Call& c) {
  EBB_CHECK(c.integer("sorted", 1), "Unique: ebb always sorts.");
  const bool along = c.has("axis");
  const std::int64_t axis = c.integer("axis", 0);
  const auto [values, inverse, counts] =
      along ? ebb::unique_dim(c[0], axis, true, true, true) : ebb::_unique2(c[0], true, true, true);
  const std::int64_t n = inverse.numel();
  const Tensor first = ebb::scatter_reduce(ebb::full({counts.numel()}, n, ebb::kLong), 0, inverse.flatten(),
                                           ebb::arange(n, ebb::kLong), "amin");
  return {values, first, inverse.flatten(), counts};
}

}  // namespace

void add_reduce(Ops& ops) {
  ops["ReduceSum"] = reduction(sum);
  ops["ReduceMean"] =
      reduction([](const Tensor& x, const Ints& axes, bool k) { return ebb::mean(x, axes, k); });
  ops["ReduceProd"] = reduction(prod);
  ops["ReduceMax"] =
      reduction([](const Tensor& x, const Ints& axes, bool k) { return ebb::amax(x, axes, k); });
  ops["ReduceMin"] =
      reduction([](const Tensor& x, const Ints& axes, bool k) { return ebb::amin(x, axes, k); });
  ops["ReduceL1"] =
      reduction([](const Tensor& x, const Ints& a, bool k) { return ebb::linalg_vector_norm(x, 1, a, k); });
  ops["ReduceL2"] =
      reduction([](const Tensor& x, const Ints& a, bool k) { return ebb::linalg_vector_norm(x, 2, a, k); });
  ops["ReduceLogSum"] =
      reduction([](const Tensor& x, const Ints& axes, bool k) { return ebb::log(sum(x, axes, k)); });
  ops["ReduceLogSumExp"] =
      reduction([](const Tensor& x, const Ints& axes, bool k) { return ebb::logsumexp(x, axes, k); });
  ops["ReduceSumSquare"] =
      reduction([](const Tensor& x, const Ints& axes, bool k) { return sum(ebb::square(x), axes, k); });
  ops["ArgMax"] = [](const Call& c) { return arg_extremum(c, ebb::argmax); };
  ops["ArgMin"] = [](const Call& c) { return arg_extremum(c, ebb::argmin); };
  ops["CumSum"] = cumsum;
  ops["TopK"] = topk;
  ops["Unique"] = unique;
}

}  // namespace onnx

// Elementwise arithmetic, comparison and logic.
#include "onnx/call.h"

namespace onnx {
namespace {

Op unary(Tensor (*f)(const Tensor&)) {
  return [f](const Call& c) { return Tensors{f(c[0])}; };
}
Op binary(Tensor (*f)(const Tensor&, const Tensor&)) {
  return [f](const Call& c) { return Tensors{f(c[0], c[1])}; };
}
// Of any number of operands, from the left.
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
// The result has the base's type, which ebb would promote.
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

}  // namespace onnx

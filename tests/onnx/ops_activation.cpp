// Activation functions and softmax.
#include "onnx/call.h"

namespace onnx {
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
  // ebb's weight is one number, or one a channel; ONNX broadcasts it.
  return {c[1].numel() == 1 ? ebb::prelu(c[0], c[1].flatten()) : ebb::where(c[0] > 0, c[0], c[0] * c[1])};
}
Tensors hard_max(const Call& c) {
  const std::int64_t axis = wrap(c.integer("axis", -1), c[0].dim());
  return {ebb::one_hot(ebb::argmax(c[0], axis), c[0].size(axis)).movedim(-1, axis).to(c[0].dtype())};
}
// Before opset 13 the dimensions from the axis on were one.
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

}  // namespace onnx

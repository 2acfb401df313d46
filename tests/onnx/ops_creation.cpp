// Constants, ranges and conversions.
#include "onnx/call.h"

namespace onnx {
namespace {

Tensors constant(const Call& c) {
  if (c.has("value_int")) return {ebb::scalar_tensor(c.integer("value_int", 0), ebb::kLong)};
  if (c.has("value_ints")) return {ebb::tensor(c.integers("value_ints", {}), ebb::kLong)};
  if (c.has("value_float")) return {ebb::scalar_tensor(c.real("value_float", 0), ebb::kFloat)};
  return {c.tensor("value")};
}

Tensors constant_of_shape(const Call& c) {
  const Tensor value = c.has("value") ? c.tensor("value") : ebb::zeros({1});
  return {ebb::full(c.numbers(0), value.item(), value.dtype())};
}

Tensors eye_like(const Call& c) {
  const ebb::DType dtype = c.has("dtype") ? dtype_of(c.integer("dtype", 0)) : c[0].dtype();
  const std::int64_t k = c.integer("k", 0);
  if (k == 0) return {ebb::eye(c[0].size(0), c[0].size(1), dtype)};
  return {ebb::tril(ebb::triu(ebb::ones(c[0].sizes(), dtype), k), k)};
}

Tensors range(const Call& c) { return {ebb::arange(c[0].item(), c[1].item(), c[2].item(), c[0].dtype())}; }

// In evaluation the identity; nothing is random where nothing is dropped.
Tensors dropout(const Call& c) {
  c.ignore("seed");
  const double ratio = c.has(1) ? c[1].item<double>() : c.real("ratio", 0.5);
  const bool training = c.has(2) && c[2].item<bool>();
  EBB_CHECK(!training || ratio == 0, "Dropout: what is dropped is random.");
  return {ebb::dropout(c[0], ratio, training), ebb::ones(c[0].sizes(), ebb::kBool)};
}

}  // namespace

void add_creation(Ops& ops) {
  ops["Constant"] = constant;
  ops["ConstantOfShape"] = constant_of_shape;
  ops["EyeLike"] = eye_like;
  ops["Range"] = range;
  ops["Cast"] = [](const Call& c) { return Tensors{c[0].to(dtype_of(c.integer("to", 0)))}; };
  ops["CastLike"] = [](const Call& c) { return Tensors{c[0].to(c[1].dtype())}; };
  ops["Dropout"] = dropout;
}

}  // namespace onnx

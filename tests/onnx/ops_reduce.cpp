// Reductions, running sums, and selections by size.
#include "onnx/call.h"

namespace onnx {
namespace {

using Reduction = Tensor (*)(const Tensor& x, const Ints& axes, bool keepdims);

// The axes are an attribute, or in newer opsets an input; none stands for all.
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

// ebb multiplies along one dimension at a time.
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

// ebb does not say where each value first stood; the smallest place among its occurrences is that.
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

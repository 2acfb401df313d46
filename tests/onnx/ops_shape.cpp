// Ops that give the same elements another shape, or part of them.
#include "onnx/call.h"

namespace onnx {
namespace {

// An attribute in older opsets, an input in newer ones.
Ints axes_of(const Call& c) { return c.has(1) ? c.numbers(1) : c.integers("axes", {}); }

Tensors reshape(const Call& c) {
  Ints shape = c.numbers(1);
  if (!c.integer("allowzero", 0))
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (shape[d] == 0) shape[d] = c[0].size(static_cast<std::int64_t>(d));  // 0 keeps the size
  return {ebb::reshape(c[0], shape)};
}

Tensors flatten(const Call& c) {
  const std::int64_t axis = wrap(c.integer("axis", 1), c[0].dim());
  std::int64_t rows = 1, columns = 1;
  for (std::int64_t d = 0; d < c[0].dim(); ++d) (d < axis ? rows : columns) *= c[0].size(d);
  return {ebb::reshape(c[0], {rows, columns})};
}

Tensors squeeze(const Call& c) {
  Ints axes = axes_of(c);
  if (axes.empty()) return {ebb::squeeze(c[0])};
  for (std::int64_t& axis : axes) axis = wrap(axis, c[0].dim());
  std::sort(axes.rbegin(), axes.rend());
  Tensor x = c[0];
  for (const std::int64_t axis : axes) x = ebb::squeeze(x, axis);
  return {x};
}

// The axes are places in the result, in any order.
Tensors unsqueeze(const Call& c) {
  Ints axes = axes_of(c);
  for (std::int64_t& axis : axes) axis = wrap(axis, c[0].dim() + static_cast<std::int64_t>(axes.size()));
  std::sort(axes.begin(), axes.end());
  Tensor x = c[0];
  for (const std::int64_t axis : axes) x = ebb::unsqueeze(x, axis);
  return {x};
}

Tensors transpose(const Call& c) {
  return {c.has("perm") ? ebb::permute(c[0], c.integers("perm", {})) : ebb::numpy_T(c[0])};
}

// Both shapes broadcast, unlike in ebb's expand.
Tensors expand(const Call& c) {
  return {ebb::broadcast_tensors({c[0], ebb::empty(c.numbers(1), c[0].dtype())})[0]};
}

Tensors split(const Call& c) {
  const std::int64_t axis = c.integer("axis", 0);
  if (c.has(1)) return ebb::split(c[0], c.numbers(1), axis);
  return ebb::split(c[0], c[0].size(axis) / static_cast<std::int64_t>(c.outputs()), axis);
}

// A negative step runs from start down to end, exclusive: that is, over the flipped dimension, from the
// mirrored start.
Tensor slice_one(const Tensor& x, std::int64_t axis, std::int64_t start, std::int64_t end,
                 std::int64_t step) {
  if (step > 0) return ebb::slice(x, axis, start, end, step);
  const std::int64_t size = x.size(axis);
  const auto mirrored = [&](std::int64_t place) {
    const std::int64_t i = std::clamp(wrap(place, size), std::int64_t{-1}, size - 1);
    return size - 1 - i;
  };
  return ebb::slice(ebb::flip(x, axis), axis, mirrored(start), mirrored(end), -step);
}

Tensors slice(const Call& c) {
  const Ints starts = c.numbers(1), ends = c.numbers(2);
  Ints axes, steps(starts.size(), 1);
  if (c.has(4)) steps = c.numbers(4);
  if (c.has(3))
    axes = c.numbers(3);
  else
    for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  Tensor x = c[0];
  for (std::size_t i = 0; i < starts.size(); ++i)
    x = slice_one(x, axes.at(i), starts[i], ends.at(i), steps.at(i));
  return {x};
}

Tensors shape(const Call& c) {
  const auto sizes = c[0].sizes();
  const auto rank = static_cast<std::int64_t>(sizes.size());
  const auto place = [&](std::int64_t axis) { return std::clamp(wrap(axis, rank), std::int64_t{0}, rank); };
  const std::int64_t start = place(c.integer("start", 0)), end = place(c.integer("end", rank));
  return {ebb::tensor(sizes.vec(), ebb::kLong).slice(0, start, std::max(start, end))};
}

}  // namespace

void add_shape(Ops& ops) {
  ops["Identity"] = [](const Call& c) { return Tensors{c[0]}; };
  ops["Reshape"] = reshape;
  ops["Flatten"] = flatten;
  ops["Squeeze"] = squeeze;
  ops["Unsqueeze"] = unsqueeze;
  ops["Transpose"] = transpose;
  ops["Expand"] = expand;
  ops["Split"] = split;
  ops["Slice"] = slice;
  ops["Shape"] = shape;
  ops["Size"] = [](const Call& c) { return Tensors{ebb::scalar_tensor(c[0].numel(), ebb::kLong)}; };
}

}  // namespace onnx

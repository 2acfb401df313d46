// Reading and writing elements named by index tensors.
#include "onnx/call.h"

namespace onnx {
namespace {

using Index = std::vector<ebb::optional<Tensor>>;

// The last dimension of the indices names a place in the first dimensions of x.
Index index_nd(const Tensor& indices) {
  Index index;
  for (const Tensor& one : ebb::unbind(indices, -1)) index.emplace_back(one);
  return index;
}

Tensors gather(const Call& c) {
  const std::int64_t axis = wrap(c.integer("axis", 0), c[0].dim());
  Index index(static_cast<std::size_t>(axis));
  index.emplace_back(c[1]);
  return {ebb::index(c[0], index)};
}

Tensors gather_elements(const Call& c) {
  const std::int64_t axis = c.integer("axis", 0);
  return {ebb::gather(c[0], axis, wrap_indices(c[1], c[0].size(axis)))};
}

Tensor gather_nd(const Tensor& x, const Tensor& indices, std::int64_t batch_dims) {
  if (batch_dims == 0) return ebb::index(x, index_nd(indices));
  Tensors results;
  for (std::int64_t i = 0; i < x.size(0); ++i)
    results.push_back(gather_nd(x.select(0, i), indices.select(0, i), batch_dims - 1));
  return ebb::stack(results);
}

Tensors scatter_elements(const Call& c) {
  const std::int64_t axis = c.integer("axis", 0);
  const Tensor index = wrap_indices(c[1], c[0].size(axis));
  const std::string reduction = c.text("reduction", "none");
  if (reduction == "none") return {ebb::scatter(c[0], axis, index, c[2])};
  return {ebb::scatter(c[0], axis, index, c[2], reduction == "mul" ? "multiply" : reduction)};
}

Tensors scatter_nd(const Call& c) {
  const Index index = index_nd(c[1]);
  const std::string reduction = c.text("reduction", "none");
  if (reduction != "mul") return {ebb::index_put(c[0], index, c[2], reduction == "add")};
  Tensor x = c[0].clone();  // place by place, since one may be named twice
  const Tensor places = c[1].reshape({-1, c[1].size(-1)});
  const Tensor updates = c[2].flatten(0, c[1].dim() - 2);
  for (std::int64_t i = 0; i < places.size(0); ++i) {
    const Index place = index_nd(places.select(0, i));
    ebb::index_put_(x, place, ebb::index(x, place) * updates.select(0, i));
  }
  return {x};
}

Tensors compress(const Call& c) {
  const Tensor x = c.has("axis") ? c[0] : c[0].flatten();
  const Tensor kept = ebb::nonzero(c[1]).flatten();
  return {ebb::index_select(x, c.integer("axis", 0), kept)};
}

// The values at and off the indices are an input, and indices outside [-depth, depth) name nothing.
Tensors one_hot(const Call& c) {
  const std::int64_t depth = c.numbers(1).at(0);
  const std::int64_t axis = wrap(c.integer("axis", -1), c[0].dim() + 1);
  const Tensor indices = c[0].to(ebb::kLong);
  const Tensor hot = ebb::one_hot(ebb::remainder(indices, depth), depth) *
                     ebb::logical_and(indices >= -depth, indices < depth).unsqueeze(-1);
  return {ebb::where(hot.movedim(-1, axis) > 0, c[2].select(0, 1), c[2].select(0, 0))};
}

}  // namespace

void add_index(Ops& ops) {
  ops["Gather"] = gather;
  ops["GatherElements"] = gather_elements;
  ops["GatherND"] = [](const Call& c) { return Tensors{gather_nd(c[0], c[1], c.integer("batch_dims", 0))}; };
  ops["Scatter"] = scatter_elements;
  ops["ScatterElements"] = scatter_elements;
  ops["ScatterND"] = scatter_nd;
  ops["Compress"] = compress;
  ops["OneHot"] = one_hot;
  ops["NonZero"] = [](const Call& c) { return Tensors{ebb::nonzero(c[0]).t()}; };
}

}  // namespace onnx

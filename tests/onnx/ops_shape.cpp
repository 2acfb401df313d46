// Ops that create tensors, change their shapes, and read or write parts of them.
#include "onnx/call.h"

// Reshaping and slicing ops.

namespace onnx {
namespace {

// The axes are an attribute in older opsets and an input in newer ones.
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

// The axes refer to the result, in any order.
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

// Both shapes broadcast; ebb's expand does not do this.
Tensors expand(const Call& c) {
  return {ebb::broadcast_tensors({c[0], ebb::empty(c.numbers(1), c[0].dtype())})[0]};
}

Tensors split(const Call& c) {
  const std::int64_t axis = c.integer("axis", 0);
  if (c.has(1)) return ebb::split(c[0], c.numbers(1), axis);
  return ebb::split(c[0], c[0].size(axis) / static_cast<std::int64_t>(c.outputs()), axis);
}

// A negative step runs from start down to end, exclusive. This equals a positive step over the flipped
// dimension from the mirrored start.
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

// Ops that copy elements: concat, tile, pad, depth-to-space, triangles.

namespace {

// ONNX lists all beginnings and then all ends, from the first dimension. ebb takes pairs, from the last
// dimension.
Tensors pad(const Call& c) {
  const Ints pads = c.numbers(1);
  const std::string mode = c.text("mode", "constant");
  const std::size_t rank = pads.size() / 2;
  std::size_t first = 0;  // the other modes of ebb accept no leading dimensions
  while (mode != "constant" && first < rank && pads[first] == 0 && pads[rank + first] == 0) ++first;
  Ints pairs;
  for (std::size_t d = rank; d-- > first;) {
    pairs.push_back(pads[d]);
    pairs.push_back(pads[rank + d]);
  }
  if (mode == "constant") return {ebb::constant_pad_nd(c[0], pairs, c.has(2) ? c[2].item() : ebb::Scalar(0))};
  EBB_CHECK(mode == "edge" || mode == "reflect", "Pad: the mode ", mode);
  // ebb supports these modes only for floating types; the integers of the tests are small enough to be exact.
  return {ebb::pad(c[0].to(ebb::kDouble), pairs, mode == "edge" ? "replicate" : "reflect").to(c[0].dtype())};
}

Tensors depth_to_space(const Call& c) {
  const std::int64_t b = c.integer("blocksize", 1);
  if (c.text("mode", "DCR") == "CRD") return {ebb::pixel_shuffle(c[0], b)};
  const std::int64_t n = c[0].size(0), channels = c[0].size(1) / (b * b), h = c[0].size(2), w = c[0].size(3);
  return {c[0].reshape({n, b, b, channels, h, w})
              .permute({0, 3, 4, 1, 5, 2})
              .reshape({n, channels, h * b, w * b})};
}

Tensors space_to_depth(const Call& c) {
  const std::int64_t b = c.integer("blocksize", 1);
  const std::int64_t n = c[0].size(0), channels = c[0].size(1), h = c[0].size(2) / b, w = c[0].size(3) / b;
  // Channels are the slowest dimension in ebb and the fastest in ONNX.
  return {ebb::pixel_unshuffle(c[0], b)
              .reshape({n, channels, b * b, h, w})
              .transpose(1, 2)
              .reshape({n, -1, h, w})};
}

Tensors triangle(const Call& c) {
  const std::int64_t k = c.has(1) ? c.numbers(1).at(0) : 0;
  return {c.integer("upper", 1) ? ebb::triu(c[0], k) : ebb::tril(c[0], k)};
}

// Reverses the first elements of each sequence along time.
Tensors reverse_sequence(const Call& c) {
  const std::int64_t time = c.integer("time_axis", 0), batch = c.integer("batch_axis", 1);
  const Ints lengths = c.numbers(1);
  Tensors lines = ebb::unbind(c[0], batch);
  const std::int64_t axis = time > batch ? time - 1 : time;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::int64_t n = lengths.at(i);
    lines[i] = ebb::cat({ebb::flip(lines[i].slice(axis, 0, n), axis), lines[i].slice(axis, n)}, axis);
  }
  return {ebb::stack(lines, batch)};
}

}  // namespace

void add_rearrange(Ops& ops) {
  ops["Concat"] = [](const Call& c) { return Tensors{ebb::cat(c.inputs(), c.integer("axis", 0))}; };
  ops["Tile"] = [](const Call& c) { return Tensors{ebb::tile(c[0], c.numbers(1))}; };
  ops["Pad"] = pad;
  ops["DepthToSpace"] = depth_to_space;
  ops["SpaceToDepth"] = space_to_depth;
  ops["Trilu"] = triangle;
  ops["ReverseSequence"] = reverse_sequence;
}

// Constants, ranges and conversions.

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

// Dropout in evaluation is the identity; with a ratio of 0 nothing is random.
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

// Gather and scatter ops.

namespace {

using Index = std::vector<ebb::optional<Tensor>>;

// The last dimension of the indices is an index into the first dimensions of x.
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
  Tensor x = c[0].clone();  // one index at a time, because an index may occur twice
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

// The on and off values are an input, and indices outside [-depth, depth) give no hit.
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

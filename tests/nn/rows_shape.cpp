// Rows of padding, shuffle, resize and other shape modules.
#include "nn/module_rows.h"

#include <algorithm>
#include <cmath>

namespace modules {

namespace {

// Selects elements by index, or a value beyond the border.
using Pick = std::int64_t (*)(std::int64_t at, std::int64_t size);
std::int64_t circular(std::int64_t at, std::int64_t n) { return (at + n) % n; }
std::int64_t reflected(std::int64_t at, std::int64_t n) {
  return at < 0 ? -at : at >= n ? 2 * n - 2 - at : at;
}
std::int64_t replicated(std::int64_t at, std::int64_t n) { return std::clamp<std::int64_t>(at, 0, n - 1); }
std::int64_t itself(std::int64_t at, std::int64_t) { return at; }

Formula padded(Pick pick, Sizes padding, double value = 0) {
  return [=](In in, const Tensors&) -> variable_list {
    Variable x = in[0];
    for (std::size_t d = 0; d < padding.size() / 2; ++d) {
      const std::int64_t dim = x.dim() - 1 - static_cast<std::int64_t>(d), n = x.size(dim);
      variable_list parts;
      for (std::int64_t i = -padding[2 * d]; i < n + padding[2 * d + 1]; ++i) {
        const std::int64_t at = pick(i, n);
        parts.push_back(at >= 0 && at < n ? x.select(dim, at) : ebb::full_like(x.select(dim, 0), value));
      }
      x = ebb::stack(parts, dim);
    }
    return {x};
  };
}

template <std::size_t D>
void add_pads(std::vector<Row>& rows) {
  const std::string d = std::to_string(D) + "d";
  const std::size_t first = rows.size();
  const Sizes all = D == 1 ? Sizes{2, 2, 4} : D == 2 ? Sizes{2, 1, 3, 4} : Sizes{1, 2, 3, 3, 4};
  Sizes p;
  for (std::size_t i = 0; i < D; ++i) p.insert(p.end(), {2, 1});
  p[1] = 3;
  Sizes cut = p;
  cut[0] = -1;
  for (const Sizes& x : {all, Sizes(all.begin() + 1, all.end())}) {
    rows.push_back(row<nn::ModuleHolder<nn::ReflectionPadImpl<D>>>(
        "ReflectionPad" + d, {wave(x)}, padded(reflected, p), ebb::ExpandingArray<2 * D>(p)));
    rows.push_back(row<nn::ModuleHolder<nn::ReplicationPadImpl<D>>>(
        "ReplicationPad" + d, {wave(x)}, padded(replicated, p), ebb::ExpandingArray<2 * D>(p)));
    rows.push_back(row<nn::ModuleHolder<nn::CircularPadImpl<D>>>(
        "CircularPad" + d, {wave(x)}, padded(circular, p), ebb::ExpandingArray<2 * D>(p)));
    rows.push_back(row<nn::ModuleHolder<nn::ConstantPadImpl<D>>>(
        "ConstantPad" + d, {wave(x)}, padded(itself, cut, 1.5), ebb::ExpandingArray<2 * D>(cut), 1.5));
    rows.push_back(row<nn::ModuleHolder<nn::ZeroPadImpl<D>>>("ZeroPad" + d, {wave(x)}, padded(itself, cut),
                                                             ebb::ExpandingArray<2 * D>(cut)));
  }
  for (std::size_t i = first; i < rows.size(); ++i) rows[i].batch = rows[i].inputs[0].dim() == D + 2 ? 0 : -1;
}

// Resizes along one dimension, given the new size, the step in elements and the weights of adjacent elements.
Variable resized(const Variable& x, std::int64_t dim, std::int64_t m, const std::string& mode, bool corners,
                 double step) {
  const std::int64_t n = x.size(dim);
  const double scale = corners ? (m > 1 ? static_cast<double>(n - 1) / static_cast<double>(m - 1) : 0) : step;
  const auto at = [&](double i) {
    return x.select(dim, static_cast<std::int64_t>(std::clamp(i, 0.0, static_cast<double>(n - 1))));
  };
  variable_list parts;
  for (std::int64_t i = 0; i < m; ++i) {
    const auto k = static_cast<double>(i);
    if (mode == "nearest") {
      parts.push_back(at(std::floor(k * step)));
      continue;
    }
    double place = corners ? k * scale : (k + 0.5) * scale - 0.5;
    if (mode == "linear") place = std::max(place, 0.0);
    const double low = std::floor(place), t = place - low;
    if (mode == "linear") {
      parts.push_back((1 - t) * at(low) + t * at(low + 1));
      continue;
    }
    // Cubic convolution with a = -0.75.
    Variable sum = ebb::zeros_like(at(0));
    for (int j = -1; j <= 2; ++j) {
      const double d = std::abs(t - j), a = -0.75;
      const double w =
          d <= 1 ? (a + 2) * d * d * d - (a + 3) * d * d + 1 : a * (d * d * d - 5 * d * d + 8 * d - 4);
      sum = sum + w * at(low + j);
    }
    parts.push_back(sum);
  }
  return ebb::stack(parts, dim);
}

template <class Holder = nn::Upsample, class Options = nn::UpsampleOptions>
void add_upsample(std::vector<Row>& rows, const std::string& what, const Sizes& x, const Sizes& to,
                  const std::string& mode, bool corners, const std::vector<double>& steps,
                  const Options& options) {
  rows.push_back(row<Holder>(
      what, {wave(x)},
      [=](In in, const Tensors&) -> variable_list {
        Variable y = in[0];
        for (std::size_t d = 0; d < to.size(); ++d)
          y = resized(y, static_cast<std::int64_t>(d) + 2, to[d], mode, corners, steps[d]);
        return {y};
      },
      options));
}

}  // namespace

std::vector<Row> shape_rows() {
  std::vector<Row> rows;
  add_pads<1>(rows);
  add_pads<2>(rows);
  add_pads<3>(rows);
  rows.push_back(
      row<nn::Flatten>("Flatten", {wave({2, 3, 2, 2})},
                       [](In in, const Tensors&) -> variable_list { return {in[0].reshape({2, 12})}; }));
  rows.push_back(row<nn::Flatten>(
      "Flatten of the middle", {wave({2, 3, 2, 2})},
      [](In in, const Tensors&) -> variable_list { return {in[0].reshape({2, 6, 2})}; },
      nn::FlattenOptions().start_dim(1).end_dim(-2)));
  rows.push_back(row<nn::Unflatten>(
      "Unflatten", {wave({2, 6, 2})},
      [](In in, const Tensors&) -> variable_list { return {in[0].reshape({2, 3, 2, 2})}; }, 1, Sizes{3, 2}));
  // Patches are columns with channels as slowest index; folding sums them.
  const auto columns = [](const Variable& x) {
    return windows(x, {2, 3}, {2, 1}, {1, 1}, {2, 1}).flatten(3).permute({1, 2, 0, 3}).flatten(1, 2);
  };
  rows.push_back(row<nn::Unfold>(
      "Unfold", {wave({2, 2, 4, 3})},
      [=](In in, const Tensors&) -> variable_list { return {columns(in[0])}; },
      nn::UnfoldOptions({2, 3}).stride({2, 1}).padding(1).dilation({2, 1})));
  rows.push_back(row<nn::Fold>(
      "Fold", {wave({2, 12, 6})},
      [=](In in, const Tensors&) -> variable_list {
        const Variable x = ebb::zeros({2, 2, 4, 3}, ebb::kDouble).requires_grad_();
        return {ebb::autograd::grad({columns(x)}, {x}, {in[0]})[0]};
      },
      nn::FoldOptions({4, 3}, {2, 3}).stride({2, 1}).padding(1).dilation({2, 1})));
  rows.push_back(row<nn::PixelShuffle>(
      "PixelShuffle", {wave({2, 8, 3, 2})},
      [](In in, const Tensors&) -> variable_list {
        return {in[0].view({2, 2, 2, 2, 3, 2}).permute({0, 1, 4, 2, 5, 3}).reshape({2, 2, 6, 4})};
      },
      nn::PixelShuffleOptions(2)));
  rows.push_back(row<nn::PixelUnshuffle>(
      "PixelUnshuffle", {wave({2, 6, 4})},
      [](In in, const Tensors&) -> variable_list {
        return {in[0].view({2, 3, 2, 2, 2}).permute({0, 2, 4, 1, 3}).reshape({8, 3, 2})};
      },
      nn::PixelUnshuffleOptions(2)));
  rows.push_back(row<nn::ChannelShuffle>(
      "ChannelShuffle", {wave({2, 6, 2, 1})},
      [](In in, const Tensors&) -> variable_list {
        return {in[0].view({2, 3, 2, 2, 1}).transpose(1, 2).reshape({2, 6, 2, 1})};
      },
      3));
  using O = nn::UpsampleOptions;
  add_upsample(rows, "Upsample to nearest", {2, 2, 4}, {6}, "nearest", false, {1 / 1.7},
               O().scale_factor(std::vector<double>{1.7}).mode(ebb::kNearest));
  add_upsample(rows, "Upsample to nearest sizes", {1, 2, 3, 5}, {5, 3}, "nearest", false, {3 / 5.0, 5 / 3.0},
               O().size(Sizes{5, 3}).mode(ebb::kNearest));
  add_upsample(rows, "Upsample to nearest in space", {1, 2, 2, 3, 2}, {4, 6, 4}, "nearest", false,
               {0.5, 0.5, 0.5}, O().scale_factor(std::vector<double>{2, 2, 2}));
  for (const bool corners : {false, true}) {
    add_upsample(rows, "Upsample linear", {2, 2, 4}, {6}, "linear", corners, {4 / 6.0},
                 O().size(Sizes{6}).mode(ebb::kLinear).align_corners(corners));
    add_upsample(rows, "Upsample bilinear", {1, 2, 3, 4}, {4, 10}, "linear", corners, {1 / 1.5, 1 / 2.5},
                 O().scale_factor(std::vector<double>{1.5, 2.5}).mode(ebb::kBilinear).align_corners(corners));
    add_upsample(rows, "Upsample bicubic", {1, 2, 3, 4}, {5, 3}, "cubic", corners, {3 / 5.0, 4 / 3.0},
                 O().size(Sizes{5, 3}).mode(ebb::kBicubic).align_corners(corners));
    add_upsample(rows, "Upsample trilinear", {1, 1, 2, 3, 2}, {3, 2, 4}, "linear", corners,
                 {2 / 3.0, 3 / 2.0, 0.5},
                 O().size(Sizes{3, 2, 4}).mode(ebb::kTrilinear).align_corners(corners));
  }
  const nn::Upsampling2dOptions to_size = nn::Upsampling2dOptions().size(ebb::ExpandingArray<2>({5, 3}));
  add_upsample<nn::UpsamplingNearest2d>(rows, "UpsamplingNearest2d", {1, 2, 3, 5}, {5, 3}, "nearest", false,
                                        {3 / 5.0, 5 / 3.0}, to_size);
  add_upsample<nn::UpsamplingBilinear2d>(rows, "UpsamplingBilinear2d", {1, 2, 3, 4}, {6, 8}, "linear", true,
                                         {0.5, 0.5}, nn::Upsampling2dOptions().scale_factor(2.0));
  return rows;
}

}  // namespace modules

// Rows of grid sampling and resizing.
#include <ebb/nn/functional/vision.h>
#include <ebb/ops/pool.h>

#include "optable/reference.h"
#include "optable/table.h"

#include <algorithm>
#include <cmath>

namespace optable {
namespace {

namespace F = ebb::nn::functional;

double hat(double x) { return std::max(0.0, 1 - std::abs(x)); }
double keys(double a, double x) {
  const double d = std::abs(x);
  if (d <= 1) return (a + 2) * d * d * d - (a + 3) * d * d + 1;
  return d < 2 ? a * (d * d * d - 5 * d * d + 8 * d - 4) : 0;
}

enum class Beyond { zeros, border, reflection };
enum class Between { linear, nearest, cubic };

struct Sampled {
  Between between = Between::linear;
  Beyond beyond = Beyond::zeros;
  bool align = false;

  double moved(double at, double n) const {
    if (beyond == Beyond::reflection) {
      const double low = align ? 0 : -0.5, high = align ? n - 1 : n - 0.5;
      while (at < low || at > high) at = at < low ? 2 * low - at : 2 * high - at;
    }
    return beyond == Beyond::zeros ? at : std::clamp(at, 0.0, n - 1);
  }
  /// Returns the weight of element i of n for the grid coordinate x.
  double weight(double x, std::int64_t i, std::int64_t n) const {
    const double size = static_cast<double>(n), place = static_cast<double>(i);
    const double at = align ? (x + 1) / 2 * (size - 1) : ((x + 1) * size - 1) / 2;
    if (between == Between::linear) return hat(moved(at, size) - place);
    if (between == Between::nearest) return std::round(moved(at, size)) == place ? 1 : 0;
    double sum = 0;
    for (double tap = std::floor(at) - 1; tap < std::floor(at) + 3; ++tap)
      if (std::round(moved(tap, size)) == place) sum += keys(-0.75, at - tap);
    return sum;
  }
  Arrays operator()(const Arrays& in) const {
    const Array &x = in[0], &grid = in[1];
    const std::size_t dims = x.sizes.size() - 2;
    Sizes sizes = x.sizes;
    for (std::size_t d = 0; d < dims; ++d) sizes[2 + d] = grid.sizes[1 + d];
    return {build(sizes, [&](const Index& o) {
      Index point{o[0]};
      point.insert(point.end(), o.begin() + 2, o.end());
      point.push_back(0);
      Sizes volume = x.sizes;
      volume[0] = volume[1] = 1;
      double sum = 0;
      build(volume, [&](Index i) {
        double w = 1;
        for (std::size_t d = 0; d < dims; ++d) {
          point.back() = static_cast<std::int64_t>(dims - 1 - d);
          w *= weight(grid(point), i[2 + d], x.sizes[2 + d]);
        }
        i[0] = o[0], i[1] = o[1];
        sum += w * x(i);
        return 0;
      });
      return sum;
    })};
  }
};

Row& sampled(const char* name, Sampled how, Sizes x, Sizes grid) {
  return row(name,
             [how, name](In v) {
               const auto mode = static_cast<std::int64_t>(how.between);
               const auto padding = static_cast<std::int64_t>(how.beyond);
               const std::string op = name;
               if (op.starts_with("grid_sampler_2d"))
                 return variable_list{ebb::grid_sampler_2d(v[0], v[1], mode, padding, how.align)};
               if (op.starts_with("grid_sampler_3d"))
                 return variable_list{ebb::grid_sampler_3d(v[0], v[1], mode, padding, how.align)};
               return variable_list{ebb::grid_sampler(v[0], v[1], mode, padding, how.align)};
             })
      .shapes({{x, grid}})
      .range(-2, 2)
      .range(-1.4, 1.4)
      // Coordinates at elements and edges of axes of 2, 3 and 4 elements, and halfway between them.
      .kinks({0, 0.25, 1.0 / 3, 0.5, 2.0 / 3, 0.75, 1, 1.25, 4.0 / 3, -0.25, -1.0 / 3, -0.5, -2.0 / 3, -0.75,
              -1, -1.25, -4.0 / 3})
      .roundings(8)
      .reference([how](const Arrays& in) { return how(in); });
}

// The gradient of the grid for an image of 164 columns is a difference of terms in the hundreds, in float.
constexpr double kSteep = 3e-4;

void grids() {
  const Sizes x{2, 3, 3, 4}, points{2, 2, 5, 2}, volume{1, 2, 3, 2, 4}, volume_points{1, 2, 2, 2, 3};
  sampled("grid_sampler", {}, x, points).node("GridSampler2DBackward0").error("4D or 5D", [] {
    ebb::grid_sampler(ebb::ones({2, 2, 2}), ebb::ones({2, 2, 2}), 0, 0, false);
  });
  sampled("grid_sampler_2d", {.align = true}, x, points).error("one batch size", [] {
    ebb::grid_sampler_2d(ebb::ones({2, 1, 2, 2}), ebb::ones({1, 2, 2, 2}), 0, 0, false);
  });
  sampled("grid_sampler_2d.border", {.beyond = Beyond::border}, x, points);
  sampled("grid_sampler_2d.reflection", {.beyond = Beyond::reflection}, x, points);
  sampled("grid_sampler_2d.reflection_corners", {.beyond = Beyond::reflection, .align = true}, x, points);
  sampled("grid_sampler_2d.nearest", {.between = Between::nearest}, x, points);
  sampled("grid_sampler_2d.nearest_border", {.between = Between::nearest, .beyond = Beyond::border}, x,
          points);
  sampled("grid_sampler_2d.bicubic", {.between = Between::cubic}, x, points).roundings(16).tolerance(kSteep);
  sampled("grid_sampler_2d.bicubic_border",
          {.between = Between::cubic, .beyond = Beyond::border, .align = true}, x, points)
      .roundings(16)
      .tolerance(kSteep);
  sampled("grid_sampler_2d.bicubic_reflection", {.between = Between::cubic, .beyond = Beyond::reflection}, x,
          points)
      .roundings(16)
      .tolerance(kSteep);
  sampled("grid_sampler_3d", {}, volume, volume_points)
      .node("GridSampler3DBackward0")
      .error("padding_mode", [] {
        ebb::grid_sampler_3d(ebb::ones({1, 1, 2, 2, 2}), ebb::ones({1, 2, 2, 2, 3}), 2, 3, false);
      });
  sampled("grid_sampler_3d.reflection", {.beyond = Beyond::reflection, .align = true}, volume, volume_points);
  sampled("grid_sampler_3d.bicubic", {.between = Between::cubic}, volume, volume_points)
      .roundings(16)
      .tolerance(kSteep);
  sampled("grid_sampler_3d.nearest", {.between = Between::nearest, .beyond = Beyond::border}, volume,
          volume_points);
  row("grid_sample",
      [](In v) {
        return variable_list{F::grid_sample(
            v[0], v[1], F::GridSampleFuncOptions().padding_mode(ebb::kBorder).align_corners(true))};
      })
      .shapes({{x, points}})
      .range(-2, 2)
      .range(-0.9, 0.9)
      .kinks({0, 1.0 / 3, -1.0 / 3})
      .roundings(8)
      .reference([](const Arrays& in) { return Sampled{.beyond = Beyond::border, .align = true}(in); });
}

// Computes theta times (x, y[, z], 1) at every position of these sizes.
Row::Reference mapped(Sizes places, bool align) {
  Sizes sizes{2};
  sizes.insert(sizes.end(), places.begin(), places.end());
  const auto dims = static_cast<std::int64_t>(places.size());
  sizes.push_back(dims);
  return built(sizes, [places, align, dims](const Arrays& in, const Index& i) {
    double sum = in[0]({i[0], i.back(), dims});
    for (std::int64_t k = 0; k < dims; ++k) {
      const auto d = static_cast<std::size_t>(dims - 1 - k);
      const double n = static_cast<double>(places[d]), at = static_cast<double>(i[d + 1]);
      const double x = align ? (n > 1 ? 2 * at / (n - 1) - 1 : 0) : (2 * at + 1) / n - 1;
      sum += in[0]({i[0], i.back(), k}) * x;
    }
    return sum;
  });
}

void affine_grids() {
  unary("affine_grid_generator", [](V x) { return ebb::affine_grid_generator(x, {2, 1, 3, 4}, false); })
      .shapes({{{2, 2, 3}}})
      .roundings(8)
      .reference(mapped({3, 4}, false))
      .error("theta of shape", [] { ebb::affine_grid_generator(ebb::ones({1, 3, 2}), {1, 1, 2, 2}, false); });
  unary("affine_grid_generator.volume",
        [](V x) { return ebb::affine_grid_generator(x, {2, 1, 2, 1, 3}, true); })
      .shapes({{{2, 3, 4}}})
      .roundings(8)
      .reference(mapped({2, 1, 3}, true));
  unary("affine_grid", [](V x) { return F::affine_grid(x, {2, 1, 2, 3}, true); })
      .shapes({{{2, 2, 3}}})
      .roundings(8)
      .reference(mapped({2, 3}, true));
}

/// How an axis of `in` elements is resized to `out`: the weight of element i in result o.
struct Axis {
  enum Kind { nearest, exact, linear, cubic, smooth_linear, smooth_cubic } kind = nearest;
  std::int64_t out = 1;
  bool align = false;
  double factor = 0;  // the requested factor, in place of the ratio

  double operator()(std::int64_t o, std::int64_t i, std::int64_t n) const {
    const double in = static_cast<double>(n), place = static_cast<double>(i), to = static_cast<double>(o);
    double scale = factor > 0 ? 1 / factor : in / static_cast<double>(out);
    if (align) scale = out > 1 ? (in - 1) / static_cast<double>(out - 1) : 0;
    if (kind == nearest) return std::min(std::floor(to * scale), in - 1) == place;
    if (kind == exact) return std::min(std::floor((to + 0.5) * scale), in - 1) == place;
    if (kind == smooth_linear || kind == smooth_cubic) {
      const double wide = std::max(scale, 1.0), centre = (to + 0.5) * scale;
      const auto filter = [&](double x) { return kind == smooth_linear ? hat(x) : keys(-0.5, x); };
      double total = 0;
      for (double k = 0; k < in; ++k) total += filter((k + 0.5 - centre) / wide);
      return filter((place + 0.5 - centre) / wide) / total;
    }
    const double at = align ? to * scale : (to + 0.5) * scale - 0.5;
    if (kind == linear) return hat(std::clamp(at, 0.0, in - 1) - place);
    double sum = 0;
    for (double tap = std::floor(at) - 1; tap < std::floor(at) + 3; ++tap)
      if (std::clamp(tap, 0.0, in - 1) == place) sum += keys(-0.75, at - tap);
    return sum;
  }
};

Row::Reference resized(std::vector<Axis> axes) {
  return [axes](const Arrays& in) {
    const Array& x = in[0];
    Sizes sizes = x.sizes;
    for (std::size_t d = 0; d < axes.size(); ++d) sizes[2 + d] = axes[d].out;
    return Arrays{build(sizes, [&](const Index& o) {
      Sizes volume = x.sizes;
      volume[0] = volume[1] = 1;
      double sum = 0;
      build(volume, [&](Index i) {
        double w = 1;
        for (std::size_t d = 0; d < axes.size(); ++d) w *= axes[d](o[2 + d], i[2 + d], x.sizes[2 + d]);
        i[0] = o[0], i[1] = o[1];
        sum += w * x(i);
        return 0;
      });
      return sum;
    })};
  };
}

Row& resize(const char* name, Variable (*f)(V), Sizes x, std::vector<Axis> axes) {
  return unary(name, f).shapes({{std::move(x)}}).roundings(4).reference(resized(std::move(axes)));
}

void nearest() {
  resize("upsample_nearest1d", [](V x) { return ebb::upsample_nearest1d(x, {7}); }, {2, 2, 4},
         {{Axis::nearest, 7}})
      .node("UpsampleNearest1DBackward0")
      .error("greater than 0", [] { ebb::upsample_nearest1d(ebb::ones({1, 1, 3}), {0}); });
  resize("upsample_nearest2d", [](V x) { return ebb::upsample_nearest2d(x, {6, 2}); }, {1, 2, 3, 4},
         {{Axis::nearest, 6}, {Axis::nearest, 2}})
      .error("output_size", [] { ebb::upsample_nearest2d(ebb::ones({1, 1, 3, 3}), {2, 2, 2}); });
  resize("upsample_nearest2d.factors",
         [](V x) { return ebb::upsample_nearest2d(x, ebb::nullopt, std::vector<double>{1.6, 2}); },
         {1, 2, 3, 2}, {{Axis::nearest, 4, false, 1.6}, {Axis::nearest, 4, false, 2}})
      .error("exactly one",
             [] { ebb::upsample_nearest2d(ebb::ones({1, 1, 3, 3}), ebb::nullopt, ebb::nullopt); });
  resize("upsample_nearest3d", [](V x) { return ebb::upsample_nearest3d(x, {3, 2, 5}); }, {1, 2, 2, 2, 3},
         {{Axis::nearest, 3}, {Axis::nearest, 2}, {Axis::nearest, 5}});
  resize("_upsample_nearest_exact1d", [](V x) { return ebb::_upsample_nearest_exact1d(x, {3}); }, {2, 2, 7},
         {{Axis::exact, 3}});
  resize("_upsample_nearest_exact2d", [](V x) { return ebb::_upsample_nearest_exact2d(x, {5, 2}); },
         {1, 2, 3, 4}, {{Axis::exact, 5}, {Axis::exact, 2}});
  resize("_upsample_nearest_exact3d", [](V x) { return ebb::_upsample_nearest_exact3d(x, {1, 3, 4}); },
         {1, 1, 2, 2, 3}, {{Axis::exact, 1}, {Axis::exact, 3}, {Axis::exact, 4}});
  resize("upsample_nearest2d.integers", [](V x) { return ebb::upsample_nearest2d(x, {5, 3}); }, {1, 2, 3, 4},
         {{Axis::nearest, 5}, {Axis::nearest, 3}})
      .integers(0, -9, 9)
      .order(0, "integers have no derivative");
}

void linear() {
  resize("upsample_linear1d", [](V x) { return ebb::upsample_linear1d(x, {7}, false); }, {2, 2, 4},
         {{Axis::linear, 7}})
      .error("input_size", [] { ebb::upsample_linear1d(ebb::ones({1, 3}), {2}, false); });
  resize("upsample_linear1d.corners", [](V x) { return ebb::upsample_linear1d(x, {3}, true); }, {2, 2, 5},
         {{Axis::linear, 3, true}});
  resize("upsample_bilinear2d", [](V x) { return ebb::upsample_bilinear2d(x, {5, 2}, false); }, {2, 2, 3, 4},
         {{Axis::linear, 5}, {Axis::linear, 2}})
      .node("UpsampleBilinear2DBackward0")
      .error("Byte", [] { ebb::upsample_bilinear2d(ebb::ones({1, 1, 3, 3}, ebb::kLong), {2, 2}, false); });
  resize("upsample_bilinear2d.corners", [](V x) { return ebb::upsample_bilinear2d(x, {4, 1}, true); },
         {1, 2, 2, 3}, {{Axis::linear, 4, true}, {Axis::linear, 1, true}});
  resize("upsample_bilinear2d.scales",
         [](V x) { return ebb::upsample_bilinear2d(x, {4, 5}, false, 1.4, 1.7); }, {1, 2, 3, 3},
         {{Axis::linear, 4, false, 1.4}, {Axis::linear, 5, false, 1.7}});
  resize("upsample_trilinear3d", [](V x) { return ebb::upsample_trilinear3d(x, {3, 2, 4}, false); },
         {1, 2, 2, 2, 3}, {{Axis::linear, 3}, {Axis::linear, 2}, {Axis::linear, 4}});
  resize("_upsample_bilinear2d_aa", [](V x) { return ebb::_upsample_bilinear2d_aa(x, {3, 5}, false); },
         {1, 2, 7, 4}, {{Axis::smooth_linear, 3}, {Axis::smooth_linear, 5}})
      .roundings(8);
}

void cubic() {
  resize("upsample_bicubic2d", [](V x) { return ebb::upsample_bicubic2d(x, {5, 3}, false); }, {1, 2, 3, 6},
         {{Axis::cubic, 5}, {Axis::cubic, 3}})
      .roundings(8);
  resize("upsample_bicubic2d.corners", [](V x) { return ebb::upsample_bicubic2d(x, {4, 7}, true); },
         {1, 2, 2, 5}, {{Axis::cubic, 4, true}, {Axis::cubic, 7, true}})
      .roundings(8);
  resize("_upsample_bicubic2d_aa", [](V x) { return ebb::_upsample_bicubic2d_aa(x, {3, 4}, false); },
         {1, 2, 8, 5}, {{Axis::smooth_cubic, 3}, {Axis::smooth_cubic, 4}})
      .roundings(8);
}

}  // namespace

void register_resample() {
  family("resample");
  grids();
  affine_grids();
  nearest();
  linear();
  cubic();
}

}  // namespace optable

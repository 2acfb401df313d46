// Rows of pooling and unpooling.
#include "nn/module_rows.h"

#include <cmath>
#include <limits>

namespace modules {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <std::size_t D>
struct Window {
  Sizes size, stride, padding = Sizes(D, 0), dilation = Sizes(D, 1);
  bool ceil = false;
  Variable of(const Variable& x, double border) const {
    const bool whole = x.dim() == D + 2;
    const Variable w = windows(whole ? x : x.unsqueeze(0), size, stride, padding, dilation, border, ceil);
    return whole ? w : w.select(1, 0);
  }
  std::int64_t elements() const {
    std::int64_t n = 1;
    for (const std::int64_t s : size) n *= s;
    return n;
  }
};

std::string dims(const char* name, std::size_t d) { return name + std::to_string(d) + "d"; }

/// Returns the means of windows; `counts` is padded with ones as far as the divisor counts.
template <std::size_t D>
Formula mean(const Window<D>& w, bool include_pad, std::optional<double> divisor) {
  return [=](In in, const Tensors&) -> variable_list {
    const Variable sum = w.of(in[0], 0).sum(0);
    if (divisor) return {sum / *divisor};
    // Windows end where the padding ends; padded elements count unless they are excluded.
    const Variable ones = ebb::ones_like(in[0]);
    if (!include_pad) return {sum / w.of(ones, 0).sum(0)};
    Sizes pad;
    for (const std::int64_t p : w.padding) pad.insert(pad.begin(), {p, p});
    Window<D> padded = w;
    padded.padding = Sizes(D, 0);
    Variable counts = padded.of(ebb::constant_pad_nd(ones, pad, 1), 0).sum(0);
    for (std::size_t d = 0; d < D; ++d) {
      const auto dim = static_cast<std::int64_t>(d) - static_cast<std::int64_t>(D);
      counts = counts.narrow(dim, 0, sum.size(dim));
    }
    return {sum / counts};
  };
}

template <std::size_t D>
void add_pools(std::vector<Row>& rows) {
  using Avg = nn::ModuleHolder<nn::AvgPoolImpl<D>>;
  using Max = nn::ModuleHolder<nn::MaxPoolImpl<D>>;
  using Norm = nn::ModuleHolder<nn::LPPoolImpl<D>>;
  const Sizes all = D == 1 ? Sizes{2, 2, 6} : D == 2 ? Sizes{2, 1, 5, 6} : Sizes{1, 2, 4, 3, 5};
  const Sizes one(all.begin() + 1, all.end());
  const Sizes two(D, 2), three(D, 3), ones(D, 1);
  Sizes uneven(D, 2);
  uneven[0] = 3;

  rows.push_back(
      row<Avg>(dims("AvgPool", D), {wave(all)}, mean<D>({two, two}, true, {}), nn::AvgPoolOptions<D>(2)));
  for (const bool include : {true, false}) {
    rows.push_back(row<Avg>(
        dims("AvgPool", D) + " to the ceiling", {wave(one)},
        mean<D>({uneven, two, ones, ones, true}, include, {}),
        nn::AvgPoolOptions<D>(uneven).stride(2).padding(1).ceil_mode(true).count_include_pad(include)));
    rows.back().batch = -1;
  }
  if constexpr (D > 1)
    rows.push_back(row<Avg>(dims("AvgPool", D) + " over a divisor", {wave(all)},
                            mean<D>({two, ones}, true, 3.0),
                            nn::AvgPoolOptions<D>(2).stride(1).divisor_override(3)));

  const auto maxima = [](const Window<D>& w) -> Formula {
    return [=](In in, const Tensors&) -> variable_list { return {w.of(in[0], -kInfinity).amax(0)}; };
  };
  rows.push_back(row<Max>(dims("MaxPool", D), {wave(all)}, maxima({two, two}), nn::MaxPoolOptions<D>(2)));
  rows.push_back(row<Max>(dims("MaxPool", D) + " to the ceiling", {wave(one)},
                          maxima({uneven, two, ones, ones, true}),
                          nn::MaxPoolOptions<D>(uneven).stride(2).padding(1).ceil_mode(true)));
  rows.back().batch = -1;
  rows.push_back(row<Max>(dims("MaxPool", D) + " dilated", {wave(all)}, maxima({two, ones, ones, two}),
                          nn::MaxPoolOptions<D>(2).stride(1).padding(1).dilation(2)));
  // With indices, which are the positions of the maxima in the plane.
  rows.push_back(row_called<Max>(
      dims("MaxPool", D) + " with indices", {wave(all)},
      [](auto& m, In in) {
        const auto [y, at] = m.forward_with_indices(in[0]);
        return variable_list{y, in[0].flatten(2).gather(2, at.flatten(2)).view(y.sizes())};
      },
      [=](In in, const Tensors&) -> variable_list {
        const Variable y = Window<D>{two, ones}.of(in[0], -kInfinity).amax(0);
        return {y, y};
      },
      nn::MaxPoolOptions<D>(2).stride(1)));
  // The row's call bypasses hooks, and the plain call runs them.
  rows.back().call = [call = rows.back().call, plain = call_with<nn::MaxPoolImpl<D>>](nn::Module& m, In in) {
    const variable_list y = plain(m, in);
    return variable_list{y[0], call(m, in)[1]};
  };
  rows.push_back(row<Norm>(
      dims("LPPool", D), {wave(all) + 1.5},
      [=](In in, const Tensors&) -> variable_list {
        return {Window<D>{uneven, two}.of(in[0], 0).pow(3).sum(0).pow(1.0 / 3)};
      },
      nn::LPPoolOptions<D>(3, uneven).stride(2)));

  // Adaptive pooling: windows from floor(i n / m) to ceil((i + 1) n / m), one dimension after the other.
  const auto adaptive = [](bool largest, const Sizes& sizes) -> Formula {
    return [=](In in, const Tensors&) -> variable_list {
      Variable x = in[0];
      for (std::size_t d = 0; d < D; ++d) {
        const auto dim = static_cast<std::int64_t>(d) - static_cast<std::int64_t>(D);
        const std::int64_t n = x.size(dim), m = sizes[d];
        variable_list parts;
        for (std::int64_t i = 0; i < m; ++i) {
          const Variable part = x.slice(dim, i * n / m, ((i + 1) * n + m - 1) / m);
          parts.push_back(largest ? part.amax(dim) : part.mean(dim));
        }
        x = ebb::stack(parts, dim);
      }
      return {x};
    };
  };
  Sizes target(D, 3);
  target[D - 1] = 4;
  for (const Sizes& x : {all, one}) {
    rows.push_back(row<nn::ModuleHolder<nn::AdaptiveAvgPoolImpl<D>>>(
        dims("AdaptiveAvgPool", D), {wave(x)}, adaptive(false, target), nn::AdaptiveSizes<D>(target)));
    rows.push_back(row<nn::ModuleHolder<nn::AdaptiveMaxPoolImpl<D>>>(
        dims("AdaptiveMaxPool", D), {wave(x)}, adaptive(true, target), nn::AdaptiveSizes<D>(target)));
  }
  if constexpr (D > 1) {
    std::vector<ebb::optional<std::int64_t>> kept(D, 2);
    kept[0] = ebb::nullopt;
    Sizes sizes(D, 2);
    sizes[0] = all[2];
    rows.push_back(row<nn::ModuleHolder<nn::AdaptiveAvgPoolImpl<D>>>(
        dims("AdaptiveAvgPool", D) + " of a size kept", {wave(all)}, adaptive(false, sizes),
        nn::AdaptiveSizes<D>(kept)));
  }

  // Unpooling writes elements to the given indices.
  const Sizes pooled = D == 1 ? Sizes{1, 2, 2} : D == 2 ? Sizes{1, 2, 2, 1} : Sizes{1, 2, 1, 2, 1};
  std::int64_t plane = 1;
  Sizes full{1, 2};
  for (std::size_t d = 0; d < D; ++d) plane *= pooled[d + 2] * 2, full.push_back(pooled[d + 2] * 2);
  rows.push_back(row<nn::ModuleHolder<nn::MaxUnpoolImpl<D>>>(
      dims("MaxUnpool", D), {wave(pooled), integers({1, plane - 1, 0, plane - 2}, pooled)},
      [=](In in, const Tensors&) -> variable_list {
        return {ebb::zeros({1, 2, plane}, ebb::kDouble)
                    .scatter(2, in[1].flatten(2), in[0].flatten(2))
                    .view(full)};
      },
      nn::MaxUnpoolOptions<D>(2)));
  if constexpr (D > 1) {
    // With given samples u, a window begins at floor((i + u) alpha) - floor(u alpha), and the last one at the
    // end.
    const Variable u = (wave({all[0], all[1], static_cast<std::int64_t>(D)}, 0.9).abs() * 0.6);
    rows.push_back(row<nn::ModuleHolder<nn::FractionalMaxPoolImpl<D>>>(
        dims("FractionalMaxPool", D), {wave(all)},
        [=](In in, const Tensors&) -> variable_list {
          variable_list planes;
          for (std::int64_t p = 0; p < all[0] * all[1]; ++p) {
            Variable x = in[0].flatten(0, 1)[p];
            for (std::size_t d = 0; d < D; ++d) {
              const auto dim = static_cast<std::int64_t>(d);
              // The first sample is for the last axis.
              const double draw = u.flatten(0, 1)[p][D == 2 ? 1 - dim : dim].item<double>();
              const std::int64_t n = x.size(dim);
              const double alpha = static_cast<double>(n - 2) / 1;
              variable_list parts;
              for (std::int64_t i = 0; i < 2; ++i) {
                const std::int64_t at =
                    i == 1 ? n - 2
                           : static_cast<std::int64_t>((static_cast<double>(i) + draw) * alpha) -
                                 static_cast<std::int64_t>(draw * alpha);
                parts.push_back(x.slice(dim, at, at + 2).amax(dim));
              }
              x = ebb::stack(parts, dim);
            }
            planes.push_back(x);
          }
          Sizes sizes{all[0], all[1]};
          sizes.insert(sizes.end(), D, 2);
          return {ebb::stack(planes).view(sizes)};
        },
        nn::FractionalMaxPoolOptions<D>(2).output_size(ebb::ExpandingArray<D>(2))._random_samples(u)));
  }
}

}  // namespace

std::vector<Row> pooling_rows() {
  std::vector<Row> rows;
  add_pools<1>(rows);
  add_pools<2>(rows);
  add_pools<3>(rows);
  return rows;
}

}  // namespace modules

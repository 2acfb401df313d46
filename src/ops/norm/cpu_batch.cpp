// Batch normalisation on the CPU: sums along channels, each in its fixed order.
#include <ebb/core/visit.h>

#include <algorithm>
#include <cmath>

#include "ops/norm/cpu_rows.h"
#include "ops/norm/kernels.h"

namespace ebb::cpu {

namespace {

using Doubles = std::vector<double>;

/// Adds up f(c, row or element of x, of y) over batch and places, for each channel: two sums at once, in
/// double. With places, rows are runs of places; without, a run of channels is taken at a time so that memory
/// is read in order.
template <class T, class F, class G>
void channel_sums(Doubles& first, Doubles& second, const T* x, const T* y, const NormShape& s, F f, G g) {
  using C = Compute<T>;
  first.assign(static_cast<std::size_t>(s.channels), 0);
  second.assign(static_cast<std::size_t>(s.channels), 0);
  if (s.places > 1) {
    parallel_for(0, s.channels, row_grain(s.batch * s.places), [&](std::int64_t begin, std::int64_t end) {
      std::vector<C> scratch_x, scratch_y;
      for (std::int64_t c = begin; c < end; ++c)
        for (std::int64_t n = 0; n < s.batch; ++n) {
          const std::int64_t at = (n * s.channels + c) * s.places;
          const auto rx = read_row(x + at, s.places, scratch_x);
          const auto ry = read_row(y + at, s.places, scratch_y);
          first[static_cast<std::size_t>(c)] += f(rx, ry, c, 1).sum();
          second[static_cast<std::size_t>(c)] += g(rx, ry, c, 1).sum();
        }
    });
  } else {
    parallel_for(0, s.channels, row_grain(s.batch), [&](std::int64_t begin, std::int64_t end) {
      std::vector<C> scratch_x, scratch_y;
      const std::int64_t width = end - begin;
      MutableRow<double> a(first.data() + begin, width), b(second.data() + begin, width);
      for (std::int64_t n = 0; n < s.batch; ++n) {
        const std::int64_t at = n * s.channels + begin;
        const auto rx = read_row(x + at, width, scratch_x);
        const auto ry = read_row(y + at, width, scratch_y);
        a += f(rx, ry, begin, width).template cast<double>();
        b += g(rx, ry, begin, width).template cast<double>();
      }
    });
  }
}

/// Calls body(row of out, row of x, row of y, first channel, channels in the row) over the whole array.
template <class T, class Body>
void for_rows(const NormShape& s, Body&& body) {
  const bool along_places = s.places > 1;
  const std::int64_t rows = along_places ? s.batch * s.channels : s.batch;
  const std::int64_t width = along_places ? s.places : s.channels;
  parallel_for(0, rows, row_grain(width), [&](std::int64_t begin, std::int64_t end) {
    std::vector<Compute<T>> a, b, c;
    for (std::int64_t row = begin; row < end; ++row)
      body(row * width, width, along_places ? row % s.channels : 0, along_places ? 1 : width, a, b, c);
  });
}

/// row - mean, with one mean for a row of places, or one for each value of a row of channels.
template <class C, class Row>
Eigen::Array<C, Eigen::Dynamic, 1> centred(const Row& row, const std::vector<C>& mean, std::int64_t channel,
                                           std::int64_t channels) {
  if (channels == 1) return row - mean[static_cast<std::size_t>(channel)];
  return row - ConstRow<C>(mean.data() + channel, channels);
}

template <class T>
std::vector<Compute<T>> statistics(const NdArray& x) {
  return std::vector<Compute<T>>(x.address_as<Compute<T>>(), x.address_as<Compute<T>>() + x.numel());
}

void find_statistics(BatchStatistics& stats, const NdArray& x, const NormShape& s, double eps) {
  visit_floating(x.dtype(), "batch_norm", [&]<class T> {
    using C = Compute<T>;
    const double count = static_cast<double>(s.batch * s.places);
    Doubles sums, unused;
    const auto first = [](const auto& row, const auto&, std::int64_t, std::int64_t) { return row; };
    const auto none = [](const auto& row, const auto&, std::int64_t, std::int64_t) { return row * C(0); };
    channel_sums(sums, unused, x.address_as<T>(), x.address_as<T>(), s, first, none);
    std::vector<C> means(sums.size());
    for (std::size_t c = 0; c < sums.size(); ++c)
      stats.mean.address_as<C>()[c] = means[c] = static_cast<C>(sums[c] / count);
    // Twice through the data: squares of differences do not cancel.
    const auto rounding = [&](const auto& row, const auto&, std::int64_t c, std::int64_t n) {
      return centred(row, means, c, n);
    };
    const auto deviation = [&](const auto& row, const auto& other, std::int64_t c, std::int64_t n) {
      return rounding(row, other, c, n).square().eval();
    };
    channel_sums(sums, unused, x.address_as<T>(), x.address_as<T>(), s, deviation, rounding);
    const auto outside = [&](double squares) { return leaves_range<C>(squares / count, eps); };
    if (std::any_of(sums.begin(), sums.end(), outside)) {
      const auto wide = [&](const auto& row, const auto& other, std::int64_t c, std::int64_t n) {
        return rounding(row, other, c, n).template cast<double>().square().eval();
      };
      channel_sums(sums, unused, x.address_as<T>(), x.address_as<T>(), s, wide, rounding);
    }
    for (std::size_t c = 0; c < sums.size(); ++c) {
      const double var = (sums[c] - unused[c] * unused[c] / count) / count;
      if (stats.var.defined()) stats.var.address_as<C>()[c] = static_cast<C>(var);
      stats.rstd.address_as<C>()[c] = static_cast<C>(1 / std::sqrt(var + eps));
    }
  });
}

}  // namespace

void batch_norm_apply(NdArray& out, const NormSaved& in, const NdArray& bias, const NormShape& s) {
  visit_floating(in.x.dtype(), "batch_norm", [&]<class T> {
    using C = Compute<T>;
    std::vector<C> scale = read_all<T>(in.weight, s.channels, C(1)),
                   shift = read_all<T>(bias, s.channels, C(0));
    for (std::size_t c = 0; c < scale.size(); ++c) {
      scale[c] *= in.rstd.address_as<C>()[c];
      shift[c] -= in.mean.address_as<C>()[c] * scale[c];
    }
    const T* const x = in.x.address_as<T>();
    T* const o = out.address_as<T>();
    for_rows<T>(s, [&](std::int64_t at, std::int64_t width, std::int64_t c, std::int64_t channels, auto& a,
                       auto& b, auto&) {
      const auto row = read_row(x + at, width, a);
      if (channels == 1)
        write_row(o + at, width,
                  row * scale[static_cast<std::size_t>(c)] + shift[static_cast<std::size_t>(c)], b);
      else
        write_row(o + at, width, row * ConstRow<C>(scale.data(), width) + ConstRow<C>(shift.data(), width),
                  b);
    });
  });
}

void batch_norm_train(NdArray& out, BatchStatistics& stats, const NdArray& x, const NdArray& weight,
                      const NdArray& bias, const NormShape& s, double eps) {
  find_statistics(stats, x, s, eps);
  batch_norm_apply(out, {x, stats.mean, stats.rstd, weight}, bias, s);
}

void batch_norm_backward(NormGrads& out, const NdArray& dy, const NormSaved& in, const NormShape& s,
                         bool training) {
  visit_floating(dy.dtype(), "batch_norm_backward", [&]<class T> {
    using C = Compute<T>;
    const std::vector<C> mean = statistics<T>(in.mean), rstd = statistics<T>(in.rstd);
    const T *const x = in.x.address_as<T>(), *const g = dy.address_as<T>();
    Doubles dot, sum;
    channel_sums(
        dot, sum, x, g, s,
        [&](const auto& row, const auto& grad, std::int64_t c, std::int64_t n) {
          return (centred(row, mean, c, n) * grad).eval();
        },
        [](const auto&, const auto& grad, std::int64_t, std::int64_t) { return grad; });
    const double count = static_cast<double>(s.batch * s.places);
    const std::vector<C> weight = read_all<T>(in.weight, s.channels, C(1));
    std::vector<C> scale(mean.size()), slope(mean.size()), shift(mean.size());
    for (std::size_t c = 0; c < mean.size(); ++c) {
      if (out.dweight.defined())
        out.dweight.address_as<T>()[c] = static_cast<T>(static_cast<C>(dot[c] * rstd[c]));
      if (out.dbias.defined()) out.dbias.address_as<T>()[c] = static_cast<T>(static_cast<C>(sum[c]));
      // dx = scale (dy - slope (x - mean) - shift)
      scale[c] = rstd[c] * weight[c];
      slope[c] = training ? static_cast<C>(dot[c] / count * rstd[c] * rstd[c]) : C(0);
      shift[c] = training ? static_cast<C>(sum[c] / count) : C(0);
    }
    if (!out.dx.defined()) return;
    T* const o = out.dx.address_as<T>();
    for_rows<T>(s, [&](std::int64_t at, std::int64_t width, std::int64_t c, std::int64_t n, auto& a, auto& b,
                       auto& d) {
      const auto row = read_row(x + at, width, a);
      const auto grad = read_row(g + at, width, b);
      const auto i = static_cast<std::size_t>(c);
      if (n == 1 && width != 1)
        write_row(o + at, width, (grad - (row - mean[i]) * slope[i] - shift[i]) * scale[i], d);
      else
        write_row(o + at, width,
                  (grad - (row - ConstRow<C>(mean.data() + c, width)) * ConstRow<C>(slope.data() + c, width) -
                   ConstRow<C>(shift.data() + c, width)) *
                      ConstRow<C>(scale.data() + c, width),
                  d);
    });
  });
}

}  // namespace ebb::cpu

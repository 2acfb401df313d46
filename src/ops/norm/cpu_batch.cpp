// batch_norm on the CPU. The order of additions in a channel sum is fixed.
#include <ebb/core/visit.h>

#include "ops/norm/cpu_rows.h"
#include "ops/norm/kernels.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ebb::cpu {

namespace {

using Doubles = std::vector<double>;

/// Divides the array into contiguous rows of `width` elements. If there are at least kFewPlaces places
/// (along_places), a row contains the places of one channel of one sample. Otherwise a row contains all
/// channels and places of one or more samples, as many as fit into kWidth elements.
struct Rows {
  static constexpr std::int64_t kFewPlaces = 64, kWidth = 512;

  explicit Rows(const NormShape& shape)
      : s(shape), along_places(s.places >= kFewPlaces), elements(s.batch * s.channels * s.places) {
    const std::int64_t period = s.channels * s.places;
    width = along_places ? s.places
                         : period * std::max<std::int64_t>(kWidth / std::max<std::int64_t>(period, 1), 1);
    count = elements == 0 ? 0 : (elements + width - 1) / width;
  }

  /// Calls f(c, n) for each run of n elements of channel c, in a row that contains all channels.
  template <class F>
  void runs(F f) const {
    for (std::int64_t at = 0; at < width; at += s.channels * s.places)
      for (std::int64_t c = 0; c < s.channels; ++c)
        f(static_cast<std::size_t>(c), static_cast<std::size_t>(s.places));
  }

  /// If a row contains all channels, returns the value of each element's channel for one row. Otherwise
  /// returns `of_channels` unchanged.
  template <class C>
  std::vector<C> spread(const std::vector<C>& of_channels) const {
    if (along_places || count == 0) return of_channels;
    std::vector<C> out;
    out.reserve(static_cast<std::size_t>(width));
    runs([&](std::size_t c, std::size_t n) { out.insert(out.end(), n, of_channels[c]); });
    return out;
  }

  NormShape s;
  bool along_places;
  std::int64_t elements, width, count;
};

/// Select the values for a row from a vector that spread() has returned. ChannelValue returns the value of
/// the row's channel; ElementValues returns the values of the row's n elements.
struct ChannelValue {
  std::int64_t channel;
  template <class C>
  C operator()(const std::vector<C>& values) const {
    return values[static_cast<std::size_t>(channel)];
  }
};
struct ElementValues {
  std::int64_t from, n;
  template <class C>
  ConstRow<C> operator()(const std::vector<C>& values) const {
    return {values.data() + from, n};
  }
};

/// Calls body(first element, count, ChannelValue or ElementValues, three scratch vectors for conversion) for
/// each row.
template <class T, class Body>
void for_rows(const Rows& rows, Body&& body) {
  parallel_for(0, rows.count, row_grain(rows.width), [&](std::int64_t begin, std::int64_t end) {
    std::vector<Compute<T>> a, b, c;
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t at = row * rows.width, n = std::min(rows.width, rows.elements - at);
      if (rows.along_places)
        body(at, n, ChannelValue{row % rows.s.channels}, a, b, c);
      else
        body(at, n, ElementValues{0, n}, a, b, c);
    }
  });
}

/// Computes f(row of x, row of y, ChannelValue or ElementValues) for each function f and each row. Returns
/// the sums, in double, of these values over the elements of each channel.
template <class T, class... F>
std::array<Doubles, sizeof...(F)> channel_sums(const T* x, const T* y, const Rows& rows, F... f) {
  const NormShape& s = rows.s;
  std::array<Doubles, sizeof...(F)> sums;
  sums.fill(Doubles(static_cast<std::size_t>(s.channels), 0));
  if (rows.along_places) {
    parallel_for(0, s.channels, row_grain(s.batch * s.places), [&](std::int64_t begin, std::int64_t end) {
      std::vector<Compute<T>> scratch_x, scratch_y;
      for (std::int64_t c = begin; c < end; ++c)
        for (std::int64_t n = 0; n < s.batch; ++n) {
          const std::int64_t at = (n * s.channels + c) * s.places;
          const auto rx = read_row(x + at, s.places, scratch_x), ry = read_row(y + at, s.places, scratch_y);
          auto* sum = sums.data();
          (((*sum++)[static_cast<std::size_t>(c)] += f(rx, ry, ChannelValue{c}).sum()), ...);
        }
    });
    return sums;
  }
  // Sums blocks of rows, then adds the sums in order, so the result does not depend on the number of threads.
  // Within a block it processes kAtOnce columns at a time, whose sums fit into the L1 cache.
  constexpr std::int64_t kBlock = 64, kAtOnce = 1024;
  const std::int64_t blocks = (rows.count + kBlock - 1) / kBlock;
  std::array<Doubles, sizeof...(F)> parts;
  parts.fill(Doubles(static_cast<std::size_t>(blocks * s.channels), 0));
  parallel_for(0, blocks, row_grain(kBlock * rows.width), [&](std::int64_t begin, std::int64_t end) {
    std::vector<Compute<T>> scratch_x, scratch_y;
    std::array<Doubles, sizeof...(F)> lanes;
    for (std::int64_t block = begin; block < end; ++block) {
      lanes.fill(Doubles(static_cast<std::size_t>(rows.width), 0));
      const std::int64_t last = std::min(rows.count, (block + 1) * kBlock);
      for (std::int64_t from = 0; from < rows.width; from += kAtOnce)
        for (std::int64_t row = block * kBlock; row < last; ++row) {
          const std::int64_t at = row * rows.width + from;
          const std::int64_t n = std::min({kAtOnce, rows.width - from, rows.elements - at});
          if (n <= 0) break;
          const auto rx = read_row(x + at, n, scratch_x), ry = read_row(y + at, n, scratch_y);
          auto* lane = lanes.data();
          ((MutableRow<double>((lane++)->data() + from, n) +=
            f(rx, ry, ElementValues{from, n}).template cast<double>()),
           ...);
        }
      for (std::size_t i = 0; i < lanes.size(); ++i) {
        double* const part = parts[i].data() + block * s.channels;
        const double* lane = lanes[i].data();
        rows.runs([&](std::size_t c, std::size_t n) {
          for (; n > 0; --n) part[c] += *lane++;
        });
      }
    }
  });
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (std::size_t k = 0; k < parts[i].size(); ++k) sums[i][k % sums[i].size()] += parts[i][k];
  return sums;
}

template <class T>
std::vector<Compute<T>> statistics(const NdArray& x) {
  return std::vector<Compute<T>>(x.address_as<Compute<T>>(), x.address_as<Compute<T>>() + x.numel());
}

void find_statistics(BatchStatistics& stats, const NdArray& array, const NormShape& s, double eps) {
  visit_floating(array.dtype(), "batch_norm", [&]<class T> {
    using C = Compute<T>;
    const Rows rows(s);
    const T* const x = array.address_as<T>();
    const double count = static_cast<double>(s.batch * s.places);
    const auto [totals] = channel_sums(x, x, rows, [](const auto& row, const auto&, auto) { return row; });
    std::vector<C> means(totals.size());
    for (std::size_t c = 0; c < totals.size(); ++c)
      stats.mean.address_as<C>()[c] = means[c] = static_cast<C>(totals[c] / count);
    // Computes the variance in a second pass over the data. Unlike mean(x^2) - mean^2, the sum of squared
    // differences from the mean loses no digits by cancellation.
    const std::vector<C> mean = rows.spread(means);
    const auto rounding = [&](const auto& row, const auto&, auto of) { return row - of(mean); };
    auto [squares, roundings] = channel_sums(
        x, x, rows, [&](const auto& row, const auto&, auto of) { return (row - of(mean)).square(); },
        rounding);
    const auto outside = [&](double sum) { return is_out_of_range<C>(sum / count, eps); };
    if (std::any_of(squares.begin(), squares.end(), outside))
      squares = channel_sums(x, x, rows, [&](const auto& row, const auto&, auto of) {
        return (row - of(mean)).template cast<double>().square();
      })[0];
    for (std::size_t c = 0; c < squares.size(); ++c) {
      const double var = (squares[c] - roundings[c] * roundings[c] / count) / count;
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
    const Rows rows(s);
    scale = rows.spread(scale), shift = rows.spread(shift);
    const T* const x = in.x.address_as<T>();
    T* const o = out.address_as<T>();
    for_rows<T>(rows, [&](std::int64_t at, std::int64_t n, auto of, auto& a, auto& b, auto&) {
      write_row(o + at, n, read_row(x + at, n, a) * of(scale) + of(shift), b);
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
    const Rows rows(s);
    const std::vector<C> mean = rows.spread(statistics<T>(in.mean)), rstd = statistics<T>(in.rstd);
    const T *const x = in.x.address_as<T>(), *const g = dy.address_as<T>();
    const auto [dot, sum] = channel_sums(
        x, g, rows, [&](const auto& row, const auto& grad, auto of) { return (row - of(mean)) * grad; },
        [](const auto&, const auto& grad, auto) { return grad; });
    const double count = static_cast<double>(s.batch * s.places);
    const std::vector<C> weight = read_all<T>(in.weight, s.channels, C(1));
    std::vector<C> scale(rstd.size()), slope(rstd.size()), shift(rstd.size());
    for (std::size_t c = 0; c < rstd.size(); ++c) {
      if (out.dweight.defined())
        out.dweight.address_as<T>()[c] = static_cast<T>(static_cast<C>(dot[c] * rstd[c]));
      if (out.dbias.defined()) out.dbias.address_as<T>()[c] = static_cast<T>(static_cast<C>(sum[c]));
      // dx = scale (dy - slope (x - mean) - shift)
      scale[c] = rstd[c] * weight[c];
      slope[c] = training ? static_cast<C>(dot[c] / count * rstd[c] * rstd[c]) : C(0);
      shift[c] = training ? static_cast<C>(sum[c] / count) : C(0);
    }
    if (!out.dx.defined()) return;
    scale = rows.spread(scale), slope = rows.spread(slope), shift = rows.spread(shift);
    T* const o = out.dx.address_as<T>();
    for_rows<T>(rows, [&](std::int64_t at, std::int64_t n, auto of, auto& a, auto& b, auto& d) {
      write_row(
          o + at, n,
          (read_row(g + at, n, b) - (read_row(x + at, n, a) - of(mean)) * of(slope) - of(shift)) * of(scale),
          d);
    });
  });
}

}  // namespace ebb::cpu

// layer_norm and group_norm on the CPU: short rows of layer_norm in blocks, others one at a time.
#include <ebb/core/visit.h>

#include "ops/norm/cpu_row_lanes.h"
#include "ops/norm/kernels.h"

#include <cmath>

namespace ebb::cpu {

namespace {

constexpr std::int64_t kPieces = 16;  // parts of a sum over rows; it does not depend on the number of threads

template <class C>
struct Moments {
  C mean, rstd;
  template <class Row>
  Moments(const Row& row, double eps, bool centred = true) {
    const auto n = static_cast<double>(row.size());
    mean = static_cast<C>(centred ? sum_of(row) / n : 0);
    double variance = sum_of((row - mean).square()) / n;
    if (is_out_of_range<C>(variance, eps)) [[unlikely]] {
      const auto wide = row.template cast<double>();
      const double exact = centred ? wide.mean() : 0;
      mean = static_cast<C>(exact);
      variance = (wide - exact).square().mean();
    }
    rstd = static_cast<C>(1 / std::sqrt(variance + eps));
  }
};

/// The moments of the rows of a block, in lanes.
template <class C>
struct BlockMoments {
  RowLanes<C> mean, rstd;
  /// `rows` contains the `count` rows of the block one after another, `width` elements each.
  BlockMoments(RowBlock<C>& block, const C* rows, std::int64_t count, std::int64_t width, double eps,
               bool centred) {
    const auto n = static_cast<double>(width);
    mean.setZero();
    if (centred) {
      const RowLanes<C> sum = sum_lanes<C>(width, [&](std::int64_t k) { return block[k]; });
      for (std::int64_t r = 0; r < mean.size(); ++r) mean[r] = static_cast<C>(sum[r] / n);
    }
    const RowLanes<C> squares =
        sum_lanes<C>(width, [&](std::int64_t k) -> RowLanes<C> { return (block[k] - mean).square(); });
    for (std::int64_t r = 0; r < rstd.size(); ++r)
      rstd[r] = static_cast<C>(1 / std::sqrt(squares[r] / n + eps));
    for (std::int64_t r = 0; r < count; ++r)
      if (is_out_of_range<C>(squares[r] / n, eps)) [[unlikely]] {
        const Moments<C> exact(ConstRow<C>(rows + r * width, width), eps, centred);
        mean[r] = exact.mean;
        rstd[r] = exact.rstd;
      }
  }
};

/// Returns `count` elements of in.x, beginning at `first`. If in.residual is defined, writes elements of in.x
/// + in.residual to in.sum and returns those.
template <class T>
const T* elements_of(const NormInput& in, std::int64_t first, std::int64_t count,
                     std::vector<Compute<T>> (&scratch)[3]) {
  const T* const x = in.x.address_as<T>() + first;
  if (!in.residual.defined()) return x;
  T* const sum = in.sum.address_as<T>() + first;
  const T* const residual = in.residual.address_as<T>() + first;
  write_row(sum, count, read_row(x, count, scratch[0]) + read_row(residual, count, scratch[1]), scratch[2]);
  return sum;
}

}  // namespace

void layer_norm(NdArray& out, NdArray& mean, NdArray& rstd, const NormInput& in, const NdArray& weight,
                const NdArray& bias, const NormShape& s, double eps) {
  visit_floating(in.x.dtype(), "layer_norm", [&]<class T> {
    using C = Compute<T>;
    const std::vector<C> w = read_all<T>(weight, s.channels, C(1)), b = read_all<T>(bias, s.channels, C(0));
    const ConstRow<C> scale(w.data(), s.channels), shift(b.data(), s.channels);
    const std::int64_t width = s.channels;
    C* const means = mean.address_as<C>();
    C* const rstds = rstd.address_as<C>();
    parallel_for(0, s.batch, row_grain(width), [&](std::int64_t begin, std::int64_t end) {
      std::vector<C> scratch[3];
      if (width <= kLongestLane) {
        RowBlock<C> block(width);
        for (std::int64_t n = begin; n < end; n += block.kRows) {
          const std::int64_t rows = std::min(block.kRows, end - n), count = rows * width;
          const auto x = read_row(elements_of<T>(in, n * width, count, scratch), count, scratch[0]);
          block.load(x.data(), rows);
          const BlockMoments<C> m(block, x.data(), rows, width, eps, s.centred);
          std::copy_n(m.mean.data(), rows, means + n);
          std::copy_n(m.rstd.data(), rows, rstds + n);
          for (std::int64_t k = 0; k < width; ++k)
            block[k] = (block[k] - m.mean) * m.rstd * scale[k] + shift[k];
          write_row(out.address_as<T>() + n * width, count, block.rows(rows), scratch[1]);
        }
        return;
      }
      for (std::int64_t n = begin; n < end; ++n) {
        const auto row = read_row(elements_of<T>(in, n * width, width, scratch), width, scratch[0]);
        const Moments<C> m(row, eps, s.centred);
        means[n] = m.mean;
        rstds[n] = m.rstd;
        write_row(out.address_as<T>() + n * width, width, (row - m.mean) * m.rstd * scale + shift,
                  scratch[1]);
      }
    });
  });
}

void layer_norm_backward(NormGrads& out, const NdArray& dy, const NormSaved& in, const NormShape& s) {
  visit_floating(dy.dtype(), "layer_norm_backward", [&]<class T> {
    using C = Compute<T>;
    const std::int64_t width = s.channels;
    const std::vector<C> w = read_all<T>(in.weight, width, C(1));
    const ConstRow<C> scale(w.data(), width);
    const std::int64_t rows_each = (s.batch + kPieces - 1) / kPieces;
    // [kPieces, 2, width]: the sums of each part, first for dweight, then for dbias.
    std::vector<C> sums(static_cast<std::size_t>(2 * kPieces * width));
    const auto each = static_cast<double>(width);
    const auto write_dx = [&](std::int64_t n, std::int64_t rows, const auto& dx, auto& scratch, auto& more) {
      T* const to = out.dx.address_as<T>() + n * width;
      const std::int64_t count = rows * width;
      if (in.more.defined())
        write_row(to, count, dx + read_row(in.more.address_as<T>() + n * width, count, more), scratch);
      else
        write_row(to, count, dx, scratch);
    };
    parallel_for(0, kPieces, row_grain(width * rows_each), [&](std::int64_t first, std::int64_t last) {
      std::vector<C> a, b, d, e;
      const auto add_rows = [&](std::int64_t begin, std::int64_t rows, C* to) {
        MutableRow<C> dw(to, width), db(to + width, width);
        dw = db = C(0);
        for (std::int64_t n = begin; n < begin + rows; ++n) {
          const auto row = read_row(in.x.address_as<T>() + n * width, width, a);
          const auto grad = read_row(dy.address_as<T>() + n * width, width, b);
          const C mean = in.mean.address_as<C>()[n], rstd = in.rstd.address_as<C>()[n];
          if (out.dweight.defined()) dw += grad * (row - mean) * rstd;
          if (out.dbias.defined()) db += grad;
          if (!out.dx.defined()) continue;
          const C average = static_cast<C>(s.centred ? sum_of(grad * scale) / each : 0);
          const C slope = static_cast<C>(sum_of(grad * scale * (row - mean)) * rstd * rstd / each);
          write_dx(n, 1, (grad * scale - average - (row - mean) * slope) * rstd, d, e);
        }
      };
      const auto add_blocks = [&](std::int64_t begin, std::int64_t rows, C* to) {
        RowBlock<C> x(width), g(width), dw(width), db(width);
        for (std::int64_t n = begin; n < begin + rows; n += x.kRows) {
          const std::int64_t count = std::min(x.kRows, begin + rows - n);
          x.load(read_row(in.x.address_as<T>() + n * width, count * width, a).data(), count);
          g.load(read_row(dy.address_as<T>() + n * width, count * width, b).data(), count);
          RowLanes<C> mean = RowLanes<C>::Zero(), rstd = mean, average = mean, slope;
          std::copy_n(in.mean.address_as<C>() + n, count, mean.data());
          std::copy_n(in.rstd.address_as<C>() + n, count, rstd.data());
          for (std::int64_t k = 0; k < width; ++k) {
            dw[k] += g[k] * (x[k] - mean) * rstd;
            db[k] += g[k];
          }
          if (!out.dx.defined()) continue;
          if (s.centred) {
            const auto product = [&](std::int64_t k) -> RowLanes<C> { return g[k] * scale[k]; };
            average = sum_lanes<C>(width, product);
            for (std::int64_t r = 0; r < x.kRows; ++r) average[r] = static_cast<C>(average[r] / each);
          }
          slope = sum_lanes<C>(
              width, [&](std::int64_t k) -> RowLanes<C> { return g[k] * scale[k] * (x[k] - mean); });
          for (std::int64_t r = 0; r < x.kRows; ++r)
            slope[r] = static_cast<C>(static_cast<double>(slope[r]) * rstd[r] * rstd[r] / each);
          for (std::int64_t k = 0; k < width; ++k)
            g[k] = (g[k] * scale[k] - average - (x[k] - mean) * slope) * rstd;
          write_dx(n, count, g.rows(count), d, e);
        }
        for (std::int64_t k = 0; k < width; ++k) {
          to[k] = dw[k].sum();
          to[width + k] = db[k].sum();
        }
      };
      for (std::int64_t piece = first; piece < last; ++piece) {
        const std::int64_t begin = std::min(s.batch, piece * rows_each);
        const std::int64_t rows = std::min(s.batch - begin, rows_each);
        sum_by_runs(kColumnRun, rows, sums.data() + 2 * piece * width, 2 * width,
                    [&](std::int64_t from, std::int64_t n, C* to) {
                      if (width <= kLongestLane)
                        add_blocks(begin + from, n, to);
                      else
                        add_rows(begin + from, n, to);
                    });
      }
    });
    const auto total = [&](NdArray& into, C* pieces) {
      if (!into.defined()) return;
      MutableRow<C> sum(pieces, width);
      for (std::int64_t piece = 1; piece < kPieces; ++piece)
        sum += ConstRow<C>(pieces + 2 * piece * width, width);
      for (std::int64_t i = 0; i < width; ++i) into.address_as<T>()[i] = static_cast<T>(sum[i]);
    };
    total(out.dweight, sums.data());
    total(out.dbias, sums.data() + width);
  });
}

void group_norm(NdArray& out, NdArray& mean, NdArray& rstd, const NdArray& x, const NdArray& weight,
                const NdArray& bias, const NormShape& s, double eps) {
  visit_floating(x.dtype(), "group_norm", [&]<class T> {
    using C = Compute<T>;
    const std::vector<C> w = read_all<T>(weight, s.channels, C(1)), b = read_all<T>(bias, s.channels, C(0));
    const std::int64_t each = s.channels / s.groups, width = each * s.places;
    parallel_for(0, s.batch * s.groups, row_grain(width), [&](std::int64_t begin, std::int64_t end) {
      std::vector<C> in, scratch;
      for (std::int64_t row = begin; row < end; ++row) {
        const auto values = read_row(x.address_as<T>() + row * width, width, in);
        const Moments<C> m(values, eps);
        mean.address_as<C>()[row] = m.mean;
        rstd.address_as<C>()[row] = m.rstd;
        for (std::int64_t i = 0; i < each; ++i) {
          const auto c = static_cast<std::size_t>(row % s.groups * each + i);
          write_row(out.address_as<T>() + row * width + i * s.places, s.places,
                    (values.segment(i * s.places, s.places) - m.mean) * (m.rstd * w[c]) + b[c], scratch);
        }
      }
    });
  });
}

void group_norm_backward(NormGrads& out, const NdArray& dy, const NormSaved& in, const NormShape& s) {
  visit_floating(dy.dtype(), "group_norm_backward", [&]<class T> {
    using C = Compute<T>;
    const std::vector<C> w = read_all<T>(in.weight, s.channels, C(1));
    const std::int64_t each = s.channels / s.groups, width = each * s.places;
    // [batch, channels]: the sums for each sample and channel. They are added over the samples in order
    // below.
    std::vector<double> dot(static_cast<std::size_t>(s.batch * s.channels)), sum(dot.size());
    parallel_for(0, s.batch * s.groups, row_grain(width), [&](std::int64_t begin, std::int64_t end) {
      std::vector<C> a, b, d;
      for (std::int64_t row = begin; row < end; ++row) {
        const auto values = read_row(in.x.address_as<T>() + row * width, width, a);
        const auto grads = read_row(dy.address_as<T>() + row * width, width, b);
        const C mean = in.mean.address_as<C>()[row], rstd = in.rstd.address_as<C>()[row];
        const std::int64_t sample = row / s.groups, channel = row % s.groups * each;
        double average = 0, slope = 0;
        for (std::int64_t i = 0; i < each; ++i) {
          const auto at = static_cast<std::size_t>(sample * s.channels + channel + i);
          const auto grad = grads.segment(i * s.places, s.places);
          sum[at] = sum_of(grad);
          dot[at] = sum_of(grad * (values.segment(i * s.places, s.places) - mean)) * rstd;
          average += sum[at] * w[static_cast<std::size_t>(channel + i)];
          slope += dot[at] * w[static_cast<std::size_t>(channel + i)];
        }
        if (!out.dx.defined()) continue;
        const C shift = static_cast<C>(average / static_cast<double>(width));
        const C factor = static_cast<C>(slope / static_cast<double>(width)) * rstd;
        for (std::int64_t i = 0; i < each; ++i)
          write_row(out.dx.address_as<T>() + row * width + i * s.places, s.places,
                    (grads.segment(i * s.places, s.places) * w[static_cast<std::size_t>(channel + i)] -
                     shift - (values.segment(i * s.places, s.places) - mean) * factor) *
                        rstd,
                    d);
      }
    });
    const auto total = [&](NdArray& into, const std::vector<double>& samples) {
      if (!into.defined()) return;
      for (std::int64_t c = 0; c < s.channels; ++c) {
        double value = 0;
        for (std::int64_t n = 0; n < s.batch; ++n)
          value += samples[static_cast<std::size_t>(n * s.channels + c)];
        into.address_as<T>()[c] = static_cast<T>(static_cast<C>(value));
      }
    };
    total(out.dweight, dot);
    total(out.dbias, sum);
  });
}

}  // namespace ebb::cpu

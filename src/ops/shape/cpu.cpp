#include "kernel/convert.h"
#include "kernel/wrapping.h"
#include "ops/shape/cpu_walk.h"
#include "ops/shape/kernels.h"

#include <ebb/core/visit.h>

#include <cstring>
#include <type_traits>

namespace ebb::cpu {

namespace {

template <class T>
T plus(T a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    return a || b;
  else
    return wrapping_add(a, b);
}

}  // namespace

void join(NdArray& out, const std::vector<NdArray>& pieces, std::int64_t dim) {
  const auto at_dim = static_cast<std::size_t>(dim);
  std::int64_t begin = 0;
  for (const NdArray& piece : pieces) {
    NdArray place =
        out.as_strided(piece.sizes(), out.strides(), out.offset() + begin * out.strides()[at_dim]);
    strided_copy(place, piece);
    begin += piece.sizes()[at_dim];
  }
}

void strided_copy(NdArray& out, const NdArray& x) {
  if (out.numel() == 0) return;
  const std::int64_t bytes = element_size(out.dtype());
  if (out.is_contiguous() && x.is_contiguous() && out.numel() < kGrain) {
    std::memcpy(out.data(), x.data(), static_cast<std::size_t>(out.numel() * bytes));
    return;
  }
  const Walk<2> walk(out.sizes(), {out.strides(), x.strides()});
  visit_width(bytes, [&]<class T>(T) {
    T* const to = static_cast<T*>(out.data());
    const T* const from = static_cast<const T*>(x.data());
    walk([=](std::int64_t n, const std::array<std::int64_t, 2>& at, const std::array<std::int64_t, 2>& step) {
      T* const o = to + at[0];
      const T* const i = from + at[1];
      if (step[0] == 1 && step[1] == 1) {
        if (n >= 16)
          std::memcpy(o, i, static_cast<std::size_t>(n) * sizeof(T));
        else
          for (std::int64_t k = 0; k < n; ++k) o[k] = i[k];
      } else if (step[0] == 1) {
        for (std::int64_t k = 0; k < n; ++k) o[k] = i[k * step[1]];
      } else {
        for (std::int64_t k = 0; k < n; ++k) o[k * step[0]] = i[k * step[1]];
      }
    });
  });
}

void strided_add(NdArray& out, const NdArray& x) {
  if (out.numel() == 0) return;
  const Walk<2> walk(out.sizes(), {out.strides(), x.strides()});
  visit_all(out.dtype(), "add", [&]<class T> {
    T* const to = out.data_as<T>();
    const T* const from = x.data_as<T>();
    walk([=](std::int64_t n, const std::array<std::int64_t, 2>& at, const std::array<std::int64_t, 2>& step) {
      T* const o = to + at[0];
      const T* const i = from + at[1];
      if (step[0] == 1 && step[1] == 1)
        for (std::int64_t k = 0; k < n; ++k) o[k] = plus(o[k], i[k]);
      else
        for (std::int64_t k = 0; k < n; ++k) o[k * step[0]] = plus(o[k * step[0]], i[k * step[1]]);
    });
  });
}

void strided_fill(NdArray& out, const Scalar& value) {
  if (out.numel() == 0) return;
  const Walk<1> walk(out.sizes(), {out.strides()});
  visit_all(out.dtype(), "fill", [&]<class T> {
    const T v = element<T>(value);
    T* const to = out.data_as<T>();
    walk([=](std::int64_t n, const std::array<std::int64_t, 1>& at, const std::array<std::int64_t, 1>& step) {
      T* const o = to + at[0];
      if (step[0] == 1)
        std::fill_n(o, n, v);
      else
        for (std::int64_t k = 0; k < n; ++k) o[k * step[0]] = v;
    });
  });
}

void triangle(NdArray& out, const NdArray& x, std::int64_t diagonal, bool lower) {
  if (out.numel() == 0) return;
  const std::size_t rank = out.sizes().size();
  const std::int64_t columns = out.sizes()[rank - 1], rows = out.sizes()[rank - 2];
  const std::int64_t out_step = out.strides()[rank - 1], x_step = x.strides()[rank - 1];
  visit_width(element_size(out.dtype()), [&]<class T>(T) {
    T* const to = static_cast<T*>(out.data());
    const T* const from = static_cast<const T*>(x.data());
    const std::int64_t grain = std::max<std::int64_t>(kGrain / columns, 1);
    parallel_for(0, out.numel() / columns, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t line = begin; line < end; ++line) {
        std::int64_t rest = line, out_at = 0, x_at = 0;
        for (std::size_t d = rank - 1; d-- > 0;) {
          out_at += rest % out.sizes()[d] * out.strides()[d];
          x_at += rest % out.sizes()[d] * x.strides()[d];
          rest /= out.sizes()[d];
        }
        const std::int64_t edge = line % rows + diagonal;  // the column of the diagonal
        const std::int64_t kept_from = lower ? 0 : std::clamp<std::int64_t>(edge, 0, columns);
        const std::int64_t kept_to = lower ? std::clamp<std::int64_t>(edge + 1, 0, columns) : columns;
        T* const o = to + out_at;
        const T* const i = from + x_at;
        for (std::int64_t c = 0; c < kept_from; ++c) o[c * out_step] = T{};
        if (o != i || out_step != x_step)
          for (std::int64_t c = kept_from; c < kept_to; ++c) o[c * out_step] = i[c * x_step];
        for (std::int64_t c = kept_to; c < columns; ++c) o[c * out_step] = T{};
      }
    });
  });
}

}  // namespace ebb::cpu

// Matrix products and dot products on the CPU.
#include <ebb/core/visit.h>

#include "core/parallel_for.h"
#include "kernel/cpu/gemm.h"
#include "ops/linalg/kernels.h"

#include <algorithm>
#include <type_traits>

namespace ebb::cpu {
namespace {

// Returns the i-th matrix of x.
template <class T>
Matrix<T> matrix(const NdArray& x, std::int64_t i) {
  const std::size_t d = static_cast<std::size_t>(x.dim());
  const std::int64_t step = d == 3 ? x.strides()[0] : 0;
  return {x.address_as<std::remove_const_t<T>>() + i * step, x.sizes()[d - 2], x.sizes()[d - 1],
          x.strides()[d - 2], x.strides()[d - 1]};
}

template <class T>
void copy(Matrix<const T> from, Matrix<T> to) {
  for (std::int64_t i = 0; i < to.rows; ++i) {
    if (from.col_stride == 1 && to.col_stride == 1)
      std::copy_n(from.data + i * from.row_stride, to.cols, to.data + i * to.row_stride);
    else
      for (std::int64_t j = 0; j < to.cols; ++j) to(i, j) = from(i, j);
  }
}

template <class T, class Out>
void product_of(Matrix<const T> a, Matrix<const T> b, Matrix<Out> c, const ProductArgs& args, bool keep) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
    gemm<T>(a, b, c, args.alpha.to<T>(), keep ? args.beta.to<T>() : T(0));
  else if constexpr (std::is_integral_v<T>)  // unsigned sums wrap around
    gemm_loops<std::uint64_t>(a, b, c, static_cast<std::uint64_t>(args.alpha.to_long()),
                              keep ? static_cast<std::uint64_t>(args.beta.to_long()) : 0);
  else
    gemm_halves<T, Out>(a, b, c, args.alpha.toFloat(), keep ? args.beta.toFloat() : 0.f);
}

// Computes all matrices of a batch with operands of type T.
template <class T, class Out>
void products(NdArray& out, const NdArray& init, const NdArray& a, const NdArray& b,
              const ProductArgs& args) {
  const bool keep = init.defined() && args.beta.to_double() != 0;
  const bool in_place = keep && init.address() == out.address() && init.sizes() == out.sizes() &&
                        init.strides() == out.strides();
  const NdArray start = keep && !in_place ? init.expand(out.sizes()) : NdArray();
  const std::int64_t count = out.dim() == 3 ? out.sizes()[0] : 1;
  const Matrix<const T> first = matrix<const T>(a, 0);
  const std::int64_t work = std::max<std::int64_t>(first.rows * first.cols * matrix<Out>(out, 0).cols, 1);
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain * 2 / work);
  const auto run = [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      const Matrix<const T> x = matrix<const T>(a, i), y = matrix<const T>(b, i);
      const Matrix<Out> c = matrix<Out>(out, i);
      if (start.defined()) copy(matrix<const Out>(start, i), c);
      product_of<T>(args.a_transposed ? x.t() : x, args.b_transposed ? y.t() : y, c, args, keep);
    }
  };
  if (count == 1)
    run(0, 1);
  else
    parallel_for(0, count, grain, run);
}

}  // namespace

void product(NdArray& out, const NdArray& init, const NdArray& a, const NdArray& b, const ProductArgs& args) {
  if (a.dtype() == out.dtype())
    visit_numeric(out.dtype(), "matmul", [&]<class T> { products<T, T>(out, init, a, b, args); });
  else if (a.dtype() == kBFloat16)
    products<BFloat16, float>(out, init, a, b, args);
  else
    products<Half, float>(out, init, a, b, args);
}

void dot(NdArray& out, const NdArray& x, const NdArray& y) {
  const std::int64_t n = x.numel(), sx = x.strides()[0], sy = y.strides()[0];
  visit_numeric(out.dtype(), "dot", [&]<class T> {
    const T *p = x.address_as<T>(), *q = y.address_as<T>();
    T& result = *out.address_as<T>();
    if constexpr (std::is_integral_v<T>) {
      std::uint64_t sum{};
      for (std::int64_t i = 0; i < n; ++i)
        sum += static_cast<std::uint64_t>(p[i * sx]) * static_cast<std::uint64_t>(q[i * sy]);
      result = static_cast<T>(sum);
    } else {
      result = dot_strided<T>(n, p, sx, q, sy);
    }
  });
}

}  // namespace ebb::cpu

// Matrix products on the device. cuBLAS computes those of floating dtypes. For integers one thread computes
// each element.
#include <ebb/core/visit.h>

#include "kernel/convert.h"
#include "kernel/cuda/gemm.h"
#include "kernel/cuda/reduce.h"
#include "kernel/cuda/walk.h"
#include "ops/common/kernels.h"
#include "ops/linalg/kernels.h"

namespace ebb::cuda {
namespace {

BatchedMatrix matrix_of(const NdArray& x, bool transposed) {
  const std::size_t d = static_cast<std::size_t>(x.dim());
  BatchedMatrix m{x.address(),        x.sizes()[d - 2],   x.sizes()[d - 1],
                  x.strides()[d - 2], x.strides()[d - 1], d == 3 ? x.strides()[0] : 0};
  if (transposed) {
    std::swap(m.rows, m.columns);
    std::swap(m.row_stride, m.column_stride);
  }
  // The stride of a dimension of size 1 has no effect. It is replaced by the stride in a contiguous matrix.
  if (m.columns == 1 && m.row_stride >= 1) m.column_stride = 1;
  if (m.rows == 1 && m.column_stride == 1) m.row_stride = std::max<std::int64_t>(m.columns, 1);
  return m;
}

// Returns x as a matrix that cuBLAS accepts. If cuBLAS does not accept the strides of x, copies x to `held`
// and returns the copy.
BatchedMatrix readable(const NdArray& x, bool transposed, NdArray& held) {
  const BatchedMatrix m = matrix_of(x, transposed);
  if (m.is_plain()) return m;
  held = NdArray::empty(x.sizes(), x.dtype(), x.device());
  kernels::copy(x.device(), held, x);
  return matrix_of(held, transposed);
}

// Returns whether init is one row that is added to each row of the product, like the bias of a layer.
bool is_bias(const NdArray& init, const NdArray& out, const ProductArgs& args) {
  return out.dim() == 2 && init.dim() == 1 && init.sizes()[0] == out.sizes()[1] && init.is_contiguous() &&
         args.alpha.to_double() == 1 && args.beta.to_double() == 1;
}

template <class T>
struct IntegerProduct {
  BatchedMatrix a, b, c;
  std::uint64_t alpha, beta;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t column = i % c.columns, row = i / c.columns % c.rows, n = i / c.columns / c.rows;
    const T* const x = static_cast<const T*>(a.data) + n * a.batch_stride + row * a.row_stride;
    const T* const y = static_cast<const T*>(b.data) + n * b.batch_stride + column * b.column_stride;
    T& to = static_cast<T*>(c.data)[n * c.batch_stride + row * c.row_stride + column * c.column_stride];
    std::uint64_t sum = 0;  // unsigned sums wrap around
    for (std::int64_t k = 0; k < a.columns; ++k)
      sum += static_cast<std::uint64_t>(x[k * a.column_stride]) *
             static_cast<std::uint64_t>(y[k * b.row_stride]);
    to = static_cast<T>(alpha * sum + (beta != 0 ? beta * static_cast<std::uint64_t>(to) : 0));
  }
};

/// Computes x = factor x.
template <class T>
struct Scale {
  T* x;
  DeviceWalk<1> walk;
  Compute<T> factor;
  __device__ void operator()(std::int64_t i) const {
    std::int64_t at[1];
    walk.offsets(i, at);
    x[at[0]] = static_cast<T>(static_cast<Compute<T>>(x[at[0]]) * factor);
  }
};

// Sets out = beta init. This is the result if the inner dimension is 0, which cuBLAS does not accept.
void scaled_init(NdArray& out, const NdArray& init, bool in_place, const Scalar& beta) {
  if (!in_place) kernels::copy(out.device(), out, init.expand(out.sizes()));
  if (beta.to_double() == 1) return;
  visit_floating(out.dtype(), "matmul", [&]<class T> {
    for_each(out.device(), out.numel(),
             Scale<T>{out.address_as<T>(), DeviceWalk<1>("matmul", out.sizes(), {out.strides()}),
                      static_cast<Compute<T>>(beta.to_double())});
  });
}

template <class T>
using SumType = std::conditional_t<std::is_integral_v<T>, std::uint64_t, Compute<T>>;

template <class T>
struct DotSum {
  using In = T;
  using Acc = SumType<T>;
  T* out;
  const T* y;
  std::int64_t stride;
  EBB_HD Acc identity() const { return 0; }
  EBB_HD Acc load(T x, std::int64_t, std::int64_t i) const {
    return static_cast<Acc>(x) * static_cast<Acc>(y[i * stride]);
  }
  EBB_HD Acc merge(Acc a, Acc b) const { return a + b; }
  EBB_HD void store(std::int64_t, Acc sum) const { *out = static_cast<T>(sum); }
};

}  // namespace

void product(NdArray& out, const NdArray& init, const NdArray& a, const NdArray& b, const ProductArgs& args) {
  visit_numeric(out.dtype(), "matmul", []<class T> {});  // rejects Bool for every size
  if (out.numel() == 0) return;
  const Device device = out.device();
  const bool keep = init.defined() && args.beta.to_double() != 0;
  const bool in_place = keep && init.address() == out.address() && init.sizes() == out.sizes() &&
                        init.strides() == out.strides();
  const std::int64_t batch = out.dim() == 3 ? out.sizes()[0] : 1,
                     inner = a.sizes()[a.dim() - (args.a_transposed ? 2 : 1)];
  if (inner == 0 && !keep) return kernels::fill(device, out, 0);
  if (inner == 0 && is_floating(out.dtype())) return scaled_init(out, init, in_place, args.beta);
  NdArray result = out;
  const BatchedMatrix own = matrix_of(out, false);
  if (own.column_stride != 1 || !own.is_plain()) result = NdArray::empty(out.sizes(), out.dtype(), device);
  const bool elsewhere = result.address() != out.address();
  if (keep && !elsewhere && is_floating(out.dtype()) && is_bias(init, out, args)) {
    NdArray held_a, held_b;
    if (gemm_epilogue(device, out.dtype(), readable(a, args.a_transposed, held_a),
                      readable(b, args.b_transposed, held_b), own, {.bias = init.address()}))
      return;
  }
  if (keep && (!in_place || elsewhere)) kernels::copy(device, result, init.expand(out.sizes()));
  visit_numeric(out.dtype(), "matmul", [&]<class T> {
    if constexpr (std::is_integral_v<T>) {
      for_each(device, out.numel(),
               IntegerProduct<T>{matrix_of(a, args.a_transposed), matrix_of(b, args.b_transposed),
                                 matrix_of(result, false), static_cast<std::uint64_t>(args.alpha.to_long()),
                                 keep ? static_cast<std::uint64_t>(args.beta.to_long()) : 0});
    } else {
      NdArray held_a, held_b;
      const BatchedMatrix x = readable(a, args.a_transposed, held_a),
                          y = readable(b, args.b_transposed, held_b);
      gemm(device, out.dtype(), batch, x, y, matrix_of(result, false), args.alpha.to_double(),
           keep ? args.beta.to_double() : 0);
    }
  });
  if (elsewhere) kernels::copy(device, out, result);
}

bool linear_activation(NdArray& out, NdArray& before, const NdArray& input, const NdArray& weight,
                       const NdArray& bias, ops::LinearActivation activation) {
  using Activation = GemmEpilogue::Activation;
  if (out.numel() == 0 || input.sizes()[1] == 0 || !is_floating(out.dtype()) || !bias.is_contiguous())
    return false;
  GemmEpilogue epilogue{
      .bias = bias.address(),
      .activation = activation == ops::LinearActivation::relu ? Activation::relu : Activation::gelu_tanh};
  if (before.defined()) epilogue.before = matrix_of(before, false);
  NdArray held_a, held_b;
  return gemm_epilogue(out.device(), out.dtype(), readable(input, false, held_a),
                       readable(weight, true, held_b), matrix_of(out, false), epilogue);
}

void dot(NdArray& out, const NdArray& x, const NdArray& y) {
  visit_numeric(out.dtype(), "dot", [&]<class T> {
    reduce(out.device(), DotSum<T>{out.address_as<T>(), y.address_as<T>(), y.strides()[0]}, x, 1);
  });
}

}  // namespace ebb::cuda

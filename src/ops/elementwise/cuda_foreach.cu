// Kernels for lists of tensors on the device. The whole list takes one or two launches, and the host does not
// wait.
#include <ebb/core/visit.h>

#include "kernel/cuda/block_reduce.h"
#include "kernel/cuda/multi_tensor.h"
#include "kernel/reducer_kinds.h"
#include "ops/elementwise/foreach_kernels.h"
#include "ops/elementwise/math_foreach.h"

namespace ebb::cuda {
namespace {

using reducers::Norm;
using reducers::NormKind;

/// Computes one partial result for each block.
template <class T, NormKind kKind>
__global__ void __launch_bounds__(kListThreads)
    norm_kernel(const __grid_constant__ ListPart<1> part, Norm<T, kKind> op, double* partial) {
  using Acc = typename Norm<T, kKind>::Acc;
  constexpr int V = static_cast<int>(16 / sizeof(T));
  __shared__ Acc scratch[kWarp];
  const ListChunk<T, 1> chunk(part);
  const T* const x = chunk.at[0];
  const std::int64_t vectors = chunk.aligned ? chunk.count / V : 0;
  Acc sum = op.identity();
  for (std::int64_t i = threadIdx.x; i < vectors; i += kListThreads) {
    const Vector<T, V> loaded = reinterpret_cast<const Vector<T, V>*>(x)[i];
#pragma unroll
    for (int j = 0; j < V; ++j) sum = op.merge(sum, op.load(loaded.at[j], 0));
  }
  for (std::int64_t i = vectors * V + threadIdx.x; i < chunk.count; i += kListThreads)
    sum = op.merge(sum, op.load(x[i], 0));
  const auto merge = [&](Acc a, Acc b) { return op.merge(a, b); };
  sum = block_reduce(sum, scratch, merge, static_cast<int>(threadIdx.x), static_cast<int>(kListThreads));
  if (threadIdx.x == 0) partial[blockIdx.x] = static_cast<double>(sum);
}

template <class Out, NormKind kKind>
__global__ void __launch_bounds__(kListThreads)
    norm_finish_kernel(Out* out, const double* partial, std::int64_t count, Norm<double, kKind> op) {
  __shared__ double scratch[kWarp];
  double sum = op.identity();
  for (std::int64_t i = threadIdx.x; i < count; i += kListThreads) sum = op.merge(sum, partial[i]);
  const auto merge = [&](double a, double b) { return op.merge(a, b); };
  sum = block_reduce(sum, scratch, merge, static_cast<int>(threadIdx.x), static_cast<int>(kListThreads));
  if (threadIdx.x == 0) *out = static_cast<Out>(op.finish(sum));
}

template <class T, NormKind kKind>
void norm_of(NdArray& out, const EntryList& list, double p) {
  Norm<T, kKind> op;
  Norm<double, kKind> total;
  op.p = total.p = p;
  std::int64_t blocks = 0;
  for (const TensorEntry& entry : list.entries) blocks += (entry.count + kListChunk<T> - 1) / kListChunk<T>;
  const NdArray partial = NdArray::empty({blocks}, kDouble, list.device);
  double* to = partial.address_as<double>();
  for_each_part<T, 1>(list, [&](const ListPart<1>& part, std::uint32_t count) {
    launch(list.device, Grid{dim3(count), dim3(kListThreads)}, &norm_kernel<T, kKind>, part, op, to);
    to += count;
  });
  launch(list.device, Grid{dim3(1), dim3(kListThreads)}, &norm_finish_kernel<Compute<T>, kKind>,
         out.address_as<Compute<T>>(), partial.address_as<double>(), blocks, total);
}

template <class C>
struct ScaleElement {
  C factor;
  __device__ void operator()(C (&values)[1]) const { values[0] *= factor; }
};
template <class C>
struct Scale {
  static constexpr unsigned kWritten = 1;
  const C* norm;
  C max_norm;
  __device__ ScaleElement<C> element() const { return {math::clip_factor(*norm, max_norm)}; }
};

template <class C>
struct Clamp {
  static constexpr unsigned kWritten = 1;
  C low, high;
  __device__ Clamp element() const { return *this; }
  __device__ void operator()(C (&values)[1]) const {
    values[0] = math::clamp_keeping_nan(values[0], low, high);
  }
};

struct Zero {
  static constexpr unsigned kWritten = 1;
  __device__ Zero element() const { return *this; }
  template <class C>
  __device__ void operator()(C (&values)[1]) const {
    values[0] = C(0);
  }
};

template <class C>
struct Lerp {
  static constexpr unsigned kWritten = 1;
  C weight;
  __device__ Lerp element() const { return *this; }
  __device__ void operator()(C (&values)[2]) const { values[0] = math::lerp(values[0], values[1], weight); }
};

template <class C>
struct UnscaleElement {
  C factor;
  float* found_inf;
  __device__ void operator()(C (&values)[1]) const {
    if (!math::is_finite(values[0]))
      *static_cast<volatile float*>(found_inf) = 1;  // several threads may write it concurrently
    values[0] *= factor;
  }
};
template <class C>
struct Unscale {
  static constexpr unsigned kWritten = 1;
  const float* inverse_scale;
  float* found_inf;
  __device__ UnscaleElement<C> element() const { return {static_cast<C>(*inverse_scale), found_inf}; }
};

__global__ void update_scale_kernel(float* scale, std::int32_t* tracker, const float* found_inf,
                                    double growth_factor, double backoff_factor,
                                    std::int32_t growth_interval) {
  math::next_scale(*scale, *tracker, *found_inf != 0, growth_factor, backoff_factor, growth_interval);
}

}  // namespace

void list_norm(NdArray& out, const EntryList& list, double p) {
  visit_floating(list.dtype, "norm", [&]<class T> {
    reducers::with_norm_kind(p, [&]<NormKind kKind> { norm_of<T, kKind>(out, list, p); });
  });
}

void list_scale_to_norm(const EntryList& list, const NdArray& norm, double max_norm) {
  visit_floating(list.dtype, "clip_grad_norm_", [&]<class T> {
    using C = Compute<T>;
    for_each_in_list<T, 1>(list, Scale<C>{norm.address_as<C>(), C(max_norm)});
  });
}

void list_clamp(const EntryList& list, double low, double high) {
  visit_floating(list.dtype, "clip_grad_value_", [&]<class T> {
    for_each_in_list<T, 1>(list, Clamp<Compute<T>>{Compute<T>(low), Compute<T>(high)});
  });
}

void list_zero(const EntryList& list) {
  visit_floating(list.dtype, "zero_grad", [&]<class T> { for_each_in_list<T, 1>(list, Zero{}); });
}

void list_lerp(const EntryList& list, double weight) {
  visit_floating(list.dtype, "lerp_", [&]<class T> {
    for_each_in_list<T, 2>(list, Lerp<Compute<T>>{static_cast<Compute<T>>(weight)});
  });
}

void list_unscale(const EntryList& list, NdArray& found_inf, const NdArray& inverse_scale) {
  visit_floating(list.dtype, "unscale_", [&]<class T> {
    for_each_in_list<T, 1>(
        list, Unscale<Compute<T>>{inverse_scale.address_as<float>(), found_inf.address_as<float>()});
  });
}

void update_scale(NdArray& scale, NdArray& tracker, const NdArray& found_inf, double growth_factor,
                  double backoff_factor, std::int32_t growth_interval) {
  launch(scale.device(), Grid{dim3(1), dim3(1)}, &update_scale_kernel, scale.address_as<float>(),
         tracker.address_as<std::int32_t>(), found_inf.address_as<float>(), growth_factor, backoff_factor,
         growth_interval);
}

}  // namespace ebb::cuda

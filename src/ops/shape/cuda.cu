// The device kernel triangle (tril and triu), and the slots of the shape family.
#include "kernel/cuda/walk.h"
#include "ops/shape/kernels.h"

namespace ebb::cuda {
namespace {

template <class T>
struct Triangle {
  T* out;
  const T* x;
  DeviceWalk<2> walk;
  std::int64_t rows, columns, diagonal;
  bool lower;
  __device__ void operator()(std::int64_t i) const {
    std::int64_t at[2];
    walk.offsets(i, at);
    const std::int64_t column = i % columns, edge = i / columns % rows + diagonal;
    out[at[0]] = (lower ? column <= edge : column >= edge) ? x[at[1]] : T(0);
  }
};

}  // namespace

void triangle(NdArray& out, const NdArray& x, std::int64_t diagonal, bool lower) {
  if (out.numel() == 0) return;
  const std::size_t rank = out.sizes().size();
  const DeviceWalk<2> walk(lower ? "tril" : "triu", out.sizes(), {out.strides(), x.strides()});
  visit_bits(out.dtype(), [&]<class T> {
    for_each(out.device(), out.numel(),
             Triangle<T>{out.address_as<T>(), x.address_as<T>(), walk, out.sizes()[rank - 2],
                         out.sizes()[rank - 1], diagonal, lower});
  });
}

}  // namespace ebb::cuda

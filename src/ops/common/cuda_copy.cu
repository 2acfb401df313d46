// Copies and fills on the device. A copy within a dtype only moves bits, so four kernels are enough for all
// ten dtypes.
#include <ebb/core/visit.h>

#include "kernel/cuda/walk.h"
#include "ops/common/cuda_copy_table.h"
#include "ops/common/cuda_transpose.h"
#include "ops/common/kernels.h"

#include <cstring>

namespace ebb::cuda {
namespace {

struct Same {
  template <class T>
  EBB_HD T operator()(T x) const {
    return x;
  }
};

template <class T>
struct Constant {
  T value;
  EBB_HD T operator()() const { return value; }
};

bool is_one_block(const ElementwisePlan<2>& walk, std::int64_t size) {
  return walk.dims == 0 || (walk.dims == 1 && walk.strides[0][0] == size && walk.strides[1][0] == size);
}

template <class T>
constexpr MapKernels<2> kSame = map_kernels<Same, T, T>();
template <class T>
constexpr MapKernels<1> kConstant = map_kernels<Constant<T>, T>();

}  // namespace

void copy(NdArray& out, const NdArray& x) {
  if (out.numel() == 0) return;
  const bool same = out.dtype() == x.dtype();
  const NdArray* const arrays[2] = {&out, &x};
  const ElementwisePlan<2> walk = plan_elementwise<2>("copy", arrays);
  if (same && is_one_block(walk, element_size(out.dtype()))) {
    const DeviceScope scope(out.device());
    return check(cudaMemcpyAsync(out.address_as<char>(), x.address_as<char>(),
                                 static_cast<std::size_t>(walk.numel * element_size(out.dtype())),
                                 cudaMemcpyDeviceToDevice, current_stream(out.device())),
                 "copy");
  }
  if (transpose(out, x, walk)) return;
  const std::array<Operand, 1> in{x};
  const Same nothing;
  if (same)
    return visit_bits(out.dtype(),
                      [&]<class T> { launch_map<2>("copy", kSame<T>, out, in, &nothing, sizeof(nothing)); });
  const MapKernels<2>& kernels = is_floating(out.dtype()) ? convert_to_floating(out.dtype(), x.dtype())
                                                          : convert_to_integral(out.dtype(), x.dtype());
  launch_map<2>("copy", kernels, out, in, &nothing, sizeof(nothing));
}

void fill(NdArray& out, const Scalar& value) {
  visit_all(out.dtype(), "fill_", [&]<class T> {
    const T number = element<T>(value);
    visit_bits(out.dtype(), [&]<class Bits> {
      Constant<Bits> op;
      std::memcpy(&op.value, &number, std::min(sizeof(number), sizeof(op.value)));
      launch_map<1>("fill_", kConstant<Bits>, out, {}, &op, sizeof(op));
    });
  });
}

}  // namespace ebb::cuda

// Numbers as CUDA kernels take them: the bytes of one element.
#include "ops/elementwise/cuda.h"

#include <ebb/core/visit.h>

#include <cstring>

#include "kernel/convert.h"

namespace ebb::cuda {

std::uint64_t element_bits(const Scalar& value, DType dtype) {
  return visit_all(dtype, "scalar", [&]<class T> {
    const T number = element<T>(value);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof(T));
    return bits;
  });
}

}  // namespace ebb::cuda

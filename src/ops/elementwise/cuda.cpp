// Puts the family's CUDA kernels into their slots; one function a file of kernels.
#include "ops/elementwise/cuda.h"

#include <ebb/core/visit.h>

#include <cstring>

#include "kernel/convert.h"

namespace ebb::cuda {

void register_activation();
void register_arith();
void register_binary_math();
void register_compare();
void register_division();
void register_exp();
void register_grad();
void register_logic();
void register_predicate();
void register_round();
void register_select();
void register_sign();
void register_slopes();
void register_special();
void register_trig();

void register_elementwise() {
  register_activation();
  register_arith();
  register_binary_math();
  register_compare();
  register_division();
  register_exp();
  register_grad();
  register_logic();
  register_predicate();
  register_round();
  register_select();
  register_sign();
  register_slopes();
  register_special();
  register_trig();
}

std::uint64_t element_bits(const Scalar& value, DType dtype) {
  return visit_all(dtype, "scalar", [&]<class T> {
    const T number = element<T>(value);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof(T));
    return bits;
  });
}

}  // namespace ebb::cuda

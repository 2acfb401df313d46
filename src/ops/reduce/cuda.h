// What the CUDA plugin asks of the family.
#pragma once

#include <cstddef>
#include <typeinfo>

#include "ops/reduce/kernels.h"

namespace ebb::cuda {

decltype(ebb::cpu::sum) sum;
decltype(ebb::cpu::nansum) nansum;
decltype(ebb::cpu::prod) prod;
decltype(ebb::cpu::amax) amax;
decltype(ebb::cpu::amin) amin;
decltype(ebb::cpu::any) any;
decltype(ebb::cpu::all) all;
decltype(ebb::cpu::count_nonzero) count_nonzero;
decltype(ebb::cpu::xor_bits) xor_bits;
decltype(ebb::cpu::norm) norm;
decltype(ebb::cpu::variance) variance;
decltype(ebb::cpu::extreme_index) extreme_index;
/// Tells whoever asks (kernel/element_reduction.h) which formula was called; false where nobody does.
bool describe_reduction(const std::type_info& type, const void* formula, std::size_t bytes);
/// Fills the family's kernel slots.
void register_reduce();

}  // namespace ebb::cuda

// softmax and log_softmax.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

/// exp(x) / sum(exp(x)) along `dim`, computed from x - max(x) to avoid overflow. If all elements along `dim`
/// are -inf, the result is NaN. With a dtype, x is converted first. Integers throw. (torch.softmax)
EBB_API Variable softmax(const Variable& self, std::int64_t dim, optional<ScalarType> dtype = nullopt);
/// log(softmax(x)) without loss of precision. (torch.log_softmax)
EBB_API Variable log_softmax(const Variable& self, std::int64_t dim, optional<ScalarType> dtype = nullopt);

/// softmax without conversion. half_to_float gives a float result for 16-bit input.
EBB_API Variable _softmax(const Variable& self, std::int64_t dim, bool half_to_float);
EBB_API Variable _log_softmax(const Variable& self, std::int64_t dim, bool half_to_float);
/// The gradient of softmax, given its result y and the gradient g of y: y * (g - sum(g * y)). It is
/// differentiable.
EBB_API Variable _softmax_backward_data(const Variable& grad_output, const Variable& output, std::int64_t dim,
                                        ScalarType input_dtype);
/// The gradient of log_softmax, given its result y and the gradient g of y: g - exp(y) * sum(g). It is
/// differentiable.
EBB_API Variable _log_softmax_backward_data(const Variable& grad_output, const Variable& output,
                                            std::int64_t dim, ScalarType input_dtype);

inline Variable special_softmax(const Variable& self, std::int64_t dim,
                                optional<ScalarType> dtype = nullopt) {
  return softmax(self, dim, dtype);
}
inline Variable special_log_softmax(const Variable& self, std::int64_t dim,
                                    optional<ScalarType> dtype = nullopt) {
  return log_softmax(self, dim, dtype);
}

}  // namespace ebb

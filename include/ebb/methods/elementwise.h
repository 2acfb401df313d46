// ElementwiseMethods: elementwise methods of Variable; documented with the functions of the same names in
// ebb/ops/elementwise/ and ebb/ops/random.h.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/array_ref.h>
#include <ebb/core/random.h>
#include <ebb/core/scalar.h>
#include <ebb/fwd.h>
#include <ebb/methods/lists.h>

#include <cstdint>
#include <string_view>
#include <tuple>

namespace ebb::ops {

struct EBB_API ElementwiseMethods {
  // Functions of one tensor.
#define EBB_METHODS(op) \
  Variable op() const;  \
  Variable& op##_() const;
  EBB_UNARY_OPS(EBB_METHODS)
#undef EBB_METHODS
  Variable round(std::int64_t decimals) const;
  Variable& round_(std::int64_t decimals) const;
  Variable polygamma(std::int64_t n) const;
  Variable mvlgamma(std::int64_t p) const;
  Variable& mvlgamma_(std::int64_t p) const;
  std::tuple<Variable, Variable> frexp() const;
  Variable isreal() const;
  bool is_neg() const;
  Variable resolve_neg() const;
  Variable logit(optional<double> eps = nullopt) const;
  Variable& logit_(optional<double> eps = nullopt) const;
  Variable nan_to_num(optional<double> nan = nullopt, optional<double> posinf = nullopt,
                      optional<double> neginf = nullopt) const;
  Variable& nan_to_num_(optional<double> nan = nullopt, optional<double> posinf = nullopt,
                        optional<double> neginf = nullopt) const;
  Variable positive() const;
  Variable isnan() const;
  Variable isinf() const;
  Variable isfinite() const;
  Variable isposinf() const;
  Variable isneginf() const;
  Variable signbit() const;
  Variable hardshrink(const Scalar& lambd = 0.5) const;
  Variable operator-() const;
  Variable operator~() const;

  // Functions of two and more tensors.
#define EBB_METHODS(op)                     \
  Variable op(const Variable& other) const; \
  Variable& op##_(const Variable& other) const;
  EBB_TENSOR_BINARY_OPS(EBB_METHODS)
  EBB_BINARY_OPS(EBB_METHODS)
#undef EBB_METHODS
#define EBB_METHODS(op)                   \
  Variable op(const Scalar& other) const; \
  Variable& op##_(const Scalar& other) const;
  EBB_BINARY_OPS(EBB_METHODS)
#undef EBB_METHODS
  Variable add(const Variable& other, const Scalar& alpha = 1) const;
  Variable add(const Scalar& other, const Scalar& alpha = 1) const;
  Variable& add_(const Variable& other, const Scalar& alpha = 1) const;
  Variable& add_(const Scalar& other, const Scalar& alpha = 1) const;
  Variable sub(const Variable& other, const Scalar& alpha = 1) const;
  Variable sub(const Scalar& other, const Scalar& alpha = 1) const;
  Variable& sub_(const Variable& other, const Scalar& alpha = 1) const;
  Variable& sub_(const Scalar& other, const Scalar& alpha = 1) const;
  Variable subtract(const Variable& other, const Scalar& alpha = 1) const;
  Variable subtract(const Scalar& other, const Scalar& alpha = 1) const;
  Variable& subtract_(const Variable& other, const Scalar& alpha = 1) const;
  Variable& subtract_(const Scalar& other, const Scalar& alpha = 1) const;
  Variable div(const Variable& other, optional<std::string_view> rounding_mode) const;
  Variable div(const Scalar& other, optional<std::string_view> rounding_mode) const;
  Variable& div_(const Variable& other, optional<std::string_view> rounding_mode) const;
  Variable& div_(const Scalar& other, optional<std::string_view> rounding_mode) const;
  Variable divide(const Variable& other, optional<std::string_view> rounding_mode) const;
  Variable divide(const Scalar& other, optional<std::string_view> rounding_mode) const;
  Variable& divide_(const Variable& other, optional<std::string_view> rounding_mode) const;
  Variable& divide_(const Scalar& other, optional<std::string_view> rounding_mode) const;
  Variable maximum(const Variable& other) const;
  Variable minimum(const Variable& other) const;
  Variable fmax(const Variable& other) const;
  Variable fmin(const Variable& other) const;
  Variable logaddexp(const Variable& other) const;
  Variable logaddexp2(const Variable& other) const;
  Variable clamp(const optional<Scalar>& min, const optional<Scalar>& max = nullopt) const;
  Variable clamp(const optional<Variable>& min, const optional<Variable>& max) const;
  Variable clamp(const optional<Variable>& min) const;
  Variable clip(const optional<Scalar>& min, const optional<Scalar>& max = nullopt) const;
  Variable clip(const optional<Variable>& min, const optional<Variable>& max) const;
  Variable clip(const optional<Variable>& min) const;
  Variable clamp_min(const Scalar& min) const;
  Variable clamp_max(const Scalar& max) const;
  Variable clamp_min(const Variable& min) const;
  Variable clamp_max(const Variable& max) const;
  Variable lerp(const Variable& end, const Scalar& weight) const;
  Variable lerp(const Variable& end, const Variable& weight) const;
  Variable addcmul(const Variable& tensor1, const Variable& tensor2, const Scalar& value = 1) const;
  Variable addcdiv(const Variable& tensor1, const Variable& tensor2, const Scalar& value = 1) const;
  Variable& clamp_(const optional<Scalar>& min, const optional<Scalar>& max = nullopt) const;
  Variable& clamp_(const optional<Variable>& min, const optional<Variable>& max) const;
  Variable& clamp_(const optional<Variable>& min) const;
  Variable& clip_(const optional<Scalar>& min, const optional<Scalar>& max = nullopt) const;
  Variable& clip_(const optional<Variable>& min, const optional<Variable>& max) const;
  Variable& clip_(const optional<Variable>& min) const;
  Variable& clamp_min_(const Scalar& min) const;
  Variable& clamp_max_(const Scalar& max) const;
  Variable& clamp_min_(const Variable& min) const;
  Variable& clamp_max_(const Variable& max) const;
  Variable& lerp_(const Variable& end, const Scalar& weight) const;
  Variable& lerp_(const Variable& end, const Variable& weight) const;
  Variable& addcmul_(const Variable& tensor1, const Variable& tensor2, const Scalar& value = 1) const;
  Variable& addcdiv_(const Variable& tensor1, const Variable& tensor2, const Scalar& value = 1) const;
  Variable where(const Variable& condition, const Variable& other) const;
  Variable where(const Variable& condition, const Scalar& other) const;
  Variable prelu(const Variable& weight) const;
  Variable& operator+=(const Variable& other);
  Variable& operator+=(const Scalar& other);
  Variable& operator-=(const Variable& other);
  Variable& operator-=(const Scalar& other);
  Variable& operator*=(const Variable& other);
  Variable& operator*=(const Scalar& other);
  Variable& operator/=(const Variable& other);
  Variable& operator/=(const Scalar& other);

  // Comparisons and bits.
  Variable isclose(const Variable& other, double rtol = 1e-5, double atol = 1e-8,
                   bool equal_nan = false) const;
  bool allclose(const Variable& other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false) const;
  bool equal(const Variable& other) const;
  Variable& operator&=(const Variable& other);
  Variable& operator&=(const Scalar& other);
  Variable& operator|=(const Variable& other);
  Variable& operator|=(const Scalar& other);
  Variable& operator^=(const Variable& other);
  Variable& operator^=(const Scalar& other);

  // Random numbers.
  Variable& uniform_(double from = 0, double to = 1, const optional<Generator>& generator = nullopt) const;
  Variable& normal_(double mean = 0, double std = 1, const optional<Generator>& generator = nullopt) const;
  Variable& log_normal_(double mean = 1, double std = 2,
                        const optional<Generator>& generator = nullopt) const;
  Variable& exponential_(double lambd = 1, const optional<Generator>& generator = nullopt) const;
  Variable& cauchy_(double median = 0, double sigma = 1,
                    const optional<Generator>& generator = nullopt) const;
  Variable& geometric_(double p, const optional<Generator>& generator = nullopt) const;
  Variable& random_(std::int64_t from, optional<std::int64_t> to,
                    const optional<Generator>& generator = nullopt) const;
  Variable& random_(std::int64_t to, const optional<Generator>& generator = nullopt) const;
  Variable& random_(const optional<Generator>& generator = nullopt) const;
  Variable& bernoulli_(const Variable& p, const optional<Generator>& generator = nullopt) const;
  Variable& bernoulli_(double p = 0.5, const optional<Generator>& generator = nullopt) const;
  Variable bernoulli(const optional<Generator>& generator = nullopt) const;
  Variable bernoulli(double p, const optional<Generator>& generator = nullopt) const;
  Variable multinomial(std::int64_t num_samples, bool replacement = false,
                       const optional<Generator>& generator = nullopt) const;
};

}  // namespace ebb::ops

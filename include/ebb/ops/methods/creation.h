// Methods of Variable declared by the creation family; documented in ebb/ops/creation.h.
#pragma once

#include <ebb/core/array_ref.h>
#include <ebb/core/options.h>
#include <ebb/core/random.h>
#include <ebb/core/scalar.h>
#include <ebb/fwd.h>

namespace ebb::ops {

struct EBB_API CreationMethods {
  Variable new_empty(IntArrayRef sizes, const TensorOptions& options = {}) const;
  Variable new_empty_strided(IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options = {}) const;
  Variable new_zeros(IntArrayRef sizes, const TensorOptions& options = {}) const;
  Variable new_ones(IntArrayRef sizes, const TensorOptions& options = {}) const;
  Variable new_full(IntArrayRef sizes, const Scalar& value, const TensorOptions& options = {}) const;

  // Documented in ebb/ops/random.h.
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

// Methods of Variable that draw random numbers; documented with the functions of the same names in
// ebb/ops/random.h.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/array_ref.h>
#include <ebb/core/random.h>
#include <ebb/fwd.h>

#include <cstdint>

namespace ebb::ops {

struct EBB_API RandomMethods {
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

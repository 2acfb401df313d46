// Bodies of the methods that draw random numbers: each calls the function of the same name.
#include <ebb/ops/random.h>

#include "ops/common/record.h"

namespace ebb::ops {

Variable& ElementwiseMethods::uniform_(double from, double to, const optional<Generator>& generator) const {
  return ebb::uniform_(self(this), from, to, generator);
}
Variable& ElementwiseMethods::normal_(double mean, double std, const optional<Generator>& generator) const {
  return ebb::normal_(self(this), mean, std, generator);
}
Variable& ElementwiseMethods::log_normal_(double mean, double std,
                                          const optional<Generator>& generator) const {
  return ebb::log_normal_(self(this), mean, std, generator);
}
Variable& ElementwiseMethods::exponential_(double lambd, const optional<Generator>& generator) const {
  return ebb::exponential_(self(this), lambd, generator);
}
Variable& ElementwiseMethods::cauchy_(double median, double sigma,
                                      const optional<Generator>& generator) const {
  return ebb::cauchy_(self(this), median, sigma, generator);
}
Variable& ElementwiseMethods::geometric_(double p, const optional<Generator>& generator) const {
  return ebb::geometric_(self(this), p, generator);
}
Variable& ElementwiseMethods::random_(std::int64_t from, optional<std::int64_t> to,
                                      const optional<Generator>& generator) const {
  return ebb::random_(self(this), from, to, generator);
}
Variable& ElementwiseMethods::random_(std::int64_t to, const optional<Generator>& generator) const {
  return ebb::random_(self(this), to, generator);
}
Variable& ElementwiseMethods::random_(const optional<Generator>& generator) const {
  return ebb::random_(self(this), generator);
}
Variable& ElementwiseMethods::bernoulli_(const Variable& p, const optional<Generator>& generator) const {
  return ebb::bernoulli_(self(this), p, generator);
}
Variable& ElementwiseMethods::bernoulli_(double p, const optional<Generator>& generator) const {
  return ebb::bernoulli_(self(this), p, generator);
}
Variable ElementwiseMethods::bernoulli(const optional<Generator>& generator) const {
  return ebb::bernoulli(self(this), generator);
}
Variable ElementwiseMethods::bernoulli(double p, const optional<Generator>& generator) const {
  return ebb::bernoulli(self(this), p, generator);
}
Variable ElementwiseMethods::multinomial(std::int64_t num_samples, bool replacement,
                                         const optional<Generator>& generator) const {
  return ebb::multinomial(self(this), num_samples, replacement, generator);
}

}  // namespace ebb::ops

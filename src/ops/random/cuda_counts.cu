// The device kernels poisson and binomial. An element uses as many random words as it needs, from Philox
// counters that no other element uses.
#include <ebb/core/visit.h>

#include "kernel/cuda/fault.h"
#include "kernel/cuda/generator.h"
#include "kernel/cuda/walk.h"
#include "ops/random/counts.h"
#include "ops/random/kernels.h"

namespace ebb::cuda {
namespace {

/// Returns doubles in [0, 1), two for each Philox counter. The low bits of the counter are the element, the
/// high bits count the calls.
class Uniform {
 public:
  EBB_HD Uniform(const Philox& philox, std::int64_t element)
      : philox_(philox), number_(static_cast<std::uint64_t>(element)) {}
  EBB_HD double operator()() {
    if (left_ == 0) {
      philox_.words(number_, words_);
      number_ += std::uint64_t{1} << 40;
      left_ = 2;
    }
    --left_;
    const std::uint64_t bits =
        left_ ? std::uint64_t{words_[0]} << 32 | words_[1] : std::uint64_t{words_[2]} << 32 | words_[3];
    return static_cast<double>(bits >> 11) * (1.0 / 9007199254740992.0);
  }

 private:
  const Philox& philox_;
  std::uint64_t number_;
  std::uint32_t words_[4];
  int left_ = 0;
};

template <class T>
struct Poisson {
  T* out;
  const T* rates;
  Philox philox;
  FaultSink faults;
  __device__ void operator()(std::int64_t i) const {
    const double rate = static_cast<double>(rates[i]);
    if (rate < 0) faults.note(i, 0);
    out[i] = convert<T>(drawing::poisson(rate < 0 ? 0.0 : rate, Uniform(philox, i)));
  }
};

template <class T>
struct Binomial {
  T* out;
  const T *counts, *chances;
  Philox philox;
  __device__ void operator()(std::int64_t i) const {
    out[i] = convert<T>(drawing::binomial(static_cast<double>(counts[i]), static_cast<double>(chances[i]),
                                          Uniform(philox, i)));
  }
};

}  // namespace

void poisson(NdArray& out, const NdArray& rates, Generator& generator) {
  visit_floating(out.dtype(), "poisson", [&]<class T> {
    for_each(out.device(), out.numel(),
             Poisson<T>{out.address_as<T>(), rates.address_as<T>(), next_philox(out.device(), generator),
                        fault_sink(out.device(), "poisson", "expects rates that are not negative")});
  });
}

void binomial(NdArray& out, const NdArray& counts, const NdArray& chances, Generator& generator) {
  visit_floating(out.dtype(), "binomial", [&]<class T> {
    for_each(out.device(), out.numel(),
             Binomial<T>{out.address_as<T>(), counts.address_as<T>(), chances.address_as<T>(),
                         next_philox(out.device(), generator)});
  });
}

}  // namespace ebb::cuda

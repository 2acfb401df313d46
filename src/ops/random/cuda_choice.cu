// The device kernels permutation and multinomial, which sort random keys.
#include <ebb/core/visit.h>

#include "kernel/cuda/device.h"
#include "kernel/cuda/fault.h"
#include "kernel/cuda/sort.h"
#include "kernel/cuda/walk.h"
#include "kernel/sort_keys.h"
#include "ops/common/kernels.h"
#include "ops/random/kernels.h"
#include "ops/random/sampler.h"

namespace ebb::cuda {
namespace {

struct RandomKeys {
  std::uint64_t* keys;
  std::int64_t* places;
  Philox philox;
  __device__ void operator()(std::int64_t i) const {
    std::uint32_t words[4];
    philox.words(static_cast<std::uint64_t>(i), words);
    keys[i] = random::bits_of(words, 0);
    places[i] = i;
  }
};

template <class T>
struct Converted {
  T* out;
  const std::int64_t* places;
  __device__ void operator()(std::int64_t i) const { out[i] = convert<T>(places[i]); }
};

// Converts the weights to double and checks them.
template <class T>
struct CheckedWeights {
  double* out;
  const T* weights;
  FaultSink faults;
  __device__ void operator()(std::int64_t i) const {
    const double w = static_cast<double>(static_cast<Compute<T>>(weights[i]));
    if (!(w >= 0 && w < INFINITY)) faults.note(i, 0);
    out[i] = w;
  }
};

struct CheckTotals {
  const double* sums;
  std::int64_t categories;
  FaultSink faults;
  __device__ void operator()(std::int64_t row) const {
    const double total = sums[(row + 1) * categories - 1];
    if (!(total > 0 && total < INFINITY)) faults.note(row, 0);
  }
};

// Finds the first category whose cumulative weight exceeds a uniform fraction of the total. The partial sums
// of the scan are rounded separately, so the cumulative weight may grow even at a category of weight 0. Such
// a category is skipped.
struct PickCategory {
  std::int64_t* out;
  const double *sums, *weights;
  std::int64_t categories, samples;
  Philox philox;
  __device__ void operator()(std::int64_t i) const {
    std::uint32_t words[4];
    philox.words(static_cast<std::uint64_t>(i), words);
    const std::int64_t first = i / samples * categories;
    const double* const row = sums + first;
    const double at = random::uniform<double>(words, 0) * row[categories - 1];
    std::int64_t low = 0, high = categories - 1;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (row[middle] > at)
        high = middle;
      else
        low = middle + 1;
    }
    while (low > 0 && !(weights[first + low] > 0)) --low;
    out[i] = low;
  }
};

// Writes sort keys for log(weight / exponential noise), the largest first. This is the order of draws without
// replacement. The logarithm is finite for all weights.
struct NoisyKeys {
  std::uint64_t* keys;
  std::int64_t* places;
  const double* weights;
  std::int64_t categories;
  Philox philox;
  __device__ void operator()(std::int64_t i) const {
    std::uint32_t words[4];
    philox.words(static_cast<std::uint64_t>(i), words);
    const double noise = -std::log(random::positive_uniform<double>(words, 0));
    keys[i] = ~sort_keys::key_of(std::log(weights[i]) - std::log(noise > 0 ? noise : 0x1p-54));
    places[i] = i % categories;
  }
};

struct FirstOfRow {
  std::int64_t* out;
  const std::int64_t* places;
  const double* weights;
  std::int64_t categories, samples;
  FaultSink faults;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t row = i / samples * categories;
    out[i] = places[row + i % samples];
    if (!(weights[row + out[i]] > 0)) faults.note(i, 0);
  }
};

}  // namespace

void permutation(NdArray& out, Generator& generator) {
  const Device device = out.device();
  const std::int64_t n = out.numel();
  if (n == 0) return;
  const NdArray scratch = NdArray::empty({2, n}, kLong, device);
  auto* const keys = scratch.address_as<std::uint64_t>();
  std::int64_t* const places = scratch.address_as<std::int64_t>() + n;
  for_each(device, n, RandomKeys{keys, places, next_philox(device, generator)});
  sort_pairs(device, keys, places, 1, n);
  visit_numeric(out.dtype(), "randperm",
                [&]<class T> { for_each(device, n, Converted<T>{out.address_as<T>(), places}); });
}

void multinomial(NdArray& out, const NdArray& weights, bool replacement, Generator& generator) {
  const Device device = out.device();
  const std::int64_t rows = weights.sizes()[0], categories = weights.sizes()[1], samples = out.sizes()[1];
  if (out.numel() == 0) return;
  const NdArray values = NdArray::empty({rows, categories}, kDouble, device);
  NdArray sums = NdArray::empty({rows, categories}, kDouble, device);
  visit_floating(weights.dtype(), "multinomial", [&]<class T> {
    for_each(device, weights.numel(),
             CheckedWeights<T>{values.address_as<double>(), weights.address_as<T>(),
                               fault_sink(device, "multinomial",
                                          "the probability tensor contains inf, nan or an element < 0")});
  });
  kernels::scan(device, sums, values, 1, ScanKind::sum, false);
  for_each(device, rows,
           CheckTotals{sums.address_as<double>(), categories,
                       fault_sink(device, "multinomial",
                                  "the sum of the probabilities of a row must be > 0 and finite")});
  const Philox philox = next_philox(device, generator);
  if (replacement)
    return for_each(device, out.numel(),
                    PickCategory{out.address_as<std::int64_t>(), sums.address_as<double>(),
                                 values.address_as<double>(), categories, samples, philox});
  const NdArray scratch = NdArray::empty({2, rows * categories}, kLong, device);
  auto* const keys = scratch.address_as<std::uint64_t>();
  std::int64_t* const places = scratch.address_as<std::int64_t>() + rows * categories;
  for_each(device, rows * categories,
           NoisyKeys{keys, places, values.address_as<double>(), categories, philox});
  sort_pairs(device, keys, places, rows, categories);
  for_each(
      device, out.numel(),
      FirstOfRow{out.address_as<std::int64_t>(), places, values.address_as<double>(), categories, samples,
                 fault_sink(device, "multinomial",
                            "cannot sample more elements without replacement than have a probability "
                            "above 0")});
}

}  // namespace ebb::cuda

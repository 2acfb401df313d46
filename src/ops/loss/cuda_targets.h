// Targets of the classification losses in device kernels.
#pragma once

#include "kernel/call/arguments.h"
#include "kernel/convert.h"
#include "kernel/cuda/fault.h"
#include "ops/loss/kernels.h"

namespace ebb::cuda {

template <class T>
struct ClassTarget {
  const std::int64_t* target;  // null if the target contains probabilities
  const T* weight;             // null means weights of 1
  std::int64_t batch, classes, places, ignore_index;
  FaultSink faults;

  ClassTarget(const kernels::ClassTargets& to, FaultSink sink)
      : target(data_or_null<std::int64_t>(to.target)),
        weight(data_or_null<T>(to.weight)),
        batch(to.batch),
        classes(to.classes),
        places(to.places),
        ignore_index(to.ignore_index),
        faults(sink) {}

  /// Returns class t, or -1 if it is ignored or out of range. Reports a class that is out of range.
  __device__ std::int64_t checked(std::int64_t t) const {
    if (t == ignore_index) return -1;
    if (t >= 0 && t < classes) return t;
    faults.note(t, classes);
    return -1;
  }
  __device__ Compute<T> weight_of(std::int64_t t) const {
    return t < 0 ? Compute<T>(0) : weight ? static_cast<Compute<T>>(weight[t]) : Compute<T>(1);
  }
  /// Returns the offset of class t at position i in x.
  __device__ std::int64_t offset(std::int64_t i, std::int64_t t) const {
    return (i / places * classes + t) * places + i % places;
  }
};

struct LossAndWeight {
  double loss, weight;
};

/// The factor of one position's gradient without the weight of its class: grad, divided by the total of the
/// weights for a mean.
template <class T>
struct ClassGradFactor {
  const T* grad;
  const double* total;  // null if there is no division
  bool reduced;

  ClassGradFactor(const NdArray& g, const NdArray& all, const kernels::ClassTargets& to)
      : grad(g.address_as<T>()),
        total(to.reduced && to.mean ? all.address_as<double>() : nullptr),
        reduced(to.reduced) {}
  __device__ Compute<T> of(std::int64_t i) const {
    const double g = static_cast<double>(static_cast<Compute<T>>(grad[reduced ? 0 : i]));
    return static_cast<Compute<T>>(total ? g / *total : g);
  }
};

}  // namespace ebb::cuda

// Update rules on the CPU.
#include <ebb/core/visit.h>

#include "kernel/convert.h"
#include "kernel/cpu/parallel.h"
#include "kernel/optional_data.h"
#include "optim/kernels.h"
#include "optim/math.h"

namespace ebb::cpu {

namespace {

template <class T>
using Compute = std::conditional_t<is_half_v<T>, float, T>;

/// Calls body.operator()<T>(begin, end) over the elements, for the parameter's dtype.
template <class Body>
void each_element(const NdArray& param, Body&& body) {
  visit_floating(param.dtype(), "optimizer step", [&]<class T> {
    parallel_for(0, param.numel(), kGrain,
                 [&](std::int64_t begin, std::int64_t end) { body.template operator()<T>(begin, end); });
  });
}

}  // namespace

void sgd_step(NdArray& param, const NdArray& grad, NdArray& velocity, const kernels::SgdStep& how) {
  each_element(param, [&]<class T>(std::int64_t begin, std::int64_t end) {
    using C = Compute<T>;
    const math::Sgd<C> rule{C(how.lr),           C(how.momentum), C(1 - how.dampening),
                            C(how.weight_decay), how.nesterov,    how.first};
    T* const p = param.data_as<T>();
    const T* const g = grad.data_as<T>();
    if (T* const v = data_or_null<T>(velocity)) {
      for (std::int64_t i = begin; i < end; ++i) {
        C speed = static_cast<C>(v[i]);
        p[i] = static_cast<T>(rule(static_cast<C>(p[i]), static_cast<C>(g[i]), speed));
        v[i] = static_cast<T>(speed);
      }
    } else {
      for (std::int64_t i = begin; i < end; ++i)
        p[i] = static_cast<T>(rule.plain(static_cast<C>(p[i]), static_cast<C>(g[i])));
    }
  });
}

void adam_step(NdArray& param, const NdArray& grad, NdArray& mean, NdArray& square, NdArray& max_square,
               const kernels::AdamStep& how) {
  each_element(param, [&]<class T>(std::int64_t begin, std::int64_t end) {
    using C = Compute<T>;
    const math::Adam<C> rule{C(how.beta1),     C(1 - how.beta1), C(how.beta2),
                             C(1 - how.beta2), C(how.eps),       C(how.weight_decay),
                             C(how.shrink),    C(how.step_size), C(how.root)};
    T* const p = param.data_as<T>();
    const T* const g = grad.data_as<T>();
    T *const m = mean.data_as<T>(), *const v = square.data_as<T>();
    T* const top = data_or_null<T>(max_square);
    for (std::int64_t i = begin; i < end; ++i) {
      C first = static_cast<C>(m[i]), second = static_cast<C>(v[i]);
      if (top) {
        C largest = static_cast<C>(top[i]);
        p[i] = static_cast<T>(rule(static_cast<C>(p[i]), static_cast<C>(g[i]), first, second, largest));
        top[i] = static_cast<T>(largest);
      } else {
        p[i] = static_cast<T>(rule(static_cast<C>(p[i]), static_cast<C>(g[i]), first, second));
      }
      m[i] = static_cast<T>(first);
      v[i] = static_cast<T>(second);
    }
  });
}

void rmsprop_step(NdArray& param, const NdArray& grad, NdArray& square, NdArray& velocity, NdArray& mean,
                  const kernels::RmspropStep& how) {
  each_element(param, [&]<class T>(std::int64_t begin, std::int64_t end) {
    using C = Compute<T>;
    const math::Rmsprop<C> rule{C(how.lr),  C(how.alpha),        C(1 - how.alpha),
                                C(how.eps), C(how.weight_decay), C(how.momentum)};
    T* const p = param.data_as<T>();
    const T* const g = grad.data_as<T>();
    T *const s = square.data_as<T>(), *const v = data_or_null<T>(velocity), *const m = data_or_null<T>(mean);
    for (std::int64_t i = begin; i < end; ++i) {
      C second = static_cast<C>(s[i]), speed = v ? static_cast<C>(v[i]) : C(0),
        first = m ? static_cast<C>(m[i]) : C(0);
      p[i] = static_cast<T>(rule(static_cast<C>(p[i]), static_cast<C>(g[i]), second, v ? &speed : nullptr,
                                 m ? &first : nullptr));
      s[i] = static_cast<T>(second);
      if (v) v[i] = static_cast<T>(speed);
      if (m) m[i] = static_cast<T>(first);
    }
  });
}

void adagrad_step(NdArray& param, const NdArray& grad, NdArray& sum, const kernels::AdagradStep& how) {
  each_element(param, [&]<class T>(std::int64_t begin, std::int64_t end) {
    using C = Compute<T>;
    const math::Adagrad<C> rule{C(how.lr), C(how.eps), C(how.weight_decay)};
    T* const p = param.data_as<T>();
    const T* const g = grad.data_as<T>();
    T* const s = sum.data_as<T>();
    for (std::int64_t i = begin; i < end; ++i) {
      C total = static_cast<C>(s[i]);
      p[i] = static_cast<T>(rule(static_cast<C>(p[i]), static_cast<C>(g[i]), total));
      s[i] = static_cast<T>(total);
    }
  });
}

}  // namespace ebb::cpu

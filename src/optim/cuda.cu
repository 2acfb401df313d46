// Update rules on the device: a pass over each parameter and what is remembered of it.
#include "optim/cuda.h"

#include <ebb/core/visit.h>

#include "kernel/convert.h"
#include "kernel/cuda/walk.h"
#include "kernel/optional_data.h"
#include "optim/math.h"

namespace ebb::cuda {
namespace {

template <class T>
struct SgdUpdate {
  using C = Compute<T>;
  math::Sgd<C> rule;
  T* param;
  const T* grad;
  T* velocity;  // may be null
  __device__ void operator()(std::int64_t i) const {
    const C p = static_cast<C>(param[i]), g = static_cast<C>(grad[i]);
    if (velocity) {
      C speed = static_cast<C>(velocity[i]);
      param[i] = static_cast<T>(rule(p, g, speed));
      velocity[i] = static_cast<T>(speed);
    } else {
      param[i] = static_cast<T>(rule.plain(p, g));
    }
  }
};

template <class T>
struct AdamUpdate {
  using C = Compute<T>;
  math::Adam<C> rule;
  T* param;
  const T* grad;
  T *mean, *square, *max_square;  // the last may be null
  __device__ void operator()(std::int64_t i) const {
    const C p = static_cast<C>(param[i]), g = static_cast<C>(grad[i]);
    C first = static_cast<C>(mean[i]), second = static_cast<C>(square[i]);
    if (max_square) {
      C largest = static_cast<C>(max_square[i]);
      param[i] = static_cast<T>(rule(p, g, first, second, largest));
      max_square[i] = static_cast<T>(largest);
    } else {
      param[i] = static_cast<T>(rule(p, g, first, second));
    }
    mean[i] = static_cast<T>(first);
    square[i] = static_cast<T>(second);
  }
};

template <class T>
struct RmspropUpdate {
  using C = Compute<T>;
  math::Rmsprop<C> rule;
  T* param;
  const T* grad;
  T *square, *velocity, *mean;  // the last two may be null
  __device__ void operator()(std::int64_t i) const {
    C second = static_cast<C>(square[i]), speed = velocity ? static_cast<C>(velocity[i]) : C(0),
      first = mean ? static_cast<C>(mean[i]) : C(0);
    param[i] = static_cast<T>(rule(static_cast<C>(param[i]), static_cast<C>(grad[i]), second,
                                   velocity ? &speed : nullptr, mean ? &first : nullptr));
    square[i] = static_cast<T>(second);
    if (velocity) velocity[i] = static_cast<T>(speed);
    if (mean) mean[i] = static_cast<T>(first);
  }
};

template <class T>
struct AdagradUpdate {
  using C = Compute<T>;
  math::Adagrad<C> rule;
  T* param;
  const T* grad;
  T* sum;
  __device__ void operator()(std::int64_t i) const {
    C total = static_cast<C>(sum[i]);
    param[i] = static_cast<T>(rule(static_cast<C>(param[i]), static_cast<C>(grad[i]), total));
    sum[i] = static_cast<T>(total);
  }
};

}  // namespace

void sgd_step(NdArray& param, const NdArray& grad, NdArray& velocity, const kernels::SgdStep& how) {
  visit_floating(param.dtype(), "SGD", [&]<class T> {
    using C = Compute<T>;
    const math::Sgd<C> rule{C(how.lr),           C(how.momentum), C(1 - how.dampening),
                            C(how.weight_decay), how.nesterov,    how.first};
    for_each(param.device(), param.numel(),
             SgdUpdate<T>{rule, param.data_as<T>(), grad.data_as<T>(), data_or_null<T>(velocity)});
  });
}

void adam_step(NdArray& param, const NdArray& grad, NdArray& mean, NdArray& square, NdArray& max_square,
               const kernels::AdamStep& how) {
  visit_floating(param.dtype(), "Adam", [&]<class T> {
    using C = Compute<T>;
    const math::Adam<C> rule{C(how.beta1),     C(1 - how.beta1), C(how.beta2),
                             C(1 - how.beta2), C(how.eps),       C(how.weight_decay),
                             C(how.shrink),    C(how.step_size), C(how.root)};
    for_each(param.device(), param.numel(),
             AdamUpdate<T>{rule, param.data_as<T>(), grad.data_as<T>(), mean.data_as<T>(),
                           square.data_as<T>(), data_or_null<T>(max_square)});
  });
}

void rmsprop_step(NdArray& param, const NdArray& grad, NdArray& square, NdArray& velocity, NdArray& mean,
                  const kernels::RmspropStep& how) {
  visit_floating(param.dtype(), "RMSprop", [&]<class T> {
    using C = Compute<T>;
    const math::Rmsprop<C> rule{C(how.lr),  C(how.alpha),        C(1 - how.alpha),
                                C(how.eps), C(how.weight_decay), C(how.momentum)};
    for_each(param.device(), param.numel(),
             RmspropUpdate<T>{rule, param.data_as<T>(), grad.data_as<T>(), square.data_as<T>(),
                              data_or_null<T>(velocity), data_or_null<T>(mean)});
  });
}

void adagrad_step(NdArray& param, const NdArray& grad, NdArray& sum, const kernels::AdagradStep& how) {
  visit_floating(param.dtype(), "Adagrad", [&]<class T> {
    using C = Compute<T>;
    const math::Adagrad<C> rule{C(how.lr), C(how.eps), C(how.weight_decay)};
    for_each(param.device(), param.numel(),
             AdagradUpdate<T>{rule, param.data_as<T>(), grad.data_as<T>(), sum.data_as<T>()});
  });
}

void register_optim() {
  kernels::sgd_step.set_cuda(&sgd_step);
  kernels::adam_step.set_cuda(&adam_step);
  kernels::rmsprop_step.set_cuda(&rmsprop_step);
  kernels::adagrad_step.set_cuda(&adagrad_step);
}

}  // namespace ebb::cuda

// snake: the op's nodes in the graph, and its kernel for the CPU.
#include "snake.h"

#include <ebb/core/visit.h>
#include <ebb/ebb.h>

#include "snake_kernels.h"

namespace {

using ebb::Tensor;
using ebb::autograd::AutogradContext;
using ebb::autograd::variable_list;

template <class T>
void snake_cpu(T* y, const T* x, const T* grad, T frequency, std::int64_t n) {
  ebb::parallel_for(0, n, 4096, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      y[i] = grad ? snake_derivative(x[i], frequency) * grad[i] : snake_value(x[i], frequency);
  });
}

// Returns snake(any_x) if any_grad is undefined, and otherwise snake'(any_x) * any_grad. Nothing is recorded,
// because kernels only read and write memory.
Tensor compute(const Tensor& any_x, const Tensor& any_grad, double frequency) {
  const Tensor x = any_x.contiguous(), grad = any_grad.defined() ? any_grad.contiguous() : Tensor();
  Tensor y = ebb::empty_like(x);
  ebb::visit_float_double(x.dtype(), "snake", [&]<class T> {
    const T* const g = grad.defined() ? grad.data_ptr<T>() : nullptr;
    const T a = static_cast<T>(frequency);
    if (x.is_cuda()) {
#ifdef SNAKE_HAS_CUDA
      const ebb::cuda::DeviceGuard device(x.device());
      const ebb::cuda::Stream stream = ebb::cuda::Stream::current(x.device());
      snake_cuda(y.data_ptr<T>(), x.data_ptr<T>(), g, a, x.numel(), stream.handle());
#else
      EBB_CHECK(false, "snake: this program has no kernel for CUDA. Build it with nvcc.");
#endif
    } else {
      snake_cpu(y.data_ptr<T>(), x.data_ptr<T>(), g, a, x.numel());
    }
  });
  return y;
}

// The backward pass of snake as a Function of the incoming gradient and x, so that it can be differentiated.
// Its own backward pass consists of ebb's ops, which can be differentiated any number of times.
struct SnakeGradient : ebb::autograd::Function<SnakeGradient> {
  static Tensor forward(AutogradContext* context, const Tensor& grad, const Tensor& x, double frequency) {
    context->save_for_backward({grad, x});
    context->saved_data["frequency"] = frequency;
    return compute(x, grad, frequency);
  }
  static variable_list backward(AutogradContext* context, variable_list grads) {
    const variable_list saved = context->get_saved_variables();
    const Tensor &grad = saved[0], &x = saved[1];
    const double twice = 2 * context->saved_data["frequency"].toDouble();
    return {grads[0] * (1 + ebb::sin(twice * x)), grads[0] * grad * twice * ebb::cos(twice * x), Tensor()};
  }
};

struct Snake : ebb::autograd::Function<Snake> {
  static Tensor forward(AutogradContext* context, const Tensor& x, double frequency) {
    context->save_for_backward({x});
    context->saved_data["frequency"] = frequency;
    return compute(x, Tensor(), frequency);
  }
  static variable_list backward(AutogradContext* context, variable_list grads) {
    const Tensor x = context->get_saved_variables()[0];
    return {SnakeGradient::apply(grads[0], x, context->saved_data["frequency"].toDouble()), Tensor()};
  }
};

}  // namespace

Tensor snake(const Tensor& x, double frequency) {
  EBB_CHECK(frequency > 0, "snake: expected a positive frequency, got ", frequency, ".");
  return Snake::apply(x, frequency);
}

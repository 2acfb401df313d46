// Checking derivatives against finite differences, in a user's own tests too.
#pragma once

#include <ebb/autograd/variable.h>

#include <functional>
#include <string>

namespace ebb {

/// How gradcheck compares; the defaults are torch.autograd.gradcheck's.
struct GradcheckOptions {
  double eps = 1e-6;   ///< step of the central difference
  double atol = 1e-5;  ///< |analytic - numeric| <= atol + rtol * |numeric|
  double rtol = 1e-3;
  bool fast_mode = false;            ///< compare v^T J u for one random u and v instead of every entry of J
  bool raise_exception = true;       ///< throw ebb::Error with the message instead of returning false
  bool check_undefined_grad = true;  ///< also check that undefined incoming gradients count as zero
  double nondet_tol = 0.0;           ///< how far two runs of backward may differ
  std::string* message = nullptr;    ///< where the message goes when raise_exception is off
};

using GradcheckFunction = std::function<variable_list(const variable_list&)>;

namespace detail {
template <class F>
GradcheckFunction as_gradcheck_function(F f);
}

/// Compares the derivative that backward gives for f with central differences, entry by entry. Inputs that
/// require grad should be kDouble and not overlap, on any device; put them away from kinks. Failure names the
/// output, the input and the entry furthest off, analytic beside numeric. f may take a Variable, several, or
/// a variable_list, and return either.
EBB_API bool gradcheck(const GradcheckFunction& f, const variable_list& inputs,
                       const GradcheckOptions& options = {});

/// The same for the second derivative: checks the gradient of v^T J, with `grad_outputs` as v (random when
/// empty).
EBB_API bool gradgradcheck(const GradcheckFunction& f, const variable_list& inputs,
                           const variable_list& grad_outputs = {}, const GradcheckOptions& options = {});

template <class F>
  requires(!std::is_convertible_v<F, GradcheckFunction>)
bool gradcheck(F f, const variable_list& inputs, const GradcheckOptions& options = {}) {
  return gradcheck(detail::as_gradcheck_function(std::move(f)), inputs, options);
}
template <class F>
  requires(!std::is_convertible_v<F, GradcheckFunction>)
bool gradgradcheck(F f, const variable_list& inputs, const variable_list& grad_outputs = {},
                   const GradcheckOptions& options = {}) {
  return gradgradcheck(detail::as_gradcheck_function(std::move(f)), inputs, grad_outputs, options);
}

namespace detail {

template <class F>
variable_list call_with_list(F& f, const variable_list& x) {
  const auto as_list = [](auto&& result) -> variable_list {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(result)>, Variable>)
      return {result};
    else
      return result;
  };
  if constexpr (std::is_invocable_v<F&, const variable_list&>)
    return as_list(f(x));
  else if constexpr (std::is_invocable_v<F&, const Variable&>)
    return as_list(f(x.at(0)));
  else if constexpr (std::is_invocable_v<F&, const Variable&, const Variable&>)
    return as_list(f(x.at(0), x.at(1)));
  else
    return as_list(f(x.at(0), x.at(1), x.at(2)));
}

template <class F>
GradcheckFunction as_gradcheck_function(F f) {
  return [f = std::move(f)](const variable_list& x) mutable { return call_with_list(f, x); };
}

}  // namespace detail

namespace autograd {
using ebb::gradcheck;
using ebb::gradgradcheck;
}  // namespace autograd

}  // namespace ebb

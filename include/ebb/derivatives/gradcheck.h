// gradcheck and gradgradcheck: compare derivatives with finite differences. Programs may use them in tests.
#pragma once

#include <ebb/autograd/variable.h>

#include <functional>
#include <string>

namespace ebb {

/// Options of gradcheck; the defaults are those of torch.autograd.gradcheck.
struct GradcheckOptions {
  double eps = 1e-6;   ///< step of the central difference
  double atol = 1e-5;  ///< |analytic - numeric| <= atol + rtol * |numeric|
  double rtol = 1e-3;
  bool fast_mode = false;            ///< compare v^T J u for one random u and v instead of every entry of J
  bool raise_exception = true;       ///< throw ebb::Error with the message instead of returning false
  bool check_undefined_grad = true;  ///< also check that undefined incoming gradients count as zero
  double nondet_tol = 0.0;           ///< the largest allowed difference between two runs of backward
  std::string* message = nullptr;    ///< receives the message if raise_exception is false
};

using GradcheckFunction = std::function<variable_list(const variable_list&)>;

namespace detail {
template <class F>
GradcheckFunction as_gradcheck_function(F f);
}

/// Compares the derivatives of f that backward computes with central differences, element by element. Inputs
/// that require grad should be kDouble, without internal overlap, and not close to kinks of f. They may be on
/// any device. An error names the output, the input and the element with the largest difference, and shows
/// the analytic and the numeric value. f takes one Variable, several, or a variable_list. It returns one
/// Variable or a variable_list.
EBB_API bool gradcheck(const GradcheckFunction& f, const variable_list& inputs,
                       const GradcheckOptions& options = {});

/// Checks second derivatives: compares the gradient of v^T J with central differences. v is `grad_outputs`;
/// if that is empty, v is random.
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

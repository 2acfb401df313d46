// jacobian, hessian, vjp, jvp, hvp, vhp: derivatives of functions.
#pragma once

#include <ebb/autograd/variable.h>

#include <functional>
#include <utility>

namespace ebb::autograd {

/// A differentiable function from a tensor to a tensor.
using UnaryFunction = std::function<Variable(const Variable&)>;
/// A differentiable function from tensors to tensors.
using ListFunction = std::function<variable_list(const variable_list&)>;

// All functions below call f on detached copies of the inputs. With create_graph the results can be
// differentiated with respect to other tensors that f uses, and to inputs that require grad.

/// Returns J[i..., j...] = d f(x)[i...] / d x[j...]. Its shape is the shape of f(x) followed by the shape of
/// x (torch.autograd.functional.jacobian).
EBB_API Variable jacobian(const UnaryFunction& f, const Variable& x, bool create_graph = false);
/// Returns result[o][i] = d f(inputs)[o] / d inputs[i].
EBB_API std::vector<variable_list> jacobian(const ListFunction& f, const variable_list& inputs,
                                            bool create_graph = false);

/// Returns H[i..., j...] = d^2 f / d x[i...] d x[j...], where f(x) has one element
/// (torch.autograd.functional.hessian).
EBB_API Variable hessian(const UnaryFunction& f, const Variable& x, bool create_graph = false);
/// Returns result[i][j] = d^2 f / d inputs[i] d inputs[j]; f returns one tensor with one element.
EBB_API std::vector<variable_list> hessian(const ListFunction& f, const variable_list& inputs,
                                           bool create_graph = false);

/// Returns (f(x), J^T v). v has the shape of f(x), and is optional if f(x) has one element.
EBB_API std::pair<Variable, Variable> vjp(const UnaryFunction& f, const Variable& x, const Variable& v = {},
                                          bool create_graph = false);
EBB_API std::pair<variable_list, variable_list> vjp(const ListFunction& f, const variable_list& inputs,
                                                    const variable_list& v, bool create_graph = false);

/// Returns (f(x), J v). v has the shape of x. The product J v is computed as the derivative of the function u
/// -> J^T u (double-backward trick, J. Townsend 2017).
EBB_API std::pair<Variable, Variable> jvp(const UnaryFunction& f, const Variable& x, const Variable& v,
                                          bool create_graph = false);
EBB_API std::pair<variable_list, variable_list> jvp(const ListFunction& f, const variable_list& inputs,
                                                    const variable_list& v, bool create_graph = false);

/// Returns (f(x), H v), where f(x) has one element.
EBB_API std::pair<Variable, Variable> hvp(const UnaryFunction& f, const Variable& x, const Variable& v,
                                          bool create_graph = false);
/// Returns (f(x), v^T H), which equals hvp because H is symmetric (torch.autograd.functional.vhp).
inline std::pair<Variable, Variable> vhp(const UnaryFunction& f, const Variable& x, const Variable& v,
                                         bool create_graph = false) {
  return hvp(f, x, v, create_graph);
}

}  // namespace ebb::autograd

// Derivatives of functions as values: Jacobians, Hessians and their products with vectors.
#pragma once

#include <ebb/autograd/variable.h>

#include <functional>
#include <utility>

namespace ebb::autograd {

/// A differentiable map from tensor to tensor.
using UnaryFunction = std::function<Variable(const Variable&)>;
/// A differentiable map from tensors to tensors.
using ListFunction = std::function<variable_list(const variable_list&)>;

// All of these call the function on detached copies of the inputs. With create_graph the results can be
// differentiated with respect to what else the function uses, and to inputs that require grad.

/// J[i..., j...] = d f(x)[i...] / d x[j...]: the shape of f(x) followed by that of x
/// (torch.autograd.functional.jacobian).
EBB_API Variable jacobian(const UnaryFunction& f, const Variable& x, bool create_graph = false);
/// result[o][i] = d f(inputs)[o] / d inputs[i].
EBB_API std::vector<variable_list> jacobian(const ListFunction& f, const variable_list& inputs,
                                            bool create_graph = false);

/// H[i..., j...] = d^2 f / d x[i...] d x[j...] for f of one element (torch.autograd.functional.hessian).
EBB_API Variable hessian(const UnaryFunction& f, const Variable& x, bool create_graph = false);
/// result[i][j] = d^2 f / d inputs[i] d inputs[j]; f returns one tensor of one element.
EBB_API std::vector<variable_list> hessian(const ListFunction& f, const variable_list& inputs,
                                           bool create_graph = false);

/// (f(x), J^T v): v has the shape of f(x) and may be left out when that has one element.
EBB_API std::pair<Variable, Variable> vjp(const UnaryFunction& f, const Variable& x, const Variable& v = {},
                                          bool create_graph = false);
EBB_API std::pair<variable_list, variable_list> vjp(const ListFunction& f, const variable_list& inputs,
                                                    const variable_list& v, bool create_graph = false);

/// (f(x), J v): v has the shape of x. Computed by differentiating the map u -> J^T u (the double-backward
/// trick, J. Townsend 2017).
EBB_API std::pair<Variable, Variable> jvp(const UnaryFunction& f, const Variable& x, const Variable& v,
                                          bool create_graph = false);
EBB_API std::pair<variable_list, variable_list> jvp(const ListFunction& f, const variable_list& inputs,
                                                    const variable_list& v, bool create_graph = false);

/// (f(x), H v) for f of one element.
EBB_API std::pair<Variable, Variable> hvp(const UnaryFunction& f, const Variable& x, const Variable& v,
                                          bool create_graph = false);
/// (f(x), v^T H), which is the same (torch.autograd.functional.vhp).
inline std::pair<Variable, Variable> vhp(const UnaryFunction& f, const Variable& x, const Variable& v,
                                         bool create_graph = false) {
  return hvp(f, x, v, create_graph);
}

}  // namespace ebb::autograd

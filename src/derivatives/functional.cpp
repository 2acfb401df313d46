// jacobian, hessian, and their products with vectors.
#include <ebb/autograd/backward.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/derivatives/functional.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/shape/join.h>

namespace ebb::autograd {
namespace {

ListFunction as_list(const UnaryFunction& f) {
  return [&f](const variable_list& x) { return variable_list{f(x[0])}; };
}

// Returns an alias of each input; all aliases require grad. With create_graph, the alias of an input that
// requires grad is a view in the caller's graph. All other aliases are detached.
variable_list prepare(const char* what, const variable_list& inputs, bool create_graph) {
  variable_list out;
  for (const Variable& x : inputs) {
    EBB_CHECK(x.defined(), what, ": an input of the function is undefined.");
    if (create_graph && x.requires_grad())
      out.push_back(x.view_as(x));
    else
      out.push_back(x.detach().requires_grad_());
  }
  return out;
}

variable_list call(const char* what, const ListFunction& f, const variable_list& inputs) {
  variable_list y = f(inputs);
  for (const Variable& v : y) EBB_CHECK(v.defined(), what, ": the function returned an undefined tensor.");
  return y;
}

Variable zeros_of(const Variable& x) { return zeros(x.sizes(), x.options()); }

Variable finish(const Variable& x, bool create_graph) { return create_graph ? x : x.detach(); }

// Returns the gradients of y with respect to the inputs; zeros for inputs that y does not depend on.
variable_list pull(const variable_list& y, const variable_list& inputs, const variable_list& seeds,
                   bool create_graph) {
  variable_list roots, kept;
  for (std::size_t i = 0; i < y.size(); ++i)
    if (y[i].requires_grad()) {
      roots.push_back(y[i]);
      kept.push_back(i < seeds.size() ? seeds[i] : Variable());
    }
  variable_list grads(inputs.size());
  if (!roots.empty()) grads = grad(roots, inputs, kept, true, create_graph, true);
  for (std::size_t i = 0; i < grads.size(); ++i)
    if (!grads[i].defined()) grads[i] = zeros_of(inputs[i]);
  return grads;
}

DimVector joined(IntArrayRef a, IntArrayRef b) {
  DimVector out(a);
  out.append(b.begin(), b.end());
  return out;
}

std::vector<variable_list> jacobian_of(const variable_list& outputs, const variable_list& inputs,
                                       bool create_graph) {
  std::vector<variable_list> result;
  for (const Variable& y : outputs) {
    std::vector<variable_list> rows(inputs.size());
    for (std::int64_t k = 0; k < y.numel(); ++k) {
      // Each row is the gradient of one element of y.
      const Variable seed = zeros(DimVector{y.numel()}, y.options());
      seed.as_strided({}, {}, k).fill_(1);
      const variable_list row = pull({y}, inputs, {seed.reshape(y.sizes())}, create_graph);
      for (std::size_t i = 0; i < inputs.size(); ++i) rows[i].push_back(row[i]);
    }
    variable_list blocks;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const DimVector sizes = joined(y.sizes(), inputs[i].sizes());
      blocks.push_back(rows[i].empty() ? zeros(sizes, inputs[i].options())
                                       : finish(stack(rows[i], 0).reshape(sizes), create_graph));
    }
    result.push_back(std::move(blocks));
  }
  return result;
}

void check_scalar(const variable_list& y, const char* what) {
  EBB_CHECK(y.size() == 1 && y[0].numel() == 1, what,
            ": the function must return one tensor of one element, got ", std::uint64_t{y.size()}, " tensors",
            y.empty() ? std::string() : detail::text(", the first of shape ", y[0].sizes()), ".");
}

}  // namespace

std::vector<variable_list> jacobian(const ListFunction& f, const variable_list& inputs, bool create_graph) {
  const InferenceMode record(false);
  const variable_list x = prepare("jacobian", inputs, create_graph);
  return jacobian_of(call("jacobian", f, x), x, create_graph);
}

Variable jacobian(const UnaryFunction& f, const Variable& x, bool create_graph) {
  return jacobian(as_list(f), {x}, create_graph)[0][0];
}

std::vector<variable_list> hessian(const ListFunction& f, const variable_list& inputs, bool create_graph) {
  const InferenceMode record(false);
  const variable_list x = prepare("hessian", inputs, create_graph);
  const variable_list y = call("hessian", f, x);
  check_scalar(y, "hessian");
  return jacobian_of(pull(y, x, {}, true), x, create_graph);
}

Variable hessian(const UnaryFunction& f, const Variable& x, bool create_graph) {
  return hessian(as_list(f), {x}, create_graph)[0][0];
}

std::pair<variable_list, variable_list> vjp(const ListFunction& f, const variable_list& inputs,
                                            const variable_list& v, bool create_graph) {
  const InferenceMode record(false);
  const variable_list x = prepare("vjp", inputs, create_graph);
  variable_list y = call("vjp", f, x);
  variable_list grads = pull(y, x, v, create_graph);
  for (Variable& t : y) t = finish(t, create_graph);
  return {std::move(y), std::move(grads)};
}

std::pair<Variable, Variable> vjp(const UnaryFunction& f, const Variable& x, const Variable& v,
                                  bool create_graph) {
  auto [y, g] = vjp(as_list(f), {x}, v.defined() ? variable_list{v} : variable_list{}, create_graph);
  return {y[0], g[0]};
}

std::pair<variable_list, variable_list> jvp(const ListFunction& f, const variable_list& inputs,
                                            const variable_list& v, bool create_graph) {
  EBB_CHECK(v.size() == inputs.size(), "jvp: got ", std::uint64_t{inputs.size()}, " inputs and ",
            std::uint64_t{v.size()}, " vectors; give one vector for each input.");
  for (std::size_t i = 0; i < v.size(); ++i)
    EBB_CHECK(v[i].sizes() == inputs[i].sizes(), "jvp: vector ", std::uint64_t{i}, " has the shape ",
              v[i].sizes(), " and its input ", inputs[i].sizes(), ". Give it the input's shape.");
  const InferenceMode record(false);
  const variable_list x = prepare("jvp", inputs, create_graph);
  variable_list y = call("jvp", f, x);
  // g(u) = J^T u is linear in u, so the transpose of its derivative is J for every u.
  variable_list u;
  for (const Variable& t : y) u.push_back(zeros_of(t).requires_grad_());
  const variable_list g = pull(y, x, u, true);
  variable_list out = pull(g, u, v, create_graph);
  for (Variable& t : y) t = finish(t, create_graph);
  return {std::move(y), std::move(out)};
}

std::pair<Variable, Variable> jvp(const UnaryFunction& f, const Variable& x, const Variable& v,
                                  bool create_graph) {
  auto [y, t] = jvp(as_list(f), {x}, {v}, create_graph);
  return {y[0], t[0]};
}

std::pair<Variable, Variable> hvp(const UnaryFunction& f, const Variable& x, const Variable& v,
                                  bool create_graph) {
  EBB_CHECK(v.sizes() == x.sizes(), "hvp: the vector has the shape ", v.sizes(), " and the input ", x.sizes(),
            ".");
  const InferenceMode record(false);
  const variable_list in = prepare("hvp", {x}, create_graph);
  const variable_list y = call("hvp", as_list(f), in);
  check_scalar(y, "hvp");
  const variable_list g = pull(y, in, {}, true);
  const variable_list h = pull(g, in, {v}, create_graph);
  return {finish(y[0], create_graph), h[0]};
}

}  // namespace ebb::autograd

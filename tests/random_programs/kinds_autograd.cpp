// Statements about gradients: backward, grad, tensor flags, hooks and user-defined functions.
#include <ebb/autograd/backward.h>
#include <ebb/autograd/checkpoint.h>
#include <ebb/autograd/function.h>
#include <ebb/autograd/hooks.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>

#include "random_programs/kinds.h"

namespace programs {
namespace {

using ebb::variable_list;
using ebb::autograd::AutogradContext;
using ebb::autograd::Function;

std::string end(Language l) { return l == Language::cpp ? ";" : ""; }

// Values that differ between positions, so that a permuted gradient is detected.
Variable seed_like(const Variable& y, std::int64_t seed) { return make(y.sizes().vec(), y.dtype(), seed); }
std::string seed_text(int slot, std::int64_t seed) {
  return "seed_like(" + slot_text(slot) + ", " + std::to_string(seed) + ")";
}

bool has_graph(const Slot& slot) {
  return slot.is_tensor() && slot.tensor.requires_grad() && slot.tensor.grad_fn();
}
bool is_leaf(const Slot& slot) {
  return slot.is_tensor() && slot.tensor.requires_grad() && slot.tensor.is_leaf();
}

// in: the root, then the inputs that accumulate gradients, if any. numbers: seed, retain_graph, create_graph.
const bool added_backward =
    add_kind({"backward", 14, kBody,
              [](Draw& draw, const State& state, Statement& s) {
                const auto root = pick(draw, state, has_graph);
                if (!root) return false;
                s.in = {*root};
                if (draw.once_in(5)) {
                  const auto leaf = pick(draw, state, is_leaf);
                  if (leaf) s.in.push_back(*leaf);
                }
                const bool create = draw.once_in(6);
                s.numbers = {draw.below(100), create || draw.once_in(2), create};
                return true;
              },
              [](State& state, const Statement& s) {
                variable_list inputs;
                for (std::size_t i = 1; i < s.in.size(); ++i) inputs.push_back(state.tensor(s.in[i]));
                const Variable root = state.tensor(s.in[0]);
                ebb::autograd::backward({root}, {seed_like(root, s.numbers[0])}, s.numbers[1] != 0,
                                        s.numbers[2] != 0, inputs);
              },
              [](const Statement& s, Language l) {
                const std::vector<int> inputs(s.in.begin() + 1, s.in.end());
                const bool cpp = l == Language::cpp;
                return slot_text(s.in[0]) + ".backward(" + seed_text(s.in[0], s.numbers[0]) + ", " +
                       (cpp ? "" : "retain_graph=") + bool_text(s.numbers[1], l) + ", " +
                       (cpp ? "" : "create_graph=") + bool_text(s.numbers[2], l) +
                       (inputs.empty() ? ""
                                       : (cpp ? ", " : ", inputs=") + (cpp ? "{" + slots_text(inputs, l) + "}"
                                                                           : slots_text(inputs, l))) +
                       ")" + end(l);
              }});

// in: the output and two inputs. Undefined gradients give undefined slots.
const bool added_grad = add_kind(
    {"grad", 12, kBody,
     [](Draw& draw, const State& state, Statement& s) {
       const auto output = pick(draw, state, has_graph);
       const auto needs = [](const Slot& slot) { return slot.is_tensor() && slot.tensor.requires_grad(); };
       const auto a = pick(draw, state, needs), b = pick(draw, state, needs);
       if (!output || !a || !b || *a == *b) return false;
       s.in = {*output, *a, *b};
       s.out = {0, 0};
       const bool create = draw.once_in(2);
       s.numbers = {draw.below(100), create || draw.once_in(2), create};
       return true;
     },
     [](State& state, const Statement& s) {
       const Variable output = state.tensor(s.in[0]);
       const variable_list grads = ebb::autograd::grad(
           {output}, {state.tensor(s.in[1]), state.tensor(s.in[2])}, {seed_like(output, s.numbers[0])},
           s.numbers[1] != 0, s.numbers[2] != 0, /*allow_unused=*/true);
       for (std::size_t i = 0; i < 2; ++i) state[s.out[i]] = Slot{.tensor = grads[i]};
     },
     [](const Statement& s, Language l) {
       const bool cpp = l == Language::cpp;
       const std::string a = slot_text(s.out[0]), b = slot_text(s.out[1]);
       const std::string arguments =
           slots_text({s.in[0]}, l) + ", " + slots_text({s.in[1], s.in[2]}, l) + ", " + (cpp ? "{" : "[") +
           seed_text(s.in[0], s.numbers[0]) + (cpp ? "}" : "]") + ", " + (cpp ? "" : "retain_graph=") +
           bool_text(s.numbers[1], l) + ", " + (cpp ? "" : "create_graph=") + bool_text(s.numbers[2], l) +
           ", " + (cpp ? "" : "allow_unused=") + bool_text(true, l) + ")";
       if (!cpp) return a + ", " + b + " = torch.autograd.grad(" + arguments;
       return "auto g" + a + " = autograd::grad(" + arguments + "; Tensor " + a + " = g" + a + "[0], " + b +
              " = g" + a + "[1];";
     }});

/// A method of one tensor without a result.
struct Ask {
  const char* name;
  bool (*fits)(const Slot&);
  void (*run)(const Variable&);
};
const std::vector<Ask> asks = {
    {"retain_grad()", has_graph, [](const Variable& x) { x.retain_grad(); }},
    {"detach_()", [](const Slot& s) { return s.is_tensor(); }, [](const Variable& x) { x.detach_(); }},
    {"requires_grad_()", [](const Slot& s) { return s.is_tensor() && s.tensor.is_floating_point(); },
     [](const Variable& x) { x.set_requires_grad(true); }},
    {"requires_grad_(False)", is_leaf, [](const Variable& x) { x.set_requires_grad(false); }},
};
const bool added_ask = add_kind({"flag", 3, kBody | kBetween,
                                 [](Draw& draw, const State& state, Statement& s) {
                                   const Ask& ask = draw.of(asks);
                                   const auto slot = pick(draw, state, ask.fits);
                                   if (!slot) return false;
                                   s.name = ask.name;
                                   s.in = {*slot};
                                   return true;
                                 },
                                 [](State& state, const Statement& s) {
                                   for (const Ask& ask : asks)
                                     if (s.name == ask.name) ask.run(state.tensor(s.in[0]));
                                 },
                                 [](const Statement& s, Language l) {
                                   const bool freezes = s.name == "requires_grad_(False)";
                                   return slot_text(s.in[0]) + "." +
                                          (freezes && l == Language::cpp ? "requires_grad_(false)" : s.name) +
                                          end(l);
                                 }});

// Hooks that change gradients; numbers: the factor.
const bool added_hook =
    add_kind({"hook", 2, kSetup | kBody | kBetween,
              [](Draw& draw, const State& state, Statement& s) {
                const auto slot = pick(draw, state, [](const Slot& each) {
                  return each.is_tensor() && each.tensor.requires_grad();
                });
                if (!slot) return false;
                s.in = {*slot};
                s.numbers = {draw.between(-2, 3)};
                return true;
              },
              [](State& state, const Statement& s) {
                const double factor = static_cast<double>(s.numbers[0]);
                state.tensor(s.in[0]).register_hook([factor](const Variable& g) { return g * factor; });
              },
              [](const Statement& s, Language l) {
                const std::string x = slot_text(s.in[0]), factor = std::to_string(s.numbers[0]);
                if (l == Language::python) return x + ".register_hook(lambda g: g * " + factor + ".0)";
                return x + ".register_hook([](Tensor g) { return g * " + factor + ".0; });";
              }});

// Reads the gradient of a leaf as a tensor.
const bool added_grad_of = add_kind(
    {"grad_of", 4, kBody,
     [](Draw& draw, const State& state, Statement& s) {
       const auto slot =
           pick(draw, state, [](const Slot& each) { return is_leaf(each) && each.tensor.grad().defined(); });
       if (!slot) return false;
       s.in = {*slot};
       s.out = {0};
       return true;
     },
     [](State& state, const Statement& s) { state[s.out[0]] = Slot{.tensor = state.tensor(s.in[0]).grad()}; },
     [](const Statement& s, Language l) {
       return (l == Language::cpp ? "Tensor " : "") + slot_text(s.out[0]) + " = " + slot_text(s.in[0]) +
              ".grad" + (l == Language::cpp ? "();" : "");
     }});

/// x^3, computed from the saved input and output.
struct Cube : Function<Cube> {
  static Variable forward(AutogradContext* context, Variable x) {
    Variable y = x * x * x;
    context->save_for_backward({x, y});
    return y;
  }
  static variable_list backward(AutogradContext* context, variable_list g) {
    const variable_list kept = context->get_saved_variables();
    return {g[0] * kept[0] * kept[0] * 3};
  }
};
/// Doubles its input in place.
struct Doubled : Function<Doubled> {
  static Variable forward(AutogradContext* context, Variable x) {
    x.mul_(2);
    context->mark_dirty({x});
    return x;
  }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * 2}; }
};
/// Returns the negated input and, without a gradient, its sign.
struct Parted : Function<Parted> {
  static variable_list forward(AutogradContext* context, Variable x) {
    variable_list y{x.neg(), x.sign()};
    context->mark_non_differentiable({y[1]});
    return y;
  }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0].neg()}; }
};
/// Checkpoints a function that writes to the input of a node which uses its result.
struct Rewritten {
  static Variable apply(const Variable& x) {
    return ebb::autograd::checkpoint(
        [](const Variable& t) {
          const Variable h = t * 2, g = h.tanh();
          h.add_(g);
          return h;
        },
        x);
  }
};
const std::vector<std::string> functions = {"Cube", "Doubled", "Parted"};
const bool added_function =
    add_kind({"function", 6, kBody,
              [](Draw& draw, const State& state, Statement& s) {
                const auto slot = pick_floating(draw, state);
                if (!slot) return false;
                s.name = draw.of(functions);
                if (s.name == "Doubled" && *slot % 2 == 1) s.name = "Rewritten";
                s.in = {*slot};
                s.out = {0};
                return true;
              },
              [](State& state, const Statement& s) {
                const Variable x = state.tensor(s.in[0]);
                state[s.out[0]] = Slot{.tensor = s.name == "Cube"        ? Cube::apply(x)
                                                 : s.name == "Doubled"   ? Doubled::apply(x)
                                                 : s.name == "Rewritten" ? Rewritten::apply(x)
                                                                         : Parted::apply(x)[0]};
              },
              [](const Statement& s, Language l) {
                const std::string call = s.name + (l == Language::cpp ? "::apply(" : ".apply(") +
                                         slot_text(s.in[0]) + ")" + (s.name == "Parted" ? "[0]" : "");
                return (l == Language::cpp ? "Tensor " : "") + slot_text(s.out[0]) + " = " + call + end(l);
              }});

}  // namespace
}  // namespace programs

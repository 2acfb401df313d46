// Acts between two calls: of the caller, of random generators, and acts that must not change the results of
// calls.
#include <ebb/autograd/backward.h>
#include <ebb/compile.h>
#include <ebb/core/error.h>
#include <ebb/core/random.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/random.h>

#include "random_programs/kinds.h"

#include <thread>

// Acts of the caller between two calls, and calls of random generators.

namespace programs {
namespace {

std::string end(Language l) { return l == Language::cpp ? ";" : ""; }
bool is_tensor(const Slot& slot) { return slot.is_tensor(); }

/// An act on one or two tensors. numbers: a seed and a layout.
struct Act {
  const char* name;
  bool two;
  void (*run)(State&, const Statement&);
  const char* cpp;  ///< #a and #b are the tensors, #n and #m are numbers
  const char* python;
};

const std::vector<Act> acts = {
    // Puts another tensor into the same slot; the old one is freed unless something refers to it.
    {"fresh", false,
     [](State& state, const Statement& s) {
       Slot& slot = state[s.in[0]];
       const Variable old = slot.tensor;
       slot.tensor = make(old.sizes().vec(), old.dtype(), s.numbers[0], static_cast<Layout>(s.numbers[1]))
                         .set_requires_grad(old.requires_grad());
     },
     "#a = make_like(#a, #n, #m);", "#a = make_like(#a, #n, #m)"},
    {"alias", true, [](State& state, const Statement& s) { state[s.in[0]].tensor = state.tensor(s.in[1]); },
     "#a = #b;", "#a = #b"},
    {"view", true,
     [](State& state, const Statement& s) {
       state[s.in[0]].tensor = state.tensor(s.in[1]).detach().view({-1});
     },
     "#a = #b.detach().view({-1});", "#a = #b.detach().view([-1])"},
    // Both tensors share memory, some elements apart.
    {"overlap", true,
     [](State& state, const Statement& s) {
       const Variable a = state.tensor(s.in[0]), b = state.tensor(s.in[1]);
       const std::int64_t apart = s.numbers[1];
       const Variable all = make({a.numel() + b.numel() + apart}, a.dtype(), s.numbers[0]);
       const auto part = [&](const Variable& x, std::int64_t first) {
         return all.narrow(0, first, x.numel()).view(x.sizes()).detach().set_requires_grad(x.requires_grad());
       };
       state[s.in[0]].tensor = part(a, 0);
       state[s.in[1]].tensor = part(b, apart);
     },
     "overlap(#a, #b, #n, #m);", "#a, #b = overlap(#a, #b, #n, #m)"},
    // A tensor with the same sizes and strides, in the memory of another one.
    {"within", true,
     [](State& state, const Statement& s) {
       const Variable a = state.tensor(s.in[0]), b = state.tensor(s.in[1]).detach();
       state[s.in[0]].tensor =
           b.as_strided(a.sizes(), a.strides(), s.numbers[1]).detach().set_requires_grad(a.requires_grad());
     },
     "#a = within(#a, #b, #m);", "#a = within(#a, #b, #m)"},
    {"set_", true,
     [](State& state, const Statement& s) { state.tensor(s.in[0]).set_(state.tensor(s.in[1])); },
     "#a.set_(#b);", "#a.set_(#b)"},
    {"set_data", true,
     [](State& state, const Statement& s) { state.tensor(s.in[0]).set_data(state.tensor(s.in[1])); },
     "#a.set_data(#b);", "#a.data = #b"},
    {"resize_", false,
     [](State& state, const Statement& s) {
       const std::int64_t before = state.tensor(s.in[0]).numel();
       const std::int64_t wanted = 1 + s.numbers[0] % 12;
       state.tensor(s.in[0]).resize_({wanted});
       if (wanted > before) state.tensor(s.in[0]).detach().fill_(0.5);
     },
     "resize(#a, #n);", "resize(#a, #n)"},
    {"clear_grad", false,
     [](State& state, const Statement& s) { state.tensor(s.in[0]).mutable_grad() = Variable(); },
     "#a.mutable_grad() = {};", "#a.grad = None"},
    {"zero_grad", false,
     [](State& state, const Statement& s) {
       if (state.tensor(s.in[0]).grad().defined()) state.tensor(s.in[0]).grad().detach().zero_();
     },
     "if (#a.grad().defined()) #a.grad().detach().zero_();", "#a.grad is None or #a.grad.detach().zero_()"},
    {"replace_grad", false,
     [](State& state, const Statement& s) {
       const Variable& x = state.tensor(s.in[0]);
       x.mutable_grad() = make(x.sizes().vec(), x.dtype(), s.numbers[0]);
     },
     "#a.mutable_grad() = make_like(#a, #n);", "#a.grad = make_like(#a, #n)"},
};

const Act& act_named(const std::string& name) {
  for (const Act& each : acts)
    if (name == each.name) return each;
  return acts.back();
}

const bool added_act =
    add_kind({"act", 20, kBetween,
              [](Draw& draw, const State& state, Statement& s) {
                const Act& act = draw.of(acts);
                const auto a = pick(draw, state, is_tensor), b = pick(draw, state, is_tensor);
                if (!a) return false;
                s.name = act.name;
                s.in = {*a};
                s.numbers = {draw.below(100), draw.below(kLayouts)};
                if (!act.two) return true;
                if (*a == *b || state.tensor(*a).dtype() != state.tensor(*b).dtype()) return false;
                s.in.push_back(*b);
                return true;
              },
              [](State& state, const Statement& s) { act_named(s.name).run(state, s); },
              [](const Statement& s, Language l) {
                std::string said,
                    pattern = l == Language::cpp ? act_named(s.name).cpp : act_named(s.name).python;
                for (std::size_t i = 0; i < pattern.size(); ++i) {
                  if (pattern[i] != '#') {
                    said += pattern[i];
                    continue;
                  }
                  const char what = pattern[++i];
                  said += what == 'n'   ? std::to_string(s.numbers[0])
                          : what == 'm' ? std::to_string(s.numbers[1])
                                        : slot_text(s.in[what == 'a' ? 0 : 1]);
                }
                return said;
              }});

const bool added_garbage = add_kind({"garbage", 3, kBetween,
                                     [](Draw& draw, const State&, Statement& s) {
                                       s.numbers = {draw.between(1, 200)};
                                       return true;
                                     },
                                     [](State&, const Statement& s) {
                                       for (std::int64_t n = 1; n < s.numbers[0]; n += 7)
                                         ebb::full({n}, 1e30);
                                     },
                                     [](const Statement& s, Language l) {
                                       return "garbage(" + std::to_string(s.numbers[0]) + ")" + end(l);
                                     }});

const bool added_seed =
    add_kind({"seed", 3, kBetween,
              [](Draw& draw, const State&, Statement& s) {
                s.numbers = {draw.below(1000)};
                return true;
              },
              [](State&, const Statement& s) { ebb::manual_seed(static_cast<std::uint64_t>(s.numbers[0])); },
              [](const Statement& s, Language l) {
                return prefix(l) + "manual_seed(" + std::to_string(s.numbers[0]) + ")" + end(l);
              }});

/// Random values with the shape of a tensor.
struct Random {
  const char* name;
  Variable (*make)(const Variable&);
  const char* text;
};
const std::vector<Random> randoms = {
    {"dropout", [](const Variable& x) { return ebb::dropout(x, 0.5, true); }, "@dropout(#, 0.5, true)"},
    {"rand_like", [](const Variable& x) { return ebb::rand_like(x.detach()); }, "@rand_like(#.detach())"},
    {"randn_like", [](const Variable& x) { return ebb::randn_like(x.detach()); }, "@randn_like(#.detach())"},
    {"normal_", [](const Variable& x) { return x.detach().clone().normal_(0.5, 2); },
     "#.detach().clone().normal_(0.5, 2)"},
    {"bernoulli", [](const Variable& x) { return ebb::bernoulli(x.detach().sigmoid()); },
     "@bernoulli(#.detach().sigmoid())"},
    {"randperm", [](const Variable& x) { return ebb::randperm(x.numel()); }, "@randperm(#.numel())"},
};
const bool added_random = add_kind({"random", 6, kSetup | kBody,
                                    [](Draw& draw, const State& state, Statement& s) {
                                      const auto slot = pick_floating(draw, state);
                                      if (!slot) return false;
                                      s.name = draw.of(randoms).name;
                                      s.in = {*slot};
                                      s.out = {0};
                                      return true;
                                    },
                                    [](State& state, const Statement& s) {
                                      for (const Random& each : randoms)
                                        if (s.name == each.name)
                                          state[s.out[0]] = Slot{.tensor = each.make(state.tensor(s.in[0]))};
                                    },
                                    [](const Statement& s, Language l) {
                                      std::string said;
                                      if (l == Language::python)
                                        return said;  // Python draws other random numbers
                                      for (const Random& each : randoms)
                                        if (s.name == each.name) said = each.text;
                                      for (std::size_t at; (at = said.find('#')) != std::string::npos;)
                                        said.replace(at, 1, slot_text(s.in[0]));
                                      if (said[0] == '@') said.replace(0, 1, prefix(l));
                                      return said.insert(0, "Tensor " + slot_text(s.out[0]) + " = ") + end(l);
                                    }});

}  // namespace

// Acts between two calls that must not change the results of calls.

namespace {

// A training step on separate tensors with `threads` threads.
void train_apart(std::int64_t threads) {
  std::vector<std::thread> all;
  const ebb::Device at = home();
  for (std::int64_t i = 0; i < threads; ++i)
    all.emplace_back([i, at] {
      const Home there(at);
      const Variable w = make({4, 4}, ebb::kFloat, i).set_requires_grad(true);
      (w.matmul(w).tanh() * 1e30).sum().backward();
    });
  for (std::thread& each : all) each.join();
}

// Another compiled function reads and writes the same tensors until it is replayed.
void call_another(const Variable& x) {
  auto other = ebb::compile([&x](const Variable& y) { return x.detach() * 2 + y; });
  for (int i = 0; i < 4; ++i) other(make(x.sizes().vec(), x.dtype(), i));
}

// An allocation that is too large for any system.
void ask_for_too_much() {
  try {
    ebb::empty({std::int64_t{1} << 50}, ebb::TensorOptions(ebb::kByte).device(home()));
  } catch (const ebb::Error&) {
    return;
  }
}

const std::vector<std::string> names = {"train_apart", "call_another", "ask_for_too_much"};
const bool added = add_kind({"meanwhile", 8, kBetween,
                             [](Draw& draw, const State& state, Statement& s) {
                               s.name = draw.of(names);
                               s.numbers = {draw.between(1, 2)};
                               if (s.name != "call_another") return true;
                               const auto slot = pick_floating(draw, state);
                               if (slot) s.in = {*slot};
                               return slot.has_value();
                             },
                             [](State& state, const Statement& s) {
                               if (s.name == "train_apart") return train_apart(s.numbers[0]);
                               if (s.name == "call_another") return call_another(state.tensor(s.in[0]));
                               ask_for_too_much();
                             },
                             [](const Statement& s, Language l) {
                               if (l == Language::python) return std::string("pass");
                               const std::string argument = s.name == "train_apart"
                                                                ? std::to_string(s.numbers[0])
                                                            : s.name == "call_another" ? slot_text(s.in[0])
                                                                                       : "";
                               return s.name + "(" + argument + ");";
                             }});

}  // namespace
}  // namespace programs

// Acts between two calls that must change nothing that the calls see.
#include "random_programs/kinds.h"

#include <ebb/autograd/backward.h>
#include <ebb/compile.h>
#include <ebb/core/error.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg.h>

#include <thread>

namespace programs {
namespace {

// A step of training on tensors of its own, on as many threads.
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

// Another compiled function reads and writes the same tensors, until it is replayed.
void call_another(const Variable& x) {
  auto other = ebb::compile([&x](const Variable& y) { return x.detach() * 2 + y; });
  for (int i = 0; i < 4; ++i) other(make(x.sizes().vec(), x.dtype(), i));
}

// An allocation that no system has memory for.
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

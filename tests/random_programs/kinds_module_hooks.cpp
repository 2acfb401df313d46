// Hooks of modules, and averages of their parameters.
#include "random_programs/kinds.h"

#include <ebb/nn.h>
#include <ebb/ops/elementwise.h>
#include <ebb/optim/swa_utils.h>

namespace programs {
namespace {

using ebb::variable_list;
using Average = ebb::optim::swa_utils::AveragedModel<ebb::nn::Module>;

std::string end(Language l) { return l == Language::cpp ? ";" : ""; }

variable_list times(const variable_list& all, double factor) {
  variable_list scaled;
  for (const Variable& x : all) scaled.push_back(x.defined() ? x * factor : x);
  return scaled;
}

/// A hook that multiplies what passes by a number.
struct Hook {
  const char* name;
  void (*add)(ebb::nn::Module&, double);
  const char* cpp;  ///< # is the factor
  const char* python;
};
const std::vector<Hook> hooks = {
    {"forward_pre",
     [](ebb::nn::Module& m, double by) {
       m.register_forward_pre_hook([by](ebb::nn::Module&, const variable_list& x) { return times(x, by); });
     },
     "register_forward_pre_hook([](auto&, auto x) { return times(x, #.0); })",
     "register_forward_pre_hook(lambda m, x: times(x, #.0))"},
    {"forward",
     [](ebb::nn::Module& m, double by) {
       m.register_forward_hook(
           [by](ebb::nn::Module&, const variable_list&, const variable_list& y) { return times(y, by); });
     },
     "register_forward_hook([](auto&, auto, auto y) { return times(y, #.0); })",
     "register_forward_hook(lambda m, x, y: y * #.0)"},
    {"full_backward_pre",
     [](ebb::nn::Module& m, double by) {
       m.register_full_backward_pre_hook(
           [by](ebb::nn::Module&, const variable_list& g) { return times(g, by); });
     },
     "register_full_backward_pre_hook([](auto&, auto g) { return times(g, #.0); })",
     "register_full_backward_pre_hook(lambda m, g: times(g, #.0))"},
    {"full_backward",
     [](ebb::nn::Module& m, double by) {
       m.register_full_backward_hook(
           [by](ebb::nn::Module&, const variable_list& in, const variable_list&) { return times(in, by); });
     },
     "register_full_backward_hook([](auto&, auto in, auto) { return times(in, #.0); })",
     "register_full_backward_hook(lambda m, i, o: times(i, #.0))"},
};

std::optional<int> pick_called(Draw& draw, const State& state) {
  return pick(draw, state, [](const Slot& each) { return each.forward != nullptr; });
}

const bool added_hook =
    add_kind({"module_hook", 12, kSetup | kBetween,
              [](Draw& draw, const State& state, Statement& s) {
                const auto module = pick_called(draw, state);
                if (!module) return false;
                s.name = draw.of(hooks).name;
                s.in = {*module};
                s.numbers = {draw.between(-2, 3)};
                return true;
              },
              [](State& state, const Statement& s) {
                for (const Hook& each : hooks)
                  if (s.name == each.name) each.add(state.module(s.in[0]), static_cast<double>(s.numbers[0]));
              },
              [](const Statement& s, Language l) {
                std::string said;
                for (const Hook& each : hooks)
                  if (s.name == each.name) said = l == Language::cpp ? each.cpp : each.python;
                said.replace(said.find('#'), 1, std::to_string(s.numbers[0]));
                return slot_text(s.in[0]) + (l == Language::cpp ? "->" : ".") + said + end(l);
              }});

const bool added_average =
    add_kind({"average", 12, kSetup,
              [](Draw& draw, const State& state, Statement& s) {
                const auto module = pick_called(draw, state);
                if (!module || state[*module].module->has_hooks()) return false;
                s.in = {*module};
                s.out = {0};
                return true;
              },
              [](State& state, const Statement& s) {
                state.module(s.in[0]);
                state[s.out[0]] =
                    Slot{.module = std::make_shared<Average>(
                             state[s.in[0]].module, ebb::optim::swa_utils::get_ema_multi_avg_fn(0.75))};
              },
              [](const Statement& s, Language l) {
                const std::string out = slot_text(s.out[0]), in = slot_text(s.in[0]);
                if (l == Language::cpp)
                  return "auto " + out + " = swa_utils::AveragedModel<nn::Module>(" + in +
                         ", swa_utils::get_ema_multi_avg_fn(0.75));";
                return out + " = torch.optim.swa_utils.AveragedModel(" + in +
                       ", multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.75))";
              }});

// in: the average and the model.
const bool added_update =
    add_kind({"update_average", 6, kBody | kBetween,
              [](Draw& draw, const State& state, Statement& s) {
                const auto average = pick(draw, state, [](const Slot& each) {
                  return dynamic_cast<Average*>(each.module.get()) != nullptr;
                });
                const auto model = pick_called(draw, state);
                if (!average || !model) return false;
                s.in = {*average, *model};
                return true;
              },
              [](State& state, const Statement& s) {
                auto* const average = dynamic_cast<Average*>(&state.module(s.in[0]));
                EBB_CHECK(average, "slot ", s.in[0], " has no average.");
                average->update_parameters(state.module(s.in[1]));
              },
              [](const Statement& s, Language l) {
                return slot_text(s.in[0]) + ".update_parameters(" + slot_text(s.in[1]) + ")" + end(l);
              }});

}  // namespace
}  // namespace programs

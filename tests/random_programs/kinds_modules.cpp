// Modules, optimizers, module hooks, and acts of a caller on them.
#include <ebb/autograd/grad_mode.h>
#include <ebb/nn.h>
#include <ebb/ops/elementwise.h>
#include <ebb/optim.h>
#include <ebb/optim/swa_utils.h>
#include <ebb/serialize.h>

#include "random_programs/kinds.h"

#include <sstream>

// Modules, optimizers and acts of a caller on them.

namespace programs {
namespace {

namespace nn = ebb::nn;
namespace optim = ebb::optim;

std::string end(Language l) { return l == Language::cpp ? ";" : ""; }

/// A module, and the sizes of its input tensors; -1 means any size.
struct Model {
  const char* text;  ///< #n is replaced by nn:: or torch.nn.
  std::vector<Sizes> takes;
  void (*make)(Slot&);
};

template <class Holder>
void put(Slot& slot, Holder holder) {
  slot.forward = [holder](const Variable& x) mutable { return holder(x); };
  slot.module = holder.ptr();
}

const std::vector<Model> models = {
    {"#nLinear(3, 4)", {{-1, 3}, {-1, -1, 3}, {3}}, [](Slot& s) { put(s, nn::Linear(3, 4)); }},
    {"#nLinear(4, 4)", {{-1, 4}, {4}, {-1, -1, 4}}, [](Slot& s) { put(s, nn::Linear(4, 4)); }},
    {"#nSequential(#nLinear(4, 5), #nReLU(), #nDropout(0.5), #nLinear(5, 3))",
     {{-1, 4}, {4}},
     [](Slot& s) {
       put(s, nn::Sequential(nn::Linear(4, 5), nn::ReLU(), nn::Dropout(0.5), nn::Linear(5, 3)));
       s.forward = [net = nn::Sequential(std::static_pointer_cast<nn::SequentialImpl>(s.module))](
                       const Variable& x) mutable { return net(x); };
     }},
    {"#nConv1d(3, 2, 2)", {{-1, 3, -1}}, [](Slot& s) { put(s, nn::Conv1d(3, 2, 2)); }},
    {"#nConv2d(2, 3, 2)", {{-1, 2, -1, -1}}, [](Slot& s) { put(s, nn::Conv2d(2, 3, 2)); }},
    {"#nBatchNorm1d(4)", {{-1, 4}, {-1, 4, -1}}, [](Slot& s) { put(s, nn::BatchNorm1d(4)); }},
    {"#nBatchNorm2d(2)", {{-1, 2, -1, -1}}, [](Slot& s) { put(s, nn::BatchNorm2d(2)); }},
    {"#nLayerNorm(4)", {{-1, 4}, {4}}, [](Slot& s) { put(s, nn::LayerNorm(nn::LayerNormOptions({4}))); }},
    {"#nGroupNorm(2, 4)", {{-1, 4}, {-1, 4, -1}}, [](Slot& s) { put(s, nn::GroupNorm(2, 4)); }},
    {"#nDropout(0.3)", {{-1, -1}, {-1}}, [](Slot& s) { put(s, nn::Dropout(0.3)); }},
    {"#nPReLU()", {{-1, -1}, {-1}}, [](Slot& s) { put(s, nn::PReLU()); }},
    {"#nMaxPool1d(2)", {{-1, -1, -1}}, [](Slot& s) { put(s, nn::MaxPool1d(2)); }},
};

const Model& model_of(const Statement& s) { return models[static_cast<std::size_t>(s.numbers[0])]; }

// Parameters get values that other frameworks can reproduce.
void fill(nn::Module& module, std::int64_t seed) {
  const ebb::NoGradGuard no_grad;
  for (const Variable& p : module.parameters()) p.copy_(make(p.sizes().vec(), p.dtype(), seed++) * 0.25);
}

bool takes(const Model& model, const Variable& x) {
  for (const Sizes& sizes : model.takes) {
    if (static_cast<std::int64_t>(sizes.size()) != x.dim()) continue;
    bool fits = true;
    for (std::size_t d = 0; d < sizes.size(); ++d)
      fits = fits && (sizes[d] < 0 || sizes[d] == x.size(static_cast<std::int64_t>(d)));
    if (fits) return true;
  }
  return false;
}

std::string model_text(const Statement& s, Language l) {
  std::string made = model_of(s).text;
  for (std::size_t at; (at = made.find("#n")) != std::string::npos;)
    made.replace(at, 2, l == Language::cpp ? "nn::" : "torch.nn.");
  return made;
}

// numbers: the model, whether it is f64, the seed of its parameters.
const bool added_module = add_kind(
    {"module", 16, kSetup,
     [](Draw& draw, const State&, Statement& s) {
       s.out = {0};
       s.numbers = {draw.below(static_cast<std::int64_t>(models.size())), draw.once_in(3), draw.below(100)};
       return true;
     },
     [](State& state, const Statement& s) {
       Slot slot;
       model_of(s).make(slot);
       slot.module->to(home());
       if (s.numbers[1]) slot.module->to(ebb::kDouble);
       fill(*slot.module, s.numbers[2]);
       slot.model = s.numbers[0];
       state[s.out[0]] = std::move(slot);
     },
     [](const Statement& s, Language l) -> std::string {
       const bool draws = std::string(model_of(s).text).find("Dropout") != std::string::npos;
       if (draws && l == Language::python) return "";  // Python draws other random numbers
       return (l == Language::cpp ? "auto " : "") + slot_text(s.out[0]) + " = filled(" + model_text(s, l) +
              ", " + bool_text(s.numbers[1], l) + ", " + std::to_string(s.numbers[2]) + ")" + end(l);
     }});

const bool added_forward =
    add_kind({"forward", 12, kBody,
              [](Draw& draw, const State& state, Statement& s) {
                const auto module =
                    pick(draw, state, [](const Slot& each) { return each.forward != nullptr; });
                if (!module) return false;
                const Slot& slot = state[*module];
                const auto x = pick(draw, state, [&](const Slot& each) {
                  return each.is_tensor() && each.tensor.is_floating_point() &&
                         takes(models[static_cast<std::size_t>(slot.model)], each.tensor);
                });
                if (!x) return false;
                s.in = {*module, *x};
                s.out = {0};
                return true;
              },
              [](State& state, const Statement& s) {
                state.module(s.in[0]);
                state[s.out[0]] = Slot{.tensor = state[s.in[0]].forward(state.tensor(s.in[1]))};
              },
              [](const Statement& s, Language l) {
                return (l == Language::cpp ? "Tensor " : "") + slot_text(s.out[0]) + " = " +
                       slot_text(s.in[0]) + "(" + slot_text(s.in[1]) + ")" + end(l);
              }});

/// A method of a module that is called between calls of the function.
struct Ask {
  const char* name;
  void (*run)(nn::Module&);
  const char* cpp;
  const char* python;
};
const std::vector<Ask> asks = {
    {"train", [](nn::Module& m) { m.train(); }, "#->train();", "#.train()"},
    {"eval", [](nn::Module& m) { m.eval(); }, "#->eval();", "#.eval()"},
    {"zero_grad", [](nn::Module& m) { m.zero_grad(); }, "#->zero_grad();", "#.zero_grad(set_to_none=False)"},
    {"zero_grad(false)", [](nn::Module& m) { m.zero_grad(false); }, "#->zero_grad(false);",
     "#.zero_grad(set_to_none=False)"},
    {"freeze",
     [](nn::Module& m) {
       for (const Variable& p : m.parameters()) p.set_requires_grad(false);
     },
     "for (auto& p : #->parameters()) p.requires_grad_(false);", "#.requires_grad_(False)"},
    {"thaw",
     [](nn::Module& m) {
       for (const Variable& p : m.parameters()) p.set_requires_grad(true);
     },
     "for (auto& p : #->parameters()) p.requires_grad_();", "#.requires_grad_()"},
    {"round_trip",
     [](nn::Module& m) {
       std::stringstream file;
       ebb::save(m, file);
       ebb::load(m, file);
     },
     "round_trip(#);", "#.load_state_dict({k: v.clone() for k, v in #.state_dict().items()})"},
    {"refill", [](nn::Module& m) { fill(m, 7); }, "fill(#, 7);", "fill(#, 7)"},
};
// Conversions give parameters other data, also between forward and backward.
const std::vector<Ask> conversions = {
    {"to_device", [](nn::Module& m) { m.to(home()); }, "#->to(kCPU);", "#.to('cpu')"},
    {"to_double_and_back",
     [](nn::Module& m) {
       const std::vector<Variable> all = m.parameters();
       const ebb::DType before = all.empty() ? ebb::kFloat : all[0].scalar_type();
       m.to(ebb::kDouble);
       m.to(before);
     },
     "to_double_and_back(#);", "to_double_and_back(#)"},
};

bool add_asks(const char* kind, int weight, unsigned places, const std::vector<Ask>& all) {
  return add_kind({kind, weight, places,
                   [&all](Draw& draw, const State& state, Statement& s) {
                     const auto module =
                         pick(draw, state, [](const Slot& each) { return each.module != nullptr; });
                     if (!module) return false;
                     s.name = draw.of(all).name;
                     s.in = {*module};
                     return true;
                   },
                   [&all](State& state, const Statement& s) {
                     for (const Ask& ask : all)
                       if (s.name == ask.name) ask.run(state.module(s.in[0]));
                   },
                   [&all](const Statement& s, Language l) {
                     std::string said;
                     for (const Ask& ask : all)
                       if (s.name == ask.name) said = l == Language::cpp ? ask.cpp : ask.python;
                     for (std::size_t at; (at = said.find('#')) != std::string::npos;)
                       said.replace(at, 1, slot_text(s.in[0]));
                     return said;
                   }});
}
const bool added_ask = add_asks("model", 8, kBetween, asks);
const bool added_conversion = add_asks("convert", 3, kBody | kBetween, conversions);

using Parameters = std::vector<Variable>;
struct Rule {
  const char* python;
  std::shared_ptr<optim::Optimizer> (*make)(const Parameters&);
  const char* cpp;
};
const std::vector<Rule> rules = {
    {"SGD(#, lr=0.125)",
     [](const Parameters& p) -> std::shared_ptr<optim::Optimizer> {
       return std::make_shared<optim::SGD>(p, optim::SGDOptions(0.125));
     },
     "optim::SGD(#, 0.125)"},
    {"SGD(#, lr=0.125, momentum=0.5, weight_decay=0.25)",
     [](const Parameters& p) -> std::shared_ptr<optim::Optimizer> {
       return std::make_shared<optim::SGD>(p, optim::SGDOptions(0.125).momentum(0.5).weight_decay(0.25));
     },
     "optim::SGD(#, optim::SGDOptions(0.125).momentum(0.5).weight_decay(0.25))"},
    {"Adam(#, lr=0.125)",
     [](const Parameters& p) -> std::shared_ptr<optim::Optimizer> {
       return std::make_shared<optim::Adam>(p, optim::AdamOptions(0.125));
     },
     "optim::Adam(#, 0.125)"},
    {"AdamW(#, lr=0.125)",
     [](const Parameters& p) -> std::shared_ptr<optim::Optimizer> {
       return std::make_shared<optim::AdamW>(p, optim::AdamWOptions(0.125));
     },
     "optim::AdamW(#, 0.125)"},
    {"RMSprop(#, lr=0.125)",
     [](const Parameters& p) -> std::shared_ptr<optim::Optimizer> {
       return std::make_shared<optim::RMSprop>(p, optim::RMSpropOptions(0.125));
     },
     "optim::RMSprop(#, 0.125)"},
};
const bool added_optimizer =
    add_kind({"optimizer", 24, kSetup,
              [](Draw& draw, const State& state, Statement& s) {
                const auto of = pick(draw, state, [](const Slot& each) {
                  if (each.module) return !each.module->parameters().empty();
                  return each.is_tensor() && each.tensor.is_leaf() && each.tensor.requires_grad();
                });
                if (!of) return false;
                s.in = {*of};
                s.out = {0};
                s.numbers = {draw.below(static_cast<std::int64_t>(rules.size()))};
                return true;
              },
              [](State& state, const Statement& s) {
                const Slot& of = state[s.in[0]];
                const Parameters parameters = of.module ? of.module->parameters() : Parameters{of.tensor};
                state[s.out[0]] =
                    Slot{.optimizer = rules[static_cast<std::size_t>(s.numbers[0])].make(parameters)};
              },
              [](const Statement& s, Language l) {
                const Rule& rule = rules[static_cast<std::size_t>(s.numbers[0])];
                std::string made = l == Language::cpp ? rule.cpp : rule.python;
                made.replace(made.find('#'), 1, "parameters(" + slot_text(s.in[0]) + ")");
                return (l == Language::cpp ? "auto " : "") + slot_text(s.out[0]) + " = " +
                       (l == Language::cpp ? "" : "torch.optim.") + made + end(l);
              }});

const bool added_step = add_kind(
    {"step", 8, kBody | kBetween,
     [](Draw& draw, const State& state, Statement& s) {
       const auto slot = pick(draw, state, [](const Slot& each) { return each.optimizer != nullptr; });
       if (!slot) return false;
       s.in = {*slot};
       s.name = draw.once_in(3) ? "zero_grad" : "step";
       return true;
     },
     [](State& state, const Statement& s) {
       optim::Optimizer& optimizer = state.optimizer(s.in[0]);
       if (s.name == "step")
         optimizer.step();
       else
         optimizer.zero_grad();
     },
     [](const Statement& s, Language l) {
       const bool zeroes = l == Language::python && s.name == "zero_grad";  // as in ebb and libtorch 1.13
       return slot_text(s.in[0]) + "." + s.name + (zeroes ? "(set_to_none=False)" : "()") + end(l);
     }});

// A scheduler that makes its first step, or a learning rate in units of 1/64.
const std::vector<std::string> schedules = {"set", "ExponentialLR", "LinearLR"};
const bool added_rate =
    add_kind({"rate", 12, kBetween,
              [](Draw& draw, const State& state, Statement& s) {
                const auto slot =
                    pick(draw, state, [](const Slot& each) { return each.optimizer != nullptr; });
                if (!slot) return false;
                s.in = {*slot};
                s.name = draw.of(schedules);
                s.numbers = {draw.between(1, 8)};
                return true;
              },
              [](State& state, const Statement& s) {
                optim::Optimizer& optimizer = state.optimizer(s.in[0]);
                if (s.name == "ExponentialLR") return optim::ExponentialLR(optimizer, 0.5).step();
                if (s.name == "LinearLR") return optim::LinearLR(optimizer, 0.25, 1, 4).step();
                for (auto& group : optimizer.param_groups())
                  group.options().set_lr(static_cast<double>(s.numbers[0]) / 64);
              },
              [](const Statement& s, Language l) {
                const bool cpp = l == Language::cpp;
                if (s.name != "set") {
                  const std::string arguments = s.name == "LinearLR" ? ", 0.25, 1, 4)" : ", 0.5)";
                  return (cpp ? "optim::" : "torch.optim.lr_scheduler.") + s.name + "(" + slot_text(s.in[0]) +
                         arguments + ".step()" + end(l);
                }
                const std::string rate = std::to_string(s.numbers[0]) + " / 64.0";
                if (cpp) return "set_rate(" + slot_text(s.in[0]) + ", " + rate + ");";
                return "set_rate(" + slot_text(s.in[0]) + ", " + rate + ")";
              }});

}  // namespace

// Module hooks, and averages of parameters.

namespace {

using ebb::variable_list;
using Average = ebb::optim::swa_utils::AveragedModel<ebb::nn::Module>;

variable_list times(const variable_list& all, double factor) {
  variable_list scaled;
  for (const Variable& x : all) scaled.push_back(x.defined() ? x * factor : x);
  return scaled;
}

/// A hook that multiplies its tensor by a number.
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

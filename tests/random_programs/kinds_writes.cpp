// Writes to tensors, which may be views or bases of others.
#include "random_programs/kinds.h"

#include <ebb/ops/copy.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>

#include <algorithm>

namespace programs {
namespace {

/// A method in place with an operand: a tensor, a number (in eighths), or none.
struct Write {
  const char* name;
  void (*with_tensor)(const Variable&, const Variable&);
  void (*with_number)(const Variable&, double);
  const char* arguments = "#";  ///< of the method, as text
};

using X = const Variable&;
const std::vector<Write> writes = {
    {"add_", [](X x, X y) { x.add_(y, 2); }, [](X x, double n) { x.add_(n); }, "#, 2"},
    {"sub_", [](X x, X y) { x.sub_(y); }, [](X x, double n) { x.sub_(n); }},
    {"mul_", [](X x, X y) { x.mul_(y); }, [](X x, double n) { x.mul_(n); }},
    {"div_", nullptr, [](X x, double n) { x.div_(n + 8); }, "# + 8"},
    {"copy_", [](X x, X y) { x.copy_(y); }, nullptr},
    {"fill_", nullptr, [](X x, double n) { x.fill_(n); }},
    {"zero_", nullptr, [](X x, double) { x.zero_(); }, ""},
    {"neg_", nullptr, [](X x, double) { x.neg_(); }, ""},
    {"relu_", nullptr, [](X x, double) { x.relu_(); }, ""},
    {"tanh_", nullptr, [](X x, double) { x.tanh_(); }, ""},
    {"sigmoid_", nullptr, [](X x, double) { x.sigmoid_(); }, ""},
    {"clamp_min_", [](X x, X y) { x.clamp_min_(y); }, [](X x, double n) { x.clamp_min_(n); }},
    {"pow_", nullptr, [](X x, double) { x.pow_(2); }, "2"},
    {"addcmul_", [](X x, X y) { x.addcmul_(y, y, 0.5); }, nullptr, "#, #, value=0.5"},
    {"lerp_", [](X x, X y) { x.lerp_(y, 0.25); }, nullptr, "#, 0.25"},
    {"masked_fill_", [](X x, X y) { x.masked_fill_(y > 0, 0.5); }, nullptr, "# > 0, 0.5"},
    {"set_data", [](X x, X y) { x.set_data(y); }, nullptr},
};

const Write& write_named(const std::string& name) {
  for (const Write& each : writes)
    if (name == each.name) return each;
  return writes.back();
}

bool broadcasts_to(const Variable& y, const Variable& x) {
  if (y.dim() > x.dim()) return false;
  for (std::int64_t d = 1; d <= y.dim(); ++d)
    if (y.size(-d) != 1 && y.size(-d) != x.size(-d)) return false;
  return true;
}

bool draw_write(Draw& draw, const State& state, Statement& s) {
  const Write& write = draw.of(writes);
  const auto is_seen_by_others = [&](const Slot& slot) {
    return slot.is_tensor() && std::any_of(state.slots.begin(), state.slots.end(), [&](const Slot& other) {
             return &other != &slot && other.is_tensor() && other.tensor.is_alias_of(slot.tensor);
           });
  };
  std::optional<int> target;
  if (draw.once_in(2)) target = pick(draw, state, is_seen_by_others);
  if (!target) target = pick(draw, state, [](const Slot& slot) { return slot.is_tensor(); });
  if (!target) return false;
  s.name = write.name;
  s.in = {*target};
  const Variable& x = state.tensor(*target);
  // A leaf that needs gradients is written to as optimizers do; once in a while it is tried without.
  if (x.is_leaf() && x.requires_grad() && !draw.once_in(20)) s.modes |= kNoGrad;
  if (write.with_tensor && (!write.with_number || draw.once_in(2))) {
    const auto source = pick(draw, state, [&](const Slot& slot) {
      return slot.is_tensor() && broadcasts_to(slot.tensor, x) &&
             ebb::can_cast(slot.tensor.dtype(), x.dtype());
    });
    if (!source) return false;
    s.in.push_back(*source);
    return true;
  }
  s.numbers = {draw.between(-16, 16)};
  return write.with_number != nullptr;
}

void run_write(State& state, const Statement& s) {
  const Write& write = write_named(s.name);
  if (s.in.size() > 1)
    write.with_tensor(state.tensor(s.in[0]), state.tensor(s.in[1]));
  else
    write.with_number(state.tensor(s.in[0]), static_cast<double>(s.numbers[0]) / 8);
}

std::string said(const Statement& s, Language language) {
  const std::string x = slot_text(s.in[0]);
  std::string arguments = write_named(s.name).arguments;
  const std::string operand = s.in.size() > 1 ? slot_text(s.in[1]) : std::to_string(s.numbers[0]) + "/8.0";
  if (s.in.size() < 2 && s.name == "add_") arguments = "#";
  if (s.name == "add_" && s.in.size() > 1 && language == Language::python) arguments = "#, alpha=2";
  if (s.name == "addcmul_" && language == Language::cpp) arguments = "#, #, 0.5";
  for (std::size_t at; (at = arguments.find('#')) != std::string::npos;) arguments.replace(at, 1, operand);
  if (s.name == "set_data" && language == Language::python) return x + ".data = " + operand;
  return x + "." + s.name + "(" + arguments + ")" + (language == Language::cpp ? ";" : "");
}

const bool added = add_kind({"write", 25, kBody | kBetween, draw_write, run_write, said});

}  // namespace
}  // namespace programs

// Statement kinds: lookup, drawing and running, and the list of known faults, each with a predicate.
#include "random_programs/kinds.h"

#include <ebb/amp/autocast.h>
#include <ebb/autograd/checkpoint.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/core/error.h>
#include <ebb/core/random.h>

#include <algorithm>
#include <ostream>
#include <set>

namespace programs {
namespace {

std::vector<Kind>& list() {
  static std::vector<Kind> all;
  return all;
}

// Runs the statement inside autograd::checkpoint(), on separate slots.
void run_checkpointed(const Kind& kind, State& state, const Statement& statement) {
  ebb::variable_list inputs;
  for (const int i : statement.in) inputs.push_back(state.tensor(i));
  const std::size_t count = state.slots.size();
  const ebb::variable_list outputs = ebb::autograd::checkpoint(
      [&kind, statement, count](const ebb::variable_list& x) {
        State own(static_cast<int>(count));
        for (std::size_t i = 0; i < x.size(); ++i) own[statement.in[i]].tensor = x[i];
        kind.run(own, statement);
        ebb::variable_list results;
        for (const int i : statement.out) results.push_back(own.tensor(i));
        return results;
      },
      inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) state[statement.out[i]] = Slot{.tensor = outputs[i]};
}

template <class List, class Text>
std::string joined(const List& list, const char* open, const char* close, Text text) {
  std::string all = open;
  for (std::size_t i = 0; i < list.size(); ++i) all += (i ? ", " : "") + text(list[i]);
  return all + close;
}

}  // namespace

bool add_kind(Kind kind) {
  auto& all = list();
  const auto after = std::lower_bound(all.begin(), all.end(), kind.name,
                                      [](const Kind& a, const std::string& name) { return a.name < name; });
  all.insert(after, std::move(kind));
  return true;
}

const std::vector<Kind>& kinds() { return list(); }

const Kind& kind_named(const std::string& name) {
  for (const Kind& kind : list())
    if (kind.name == name) return kind;
  EBB_CHECK(false, "kind_named: there is no kind of statement named ", name, ".");
}

std::ostream* run_log = nullptr;

void run(State& state, const Statement& statement) {
  if (run_log) *run_log << text(statement, Language::cpp) << std::endl;
  const Kind& kind = kind_named(statement.kind);
  std::optional<ebb::NoGradGuard> no_grad;
  std::optional<ebb::amp::autocast> autocast;
  if (statement.modes & kNoGrad) no_grad.emplace();
  if (statement.modes & kAutocast) autocast.emplace(home().type(), ebb::kBFloat16);
  if (statement.modes & kCheckpointed)
    run_checkpointed(kind, state, statement);
  else
    kind.run(state, statement);
}

State set_up(const Program& program) {
  ebb::manual_seed(0);
  State state(program.slots);
  for (const Statement& s : program.setup) run(state, s);
  return state;
}

bool makes_overlapping_view(const Statement& statement) {
  return statement.name.starts_with("as_strided") || statement.name.starts_with("unfold");
}

bool is_write(const Statement& statement) {
  static const std::set<std::string> writes = {"act", "write", "op_", "index_put_", "function", "step"};
  return writes.contains(statement.kind);
}

namespace {

// The slots in `found` that are drawn more often.
std::vector<int> in_focus(const State& state, const std::vector<int>& found) {
  std::vector<int> all;
  const Variable written = state.written < 0 ? Variable() : state.tensor(state.written);
  for (const int i : found) {
    const bool shares = written.defined() && state[i].is_tensor() && state.tensor(i).is_alias_of(written);
    if (shares || std::find(state.focus.begin(), state.focus.end(), i) != state.focus.end()) all.push_back(i);
  }
  return all;
}

}  // namespace

std::optional<int> pick(Draw& draw, const State& state, const std::function<bool(const Slot&)>& fits) {
  std::vector<int> found;
  for (std::size_t i = 0; i < state.slots.size(); ++i)
    if (fits(state.slots[i])) found.push_back(static_cast<int>(i));
  if (found.empty()) return std::nullopt;
  if (draw.once_in(4))
    if (const std::vector<int> some = in_focus(state, found); !some.empty()) return draw.of(some);
  // Newer slots are drawn twice as often, so that programs have long chains.
  const std::size_t half = found.size() / 2;
  if (half > 0 && draw.once_in(2))
    found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(half));
  return draw.of(found);
}

std::optional<int> pick_floating(Draw& draw, const State& state) {
  return pick(draw, state,
              [](const Slot& slot) { return slot.is_tensor() && slot.tensor.is_floating_point(); });
}

std::string slot_text(int slot) { return "t" + std::to_string(slot); }

std::string list_text(const std::vector<std::int64_t>& numbers, Language language) {
  const bool cpp = language == Language::cpp;
  return joined(numbers, cpp ? "{" : "[", cpp ? "}" : "]", [](std::int64_t n) { return std::to_string(n); });
}
std::string slots_text(const std::vector<int>& slots, Language language) {
  const bool cpp = language == Language::cpp;
  return joined(slots, cpp ? "{" : "[", cpp ? "}" : "]", slot_text);
}
std::string prefix(Language language) { return language == Language::cpp ? "ebb::" : "torch."; }
std::string bool_text(bool value, Language language) {
  if (language == Language::cpp) return value ? "true" : "false";
  return value ? "True" : "False";
}
std::string dtype_text(ebb::DType dtype, Language language) {
  static const std::vector<std::pair<ebb::DType, std::pair<const char*, const char*>>> names = {
      {ebb::kDouble, {"kDouble", "float64"}}, {ebb::kFloat, {"kFloat", "float32"}},
      {ebb::kHalf, {"kHalf", "float16"}},     {ebb::kBFloat16, {"kBFloat16", "bfloat16"}},
      {ebb::kLong, {"kLong", "int64"}},       {ebb::kInt, {"kInt", "int32"}},
      {ebb::kShort, {"kShort", "int16"}},     {ebb::kChar, {"kChar", "int8"}},
      {ebb::kByte, {"kByte", "uint8"}},       {ebb::kBool, {"kBool", "bool"}}};
  for (const auto& [type, text] : names)
    if (type == dtype) return prefix(language) + (language == Language::cpp ? text.first : text.second);
  return "?";
}

std::string text(const Statement& statement, Language language) {
  std::string said = kind_named(statement.kind).text(statement, language);
  if (said.empty() || statement.modes == 0) return said;
  const bool cpp = language == Language::cpp;
  std::string with;
  if (statement.modes & kNoGrad) with += cpp ? "NoGradGuard no_grad; " : "torch.no_grad(), ";
  if (statement.modes & kAutocast)
    with += cpp ? "amp::autocast cast(kCPU, kBFloat16); " : "torch.autocast('cpu', torch.bfloat16), ";
  if (statement.modes & kCheckpointed) with += cpp ? "/* checkpointed */ " : "";
  if (cpp) return "{ " + with + said + " }";
  return with.empty() ? said : "with " + with.substr(0, with.size() - 2) + ": " + said;
}

namespace {

/// A statement, its place, and the program around it.
struct Case {
  const Statement& s;
  Place place;
  const Program& program;

  bool has_argument(std::size_t i) const {
    return i < s.in.size() &&
           std::find(program.arguments.begin(), program.arguments.end(), s.in[i]) != program.arguments.end();
  }
  /// Whether the function captures that input slot of the statement.
  bool has_captured(std::size_t i) const {
    return i < s.in.size() && s.in[i] < program.kept && !has_argument(i);
  }
  /// Whether other objects may refer to a captured tensor: graphs, views, optimizers, tensors that the body
  /// keeps.
  bool others_hold() const {
    const auto computes = [](const Statement& each) { return each.kind != "make" && each.kind != "module"; };
    const auto keeps = [&](const Statement& each) {
      return std::any_of(each.out.begin(), each.out.end(), [&](auto slot) { return slot < program.kept; });
    };
    return std::any_of(program.setup.begin(), program.setup.end(), computes) ||
           std::any_of(program.body.begin(), program.body.end(), keeps);
  }
  /// Whether two handles may start to share a tensor between calls.
  bool has_aliases() const {
    const auto is_alias = [](const Statement& each) { return each.kind == "act" && each.name == "alias"; };
    return std::any_of(program.between.begin(), program.between.end(),
                       [&](const Statements& all) { return std::any_of(all.begin(), all.end(), is_alias); });
  }
  bool is_one_of(std::initializer_list<const char*> names) const {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return s.name == name; });
  }
};

struct Fault {
  const char* kind;
  bool (*holds)(const Case&);
};

const std::vector<Fault> faults = {
    {"compile: a captured handle that is given another tensor is not noticed while somebody holds the old "
     "one",
     [](const Case& c) {
       if (c.place != kBetween || c.s.kind != "act") return false;
       const bool moves = c.s.name == "overlap"
                              ? c.has_captured(0) || c.has_captured(1)
                              : c.has_captured(0) && c.is_one_of({"fresh", "alias", "view", "within"});
       return moves && (c.others_hold() || c.has_aliases());
     }},
};

const char* known_fault(const Statements& statements, Place place, const Program& program) {
  for (const Statement& s : statements)
    if (const char* fault = known_fault(s, place, program)) return fault;
  return nullptr;
}

}  // namespace

const char* known_fault(const Statement& statement, Place place, const Program& before) {
  for (const Fault& fault : faults)
    if (fault.holds({statement, place, before})) return fault.kind;
  return nullptr;
}

const char* known_fault(const Program& program) {
  if (const char* fault = known_fault(program.body, kBody, program)) return fault;
  for (const Statements& each : program.between)
    if (const char* fault = known_fault(each, kBetween, program)) return fault;
  return nullptr;
}

}  // namespace programs

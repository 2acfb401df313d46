// Generates programs by running them; counts statement kinds, prints programs, and shrinks failing ones.
#include "random_programs/generate.h"

#include <ebb/autograd/node.h>
#include <ebb/core/random.h>

#include "optable/checks.h"
#include "random_programs/kinds.h"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <unordered_set>
#include <vector>

namespace programs {
namespace {

constexpr int kSlots = 128;
constexpr std::size_t kMostNodes = 3000;

// Whether a statement traverses a graph with more than kMostNodes nodes. A statement that extends the graph
// in each traversal and runs in each call doubles the graph until memory runs out.
bool walks_far(const State& state, const Statement& s) {
  if ((s.kind != "backward" && s.kind != "grad") || !state[s.in[0]].is_tensor()) return false;
  std::unordered_set<const ebb::autograd::Node*> seen;
  std::vector<const ebb::autograd::Node*> left;
  const auto visit = [&](const ebb::autograd::Node* node) {
    if (node && seen.insert(node).second) left.push_back(node);
  };
  try {
    visit(state.tensor(s.in[0]).grad_fn().get());
  } catch (const ebb::Error&) {  // a view whose base has lost its memory: the traversal will not begin
    return false;
  }
  while (!left.empty() && seen.size() <= kMostNodes) {
    const ebb::autograd::Node* const node = left.back();
    left.pop_back();
    for (const ebb::autograd::Edge& edge : node->next_edges()) visit(edge.function.get());
  }
  return seen.size() > kMostNodes;
}

class Generator {
 public:
  Generator(Draw& draw, const Limits& limits) : draw_(draw), limits_(limits), state_(kSlots) {}

  Program make() {
    ebb::manual_seed(0);
    replays_ = !draw_.once_in(4);
    if (limits_.large && draw_.once_in(10)) state_.most_elements = draw_.once_in(5) ? 1 << 17 : 1 << 12;
    draw_setup();
    const std::int64_t wanted = draw_.between(limits_.least, limits_.most);
    for (std::int64_t tries = 0; tries < 4 * wanted; ++tries) {
      if (static_cast<std::int64_t>(program_.body.size()) >= wanted || used_ + 2 > kSlots || ended_) break;
      add(kBody, program_.body);
    }
    if (trains_ && !ended_)
      for (const char* kind : {"forward", "backward", "step"}) add(kBody, program_.body, kind);
    choose_results();
    for (int call = 1; call < limits_.calls && !explodes_; ++call) draw_between(call);
    program_.slots = used_;
    return std::move(program_);
  }

 private:
  // Draws a kind that is allowed at the place, by weight.
  const Kind& draw_kind(Place place) {
    std::int64_t all = 0;
    for (const Kind& kind : kinds())
      if (kind.places & place) all += kind.weight;
    std::int64_t left = draw_.below(all);
    for (const Kind& kind : kinds()) {
      if (!(kind.places & place)) continue;
      left -= kind.weight;
      if (left < 0) return kind;
    }
    return kinds().front();
  }

  unsigned draw_modes(const Kind& kind, Place place) {
    if (place == kSetup) return 0;
    unsigned modes = 0;
    if (draw_.once_in(16)) modes |= kNoGrad;
    if (draw_.once_in(24)) modes |= kAutocast;
    if (kind.has_only_results && draw_.once_in(20)) modes |= kCheckpointed;
    return modes;
  }

  // A tensor whose memory was released throws if its graph is requested.
  bool draws(const Kind& kind, Statement& s) {
    try {
      return kind.draw(draw_, state_, s);
    } catch (const ebb::Error&) {
      return false;
    }
  }

  // Whether the statement keeps a compiled function eager.
  static bool keeps_eager(const Statement& s) {
    return (s.modes & kCheckpointed) || s.name == "set_data" || s.name == "mask" || s.kind == "turn" ||
           ((s.kind == "op" || s.kind == "op_") && optable::stays_eager(s.name));
  }

  // Draws a statement, runs it, and adds it if it can be run.
  bool add(Place place, Statements& into, const char* named = nullptr) {
    const Kind& kind = named ? kind_named(named) : draw_kind(place);
    Statement s{.kind = kind.name};
    if (!draws(kind, s)) return false;
    s.modes |= draw_modes(kind, place);
    if (replays_ && place == kBody && keeps_eager(s)) return false;
    if (state_.is_large() && makes_overlapping_view(s)) return false;
    if (limits_.adapt && !limits_.adapt(s)) return false;
    if (walks_far(state_, s)) return false;
    // Statements with known faults are kept once in 50 times, so that the faults are not forgotten.
    if (known_fault(s, place, program_) && !draw_.once_in(50)) return false;
    for (std::size_t i = 0; i < s.out.size(); ++i) s.out[i] = used_ + static_cast<int>(i);
    try {
      run(state_, s);
    } catch (const std::exception&) {
      clear(s);
      if (place != kBody || !draw_.once_in(60)) return false;
      ended_ = true;
    }
    for (const int slot : s.out)
      if (state_[slot].is_tensor() && state_.tensor(slot).numel() > state_.most_elements) {
        clear(s);
        return false;
      }
    used_ += static_cast<int>(s.out.size());
    if (is_write(s)) state_.written = s.in[0];
    into.push_back(std::move(s));
    return true;
  }
  void clear(const Statement& s) {
    for (const int slot : s.out) state_[slot] = Slot();
  }

  void draw_setup() {
    Statements& setup = program_.setup;
    const std::int64_t arguments = draw_.between(1, 2), tensors = arguments + draw_.between(1, 3);
    while (static_cast<std::int64_t>(setup.size()) < tensors)
      if (!add(kSetup, setup, "make") && draw_.is_used_up()) break;
    for (std::int64_t i = 0; i < arguments && i < used_; ++i)
      program_.arguments.push_back(static_cast<int>(i));
    // The choice holds for all calls, so that calls of the same specialization follow each other.
    overlaps_ =
        program_.arguments.size() == 2 && setup[0].numbers[0] == setup[1].numbers[0] && draw_.once_in(4);
    if (overlaps_) state_.focus = program_.arguments;
    if (limits_.calls > 1 && used_ > 0 && !overlaps_ && draw_.once_in(6)) draw_within();
    // A module, its optimizer and a step at the end of the body rarely occur together by chance.
    trains_ = draw_.once_in(4);
    if (trains_)
      for (const char* kind : {"module", "optimizer"}) add(kSetup, setup, kind);
    for (std::int64_t more = draw_.between(0, 4); more > 0; --more) add(kSetup, setup);
    program_.kept = used_;
  }

  // Creates a captured tensor whose memory contains the first argument from some call on, often at an offset.
  void draw_within() {
    Statement made = program_.setup.front();
    if (made.numbers[2] != kWhole && made.numbers[2] != kOffset) return;
    made.numbers[1] = draw_.below(100);
    made.numbers[2] = kOffset;
    made.numbers[3] = made.numbers[3] && draw_.once_in(2);
    made.out = {used_};
    run(state_, made);
    const Variable& other = state_.tensor(used_);
    const std::int64_t reach =
        other.storage_offset() + 1;  // as many elements as the argument has, from that offset
    within_ = {.kind = "act", .name = "within", .in = {program_.arguments[0], used_}};
    within_.numbers = {0, draw_.below(reach)};
    first_within_ = draw_.between(1, limits_.calls);
    state_.focus = within_.in;
    program_.setup.push_back(std::move(made));
    ++used_;
  }

  void choose_results() {
    std::vector<int> locals;
    for (int i = program_.kept; i < used_; ++i)
      if (state_[i].is_tensor()) locals.push_back(i);
    if (locals.empty()) return;
    if (limits_.returns_all) {
      program_.results = locals;
      return;
    }
    for (std::int64_t n = draw_.between(0, 3); n > 0; --n) program_.results.push_back(draw_.of(locals));
    program_.results.push_back(locals.back());
    std::sort(program_.results.begin(), program_.results.end());
    const auto end = std::unique(program_.results.begin(), program_.results.end());
    program_.results.erase(end, program_.results.end());
  }

  // Draws new values for the arguments, and other acts before some of the calls. The last calls have none, so
  // that functions that were recorded again are replayed.
  void draw_between(int call) {
    clear_locals();
    state_.call = call;
    Statements between;
    for (const int argument : program_.arguments) {
      const Statement& made = program_.setup[static_cast<std::size_t>(argument)];
      Statement fresh{.kind = "act", .name = "fresh", .in = {argument}};
      fresh.numbers = {draw_.below(100), made.numbers[2]};
      attempt(fresh);
      between.push_back(std::move(fresh));
    }
    if (!within_.kind.empty() && call >= first_within_ && attempt(within_)) between.push_back(within_);
    if (overlaps_) {
      Statement overlap{
          .kind = "act", .name = "overlap", .in = {program_.arguments[0], program_.arguments[1]}};
      overlap.numbers = {draw_.below(100), draw_.once_in(3) ? draw_.below(4) : 1};
      attempt(overlap);
      between.push_back(std::move(overlap));
    }
    if (call >= 3 && call < limits_.calls - 2 && !draw_.once_in(3))
      for (std::int64_t n = draw_.between(1, 3); n > 0; --n) add(kBetween, between);
    program_.between.push_back(std::move(between));
    for (const Statement& s : program_.body)
      if (!attempt(s)) break;
    if (explodes_) program_.between.pop_back();
  }
  bool attempt(const Statement& s) {
    explodes_ = explodes_ || walks_far(state_, s);
    if (explodes_) return false;
    try {
      run(state_, s);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }
  void clear_locals() {
    for (int i = program_.kept; i < kSlots; ++i) state_[i] = Slot();
  }

  Draw& draw_;
  const Limits& limits_;
  State state_;
  Program program_;
  int used_ = 0;
  bool ended_ = false, trains_ = false, overlaps_ = false;
  bool explodes_ = false;  ///< a further call would traverse a too large graph
  Statement within_;       ///< an empty kind means that there is none
  std::int64_t first_within_ = 0;
  bool replays_ = false;  ///< no statement of the body prevents a replay
};

}  // namespace

Program generate(Draw& draw, const Limits& limits) { return Generator(draw, limits).make(); }

// Counts statement kinds and pairs of kinds in programs.

void Coverage::add(const Program& program) {
  std::map<std::string, int> here;
  const auto count = [&](const Statements& list) {
    for (const Statement& s : list) ++here[s.kind];
  };
  count(program.setup);
  count(program.body);
  for (const Statements& each : program.between) count(each);
  ++programs_;
  for (const auto& [a, times] : here) {
    ++kinds_[a];
    for (const auto& [b, also] : here)
      if (a < b || (a == b && times > 1)) ++pairs_[{a, b}];
  }
}

int Coverage::programs_with(const std::string& kind) const {
  const auto found = kinds_.find(kind);
  return found == kinds_.end() ? 0 : found->second;
}
int Coverage::programs_with(const std::string& a, const std::string& b) const {
  const auto found = pairs_.find({std::min(a, b), std::max(a, b)});
  return found == pairs_.end() ? 0 : found->second;
}

std::ostream& operator<<(std::ostream& out, const Coverage& coverage) {
  out << "kind, of " << coverage.programs_ << " programs, with each kind:\n"
      << std::setw(16) << ""
      << "   all";
  for (std::size_t i = 0; i < kinds().size(); ++i) out << std::setw(6) << i + 1;
  std::size_t row = 0;
  for (const Kind& a : kinds()) {
    out << "\n"
        << std::setw(2) << ++row << ' ' << std::left << std::setw(13) << a.name.substr(0, 13) << std::right
        << std::setw(6) << coverage.programs_with(a.name);
    for (const Kind& b : kinds()) out << std::setw(6) << coverage.programs_with(a.name, b.name);
  }
  return out << "\n";
}

// Prints programs as source code.

namespace {

void append(std::string& all, const Statements& statements, Language language, const char* indent) {
  for (const Statement& s : statements) all += indent + text(s, language) + "\n";
}

std::string joined(const std::vector<int>& slots, const char* before) {
  std::string all;
  for (std::size_t i = 0; i < slots.size(); ++i) all += (i ? ", " : "") + (before + slot_text(slots[i]));
  return all;
}

}  // namespace

std::string source(const Program& program, Language language) {
  const bool cpp = language == Language::cpp;
  std::string all;
  append(all, program.setup, language, "");
  if (cpp) {
    all += "auto f = [&](" + joined(program.arguments, "Tensor ") + ") {\n";
  } else {
    all += "def f(" + joined(program.arguments, "") + "):\n";
  }
  append(all, program.body, language, "  ");
  all += (cpp ? "  return list(" : "  return [") + joined(program.results, "") + (cpp ? ");\n};\n" : "]\n");
  const std::string call = "call(f, " + joined(program.arguments, "") + (cpp ? ");\n" : ")\n");
  all += call;
  for (const Statements& between : program.between) {
    append(all, between, language, "");
    all += call;
  }
  return all;
}

// Removes shorter and shorter runs of statements, then calls, results and modes (delta debugging, Zeller
// 1999).

namespace {

using Fails = std::function<bool(const Program&)>;

// Removes runs of elements from a list of the program, as long as the program still fails.
template <class List>
bool thin_out(Program& program, List Program::* list, const Fails& fails) {
  bool any = false;
  for (std::size_t run = (program.*list).size(); run > 0; run /= 2)
    for (std::size_t at = 0; at + run <= (program.*list).size();) {
      Program less = program;
      auto& elements = less.*list;
      const auto first = elements.begin() + static_cast<std::ptrdiff_t>(at);
      elements.erase(first, first + static_cast<std::ptrdiff_t>(run));
      if (fails(less)) {
        program = std::move(less);
        any = true;
      } else {
        ++at;
      }
    }
  return any;
}

bool thin_out_calls(Program& program, const Fails& fails) {
  bool any = false;
  for (std::size_t call = program.between.size(); call-- > 0;)
    for (std::size_t at = program.between[call].size(); at-- > 0;) {
      Program less = program;
      less.between[call].erase(less.between[call].begin() + static_cast<std::ptrdiff_t>(at));
      if (!fails(less)) continue;
      program = std::move(less);
      any = true;
    }
  return any;
}

bool drop_modes(Program& program, const Fails& fails) {
  bool any = false;
  for (std::size_t i = 0; i < program.body.size(); ++i)
    for (unsigned mode : {kNoGrad, kAutocast, kCheckpointed}) {
      if (!(program.body[i].modes & mode)) continue;
      Program less = program;
      less.body[i].modes &= ~mode;
      if (!fails(less)) continue;
      program = std::move(less);
      any = true;
    }
  return any;
}

}  // namespace

Program shrink(Program program, const Fails& fails) {
  for (bool smaller = true; smaller;) {
    smaller = thin_out(program, &Program::body, fails);
    smaller |= thin_out(program, &Program::between, fails);
    smaller |= thin_out_calls(program, fails);
    smaller |= thin_out(program, &Program::setup, fails);
    smaller |= thin_out(program, &Program::results, fails);
    smaller |= drop_modes(program, fails);
  }
  return program;
}

}  // namespace programs

// Runs programs eagerly, compiled, on several threads.
#include "random_programs/ways.h"

#include <ebb/compile.h>
#include <ebb/core/parallel.h>
#include <ebb/core/random.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>

#include <sstream>

#include "random_programs/kinds.h"
#include "random_programs/perturb.h"
#include "random_programs/resumed.h"
#include "random_programs/versions.h"
#include "support/warnings.h"

namespace programs {
namespace {

struct Threads {
  int before = ebb::get_num_threads();
  explicit Threads(int count) { ebb::set_num_threads(count); }
  ~Threads() { ebb::set_num_threads(before); }
};

std::string versions(const std::vector<Variable>& tensors) {
  std::ostringstream text;
  for (const Variable& x : tensors)
    if (x.defined()) text << x._version() << ' ';
  return text.str();
}

// Versions are looked at where they are the same; a program that is resumed counts from another one.
std::string without_versions(std::string message) {
  for (const char* before : {"is at version ", "expected version "}) {
    const std::size_t at = message.find(before);
    if (at == std::string::npos) continue;
    const std::size_t first = at + std::string_view(before).size();
    message.replace(first, message.find_first_not_of("0123456789", first) - first, "#");
  }
  return message;
}

/// After so many calls a program is resumed: the acts of its caller before have only made fresh arguments.
constexpr std::size_t kResumed = 3;

class Run {
 public:
  Run(const Program& program, const Way& way) : program_(program), way_(way), state_(program.slots) {}

  Trace trace() {
    const support::Warnings dropped;
    const Threads threads(way_.threads);
    const Home home(way_.device);
    const Perturbation perturbation(way_.perturbed);
    ebb::manual_seed(0);
    guarded([&] { run_all(program_.setup); });
    auto compiled = ebb::compile([this](const std::vector<Variable>& arguments) { return body(arguments); });
    for (std::size_t call = 0; call <= program_.between.size(); ++call) {
      call_ = call;
      state_.call = static_cast<std::int64_t>(call);
      if (call > 0) guarded([&] { run_all(program_.between[call - 1]); });
      std::vector<Variable> arguments, results;
      for (const int i : program_.arguments) arguments.push_back(state_.tensor(i));
      threw_ = !guarded([&] { results = way_.compiled ? compiled(arguments) : body(arguments); }) || threw_;
      clear_locals();
      guarded([&] { look(results); });
      if (way_.resumed && call + 1 == kResumed && !threw_) resume();
    }
    trace_.replays = compiled.report().replays;
    return std::move(trace_);
  }

 private:
  void resume() {
    std::optional<State> next = resumed(program_, state_, kResumed);
    if (!next) return;
    state_ = std::move(*next);
    knows_versions_ = false;
    trace_.resumed = true;
  }

  void run_all(const Statements& statements) {
    for (const Statement& s : statements) {
      if (way_.disturbed) ebb::full({7 + state_.tensor(0).numel()}, -1e30);
      programs::run(state_, s);
      perturb(state_, s);
      if (way_.counted) versions_.look(state_, s);
    }
  }

  std::vector<Variable> body(const std::vector<Variable>& arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) state_[program_.arguments[i]].tensor = arguments[i];
    run_all(program_.body);
    std::vector<Variable> results;
    for (const int i : program_.results) results.push_back(state_.tensor(i).detach());
    clear_locals();
    return results;
  }
  void clear_locals() {
    for (int i = program_.kept; i < program_.slots; ++i) state_[i] = Slot();
  }

  // Errors are part of the trace.
  template <class F>
  bool guarded(F f) {
    try {
      f();
      return true;
    } catch (const std::exception& error) {
      trace_.seen.push_back({label("error"), {}, without_versions(error.what())});
      return false;
    }
  }

  std::string label(const std::string& what) const { return "call " + std::to_string(call_) + ", " + what; }
  void look(const std::string& what, const Variable& x) {
    trace_.seen.push_back({label(what), x.defined() ? x.detach().clone().to(ebb::kCPU) : x, {}});
  }
  void look(const std::vector<Variable>& results) {
    std::vector<Variable> all;
    for (std::size_t i = 0; i < results.size(); ++i)
      look("result t" + std::to_string(program_.results[i]), results[i]);
    for (int i = 0; i < program_.kept; ++i) {
      const Slot& slot = state_[i];
      if (slot.is_tensor()) look(i, slot.tensor, all);
      if (slot.module) {
        for (const Variable& p : slot.module->parameters()) look(i, p, all);
        for (const Variable& b : slot.module->buffers()) look("buffer of t" + std::to_string(i), b);
      }
    }
    std::vector<Variable> of_all = results;
    of_all.insert(of_all.end(), all.begin(), all.end());
    trace_.seen.push_back({label("geometry"), {}, geometry(of_all)});
    // A replay that throws does not know how far it went: versions have grown, by other counts.
    trace_.seen.push_back({label("versions"), {}, threw_ || !knows_versions_ ? "" : versions(all)});
  }
  void look(int slot, const Variable& x, std::vector<Variable>& all) {
    const std::string name = "t" + std::to_string(slot);
    all.push_back(x);
    look(name, x);
    if (x.is_leaf()) look(name + ".grad", x.grad());
  }

  const Program& program_;
  const Way& way_;
  State state_;
  VersionWatch versions_;
  Trace trace_;
  std::size_t call_ = 0;
  bool threw_ = false, knows_versions_ = true;
};

}  // namespace

const std::vector<Way>& ways() {
  static const std::vector<Way> all = {{.name = "plain", .counted = true},
                                       {.name = "compiled", .compiled = true},
                                       {.name = "2 threads, other memory", .threads = 2, .disturbed = true},
                                       {.name = "compiled, 7 threads", .threads = 7, .compiled = true},
                                       {.name = "saved half-way and resumed", .resumed = true}};
  return all;
}

Trace run(const Program& program, const Way& way) { return Run(program, way).trace(); }

std::string disagreement(const Program& program, Counts* counts) {
  const Trace expected = run(program, ways().front());
  for (std::size_t i = 1; i < ways().size(); ++i) {
    const Trace got = run(program, ways()[i]);
    if (counts) {
      counts->replays += got.replays;
      counts->resumed += got.resumed;
    }
    const std::string found = difference(expected, got);
    if (!found.empty()) return std::string(ways()[i].name) + ": " + found;
  }
  return "";
}

}  // namespace programs

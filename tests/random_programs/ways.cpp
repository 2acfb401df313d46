// Runs programs eagerly, compiled, on several threads, and from a checkpoint in the middle.
#include "random_programs/ways.h"

#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/rng_state.h>
#include <ebb/compile.h>
#include <ebb/core/error.h>
#include <ebb/core/parallel.h>
#include <ebb/core/random.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/optim.h>
#include <ebb/serialize.h>

#include "random_programs/bounds.h"
#include "random_programs/kinds.h"
#include "support/scopes.h"

#include <algorithm>
#include <functional>
#include <set>
#include <sstream>
#include <string_view>

// As in PyTorch, a gradient with a graph refers to its leaf, and a saved tensor that is written later refers
// to itself. Programs leave such cycles behind, and LeakSanitizer must ignore them.

extern "C" [[gnu::visibility("default")]] const char* __lsan_default_suppressions() {
  return "leak:programs::";
}

// Checks that writes bump the version.

namespace programs {
namespace {

constexpr std::size_t kMostBytes = 1 << 14;

std::size_t hash_of(const ebb::Storage& storage) {
  return std::hash<std::string_view>()({static_cast<const char*>(storage.data()), storage.bytes()});
}

// As in libtorch, SGD writes to the data() of the parameters.
bool writes_uncounted(const State& state, const Statement& statement) {
  return statement.kind == "step" && dynamic_cast<const ebb::optim::SGD*>(&state.optimizer(statement.in[0]));
}

}  // namespace

void VersionWatch::look(const State& state, const Statement& statement) {
  if (writes_uncounted(state, statement)) known_.clear();
  std::unordered_map<const ebb::Storage*, Known> now;
  const auto add_one = [&](const Variable& x) {
    if (!x.defined() || !x.device().is_cpu()) return;
    const ebb::Ref<ebb::Storage>& storage = x.array().storage();
    if (storage->bytes() > kMostBytes || now.contains(storage.get())) return;
    now[storage.get()] = {storage, hash_of(*storage), storage->version()};
  };
  const auto add = [&](const Variable& x) {
    add_one(x);
    // A view computes its history from its base when the history is requested.
    if (x.defined() && !x.is_view() && x.is_leaf()) add_one(x.grad());
  };
  for (const Slot& slot : state.slots) {
    add(slot.tensor);
    if (slot.optimizer)
      for (const auto& group : slot.optimizer->param_groups())
        for (const Variable& p : group.params()) add(p);
    if (!slot.module) continue;
    for (const Variable& p : slot.module->parameters()) add(p);
    for (const Variable& b : slot.module->buffers()) add(b);
  }
  // With set_data(), tensors with separate version counters may share memory, and one of them must count a
  // write. It may be a gradient, or a parameter that only an optimizer refers to.
  std::set<const void*> counted;
  const auto before = [&](const ebb::Storage* storage) {
    const auto found = known_.find(storage);
    return found == known_.end() ? nullptr : &found->second;
  };
  for (const auto& [storage, seen] : now)
    if (const Known* known = before(storage); known && known->version != seen.version)
      counted.insert(storage->data());
  for (const auto& [storage, seen] : now) {
    const Known* const known = before(storage);
    EBB_CHECK(!known || known->hash == seen.hash || counted.contains(storage->data()),
              text(statement, Language::cpp), " writes to ", std::uint64_t{storage->bytes()},
              " bytes of a tensor whose version stays ", std::int64_t{seen.version}, ".");
  }
  known_ = std::move(now);
}

// Saves the persistent state of a program, and loads it into a state after a new setup.

namespace {

// Returns whether files contain all effects of a statement. Flags and geometry of a tensor that exists for
// one call need no file; if an op has returned a kept tensor itself, geometry() finds the change. as_strided
// reaches elements in the memory of a tensor that are not part of it.
bool is_kept_by_files(const Statement& s, const Program& program) {
  const bool local = std::all_of(s.in.begin(), s.in.end(), [&](int slot) { return slot >= program.kept; });
  if (s.kind == "geometry" || s.kind == "flag") return local;
  return s.kind != "hook" && s.kind != "module_hook" && s.name != "set_data" &&
         !s.name.starts_with("as_strided");
}

// Tensors of slots and parameters: all that can have a gradient.
std::vector<Variable> tensors_of(const Program& program, const State& state) {
  std::vector<Variable> all;
  for (int i = 0; i < program.kept; ++i) {
    if (state[i].is_tensor()) all.push_back(state.tensor(i));
    if (state[i].module)
      for (const Variable& p : state[i].module->parameters()) all.push_back(p);
  }
  return all;
}

std::string modes_of(const Program& program, const State& state) {
  std::string modes;
  for (int i = 0; i < program.kept; ++i)
    if (state[i].module) modes += state[i].module->is_training() ? 't' : 'e';
  return modes;
}

// Whether every tensor is a leaf, and no gradient occurs among the tensors or other gradients.
bool have_no_graph(const std::vector<Variable>& tensors) {
  std::vector<Variable> gradients;
  for (const Variable& x : tensors) {
    if (x.grad_fn()) return false;
    const Variable g = x.grad();
    if (!g.defined()) continue;
    const auto shares = [&](const Variable& y) { return y.is_alias_of(g) && !y.is_same(x); };
    if (g.requires_grad() || std::any_of(gradients.begin(), gradients.end(), shares) ||
        std::any_of(tensors.begin(), tensors.end(), shares))
      return false;
    gradients.push_back(g);
  }
  return true;
}

// Whether every parameter of an optimizer is in a slot.
bool reach_all_parameters(const Program& program, const State& state, const std::vector<Variable>& tensors) {
  for (int i = 0; i < program.kept; ++i) {
    if (!state[i].optimizer) continue;
    for (const auto& group : state[i].optimizer->param_groups())
      for (const Variable& p : group.params())
        if (std::none_of(tensors.begin(), tensors.end(), [&](const Variable& x) { return x.is_same(p); }))
          return false;
  }
  return true;
}

// A tensor with overlapping elements cannot be the target of a copy.
bool can_be_written(const Variable& x) {
  for (std::int64_t d = 0; d < x.dim(); ++d)
    if (x.stride(d) == 0 && x.size(d) > 1) return false;
  return true;
}

// Runs the setup and the acts before the calls so far; returns nothing if they throw.
std::optional<State> begin_again(const Program& program, std::size_t calls) {
  try {
    State state = set_up(program);
    for (std::size_t call = 1; call < calls; ++call)
      for (const Statement& s : program.between[call - 1])
        if (s.name == "fresh") run(state, s);
    return state;
  } catch (const ebb::Error&) {
    return {};
  }
}

// Files store elements but not strides; a gradient has the strides of the first addend.
Variable laid_out_like(const Variable& x, const Variable& values) { return x.clone().copy_(values); }

void load_tensors(const std::vector<Variable>& from, const std::vector<Variable>& into) {
  const ebb::NoGradGuard no_grad;
  std::vector<Variable> values, loaded;
  for (const Variable& x : from) {
    values.push_back(x.detach());
    if (x.grad().defined()) values.push_back(x.grad());
  }
  std::stringstream file;
  ebb::save(values, file);
  ebb::load(loaded, file);
  auto next = loaded.begin();
  for (std::size_t i = 0; i < into.size(); ++i) {
    into[i].copy_(*next++);
    into[i].mutable_grad() = from[i].grad().defined() ? laid_out_like(from[i].grad(), *next++) : Variable();
  }
}

}  // namespace

std::string geometry(const std::vector<Variable>& tensors) {
  std::ostringstream text;
  for (const Variable& x : tensors) {
    if (!x.defined()) {
      text << "undefined; ";
      continue;
    }
    std::size_t first = 0;
    while (!tensors[first].defined() || !tensors[first].is_alias_of(x)) ++first;
    text << x.sizes() << x.strides() << (x.requires_grad() ? " requires grad" : "");
    if (x.numel() > 0) text << " as " << first;
    text << "; ";
  }
  return text.str();
}

std::optional<State> resumed(const Program& program, const State& state, std::size_t calls) {
  const auto all_kept = [&](const Statements& list) {
    return std::all_of(list.begin(), list.end(),
                       [&](const Statement& s) { return is_kept_by_files(s, program); });
  };
  if (!all_kept(program.setup) || !all_kept(program.body) || calls > program.between.size() + 1) return {};
  const std::vector<Variable> from = tensors_of(program, state);
  if (!reach_all_parameters(program, state, from)) return {};
  // Loading writes to the elements, and a view gets a node if its base then gets requires_grad.
  const auto sets_flags = [](const Statements& list) {
    return std::any_of(list.begin(), list.end(), [](const Statement& s) { return s.kind == "flag"; });
  };
  const auto is_view = [](const Variable& x) { return x.is_view(); };
  if (std::any_of(from.begin(), from.end(), is_view) &&
      std::any_of(program.between.begin(), program.between.end(), sets_flags))
    return {};
  if (!have_no_graph(from) || !std::all_of(from.begin(), from.end(), can_be_written)) return {};

  const Variable random = ebb::get_rng_state();
  std::optional<State> begun = begin_again(program, calls);
  ebb::set_rng_state(random);
  if (!begun) return {};
  State& next = *begun;
  const std::vector<Variable> into = tensors_of(program, next);
  if (geometry(into) != geometry(from) || modes_of(program, next) != modes_of(program, state)) return {};

  load_tensors(from, into);
  for (int i = 0; i < program.kept; ++i) {
    std::stringstream file;
    if (state[i].module) {
      // A loaded buffer keeps its dtype, so a program that had converted a buffer converts it again.
      const std::vector<Variable> saved = state[i].module->buffers(), fresh = next[i].module->buffers();
      for (std::size_t k = 0; k < saved.size(); ++k)
        if (saved[k].dtype() != fresh[k].dtype()) fresh[k].set_data(fresh[k].to(saved[k].scalar_type()));
      ebb::save(*state[i].module, file);
      ebb::load(*next[i].module, file);
    } else if (state[i].optimizer) {
      ebb::save(*state[i].optimizer, file);
      ebb::load(*next[i].optimizer, file);
    }
  }
  return begun;
}

// Runs programs eagerly, compiled, and on several threads.

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

// Versions are compared only if they count from the same start; a resumed program starts differently.
std::string without_versions(std::string message) {
  for (const char* before : {"is at version ", "expected version "}) {
    const std::size_t at = message.find(before);
    if (at == std::string::npos) continue;
    const std::size_t first = at + std::string_view(before).size();
    message.replace(first, message.find_first_not_of("0123456789", first) - first, "#");
  }
  return message;
}

/// A program is resumed after this many calls; the acts of its caller before have only created new arguments.
constexpr std::size_t kResumed = 3;

class Run {
 public:
  Run(const Program& program, const Way& way) : program_(program), way_(way), state_(program.slots) {}

  Trace trace() {
    const support::Warnings dropped;
    const Threads threads(way_.threads);
    const Home home(way_.device);
    const Perturbation perturbation(way_.perturbed, way_.slightly);
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
      trace_.entries.push_back({label("error"), {}, without_versions(error.what())});
      return false;
    }
  }

  std::string label(const std::string& what) const { return "call " + std::to_string(call_) + ", " + what; }
  void look(const std::string& what, const Variable& x) {
    trace_.entries.push_back({label(what), x.defined() ? x.detach().clone().to(ebb::kCPU) : x, {}});
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
    trace_.entries.push_back({label("geometry"), {}, geometry(of_all)});
    // A replay that throws may have bumped versions by other amounts.
    trace_.entries.push_back({label("versions"), {}, threw_ || !knows_versions_ ? "" : versions(all)});
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

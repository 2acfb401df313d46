// Runs programs eagerly, compiled, on several threads.
#include "random_programs/ways.h"

#include <ebb/compile.h>
#include <ebb/core/parallel.h>
#include <ebb/core/random.h>
#include <ebb/core/warning.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>

#include <cstring>
#include <sstream>

#include "random_programs/kinds.h"

namespace programs {
namespace {

struct Silent : ebb::WarningHandler {
  void process(const ebb::Warning&) override {}
  ebb::WarningHandlerGuard guard{this};
};

struct Threads {
  int before = ebb::get_num_threads();
  explicit Threads(int count) { ebb::set_num_threads(count); }
  ~Threads() { ebb::set_num_threads(before); }
};

// Sizes, strides, versions, and who shares memory with whom.
std::string geometry(const std::vector<Variable>& all, std::size_t versioned) {
  std::ostringstream text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].defined()) {
      text << "undefined; ";
      continue;
    }
    std::size_t first = 0;
    while (!all[first].defined() || !all[first].is_alias_of(all[i])) ++first;
    text << all[i].sizes() << all[i].strides() << (all[i].requires_grad() ? " requires grad" : "");
    if (all[i].numel() > 0) text << " as " << first;
    if (i >= versioned) text << " version " << all[i]._version();
    text << "; ";
  }
  return text.str();
}

class Run {
 public:
  Run(const Program& program, const Way& way) : program_(program), way_(way), state_(program.slots) {}

  Trace trace() {
    const Silent silent;
    const Threads threads(way_.threads);
    ebb::manual_seed(0);
    guarded([&] { run_all(program_.setup); });
    auto compiled = ebb::compile([this](const std::vector<Variable>& arguments) { return body(arguments); });
    for (std::size_t call = 0; call <= program_.between.size(); ++call) {
      call_ = call;
      if (call > 0) guarded([&] { run_all(program_.between[call - 1]); });
      std::vector<Variable> arguments, results;
      for (const int i : program_.arguments) arguments.push_back(state_.tensor(i));
      threw_ = !guarded([&] { results = way_.compiled ? compiled(arguments) : body(arguments); }) || threw_;
      clear_locals();
      guarded([&] { look(results); });
    }
    trace_.replays = compiled.report().replays;
    return std::move(trace_);
  }

 private:
  void run_all(const Statements& statements) {
    for (const Statement& s : statements) {
      if (way_.disturbed) ebb::full({7 + state_.tensor(0).numel()}, -1e30);
      programs::run(state_, s);
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

  // What is thrown is seen too.
  template <class F>
  bool guarded(F f) {
    try {
      f();
      return true;
    } catch (const std::exception& error) {
      trace_.seen.push_back({label("error"), {}, error.what()});
      return false;
    }
  }

  std::string label(const std::string& what) const { return "call " + std::to_string(call_) + ", " + what; }
  void look(const std::string& what, const Variable& x) {
    trace_.seen.push_back({label(what), x.defined() ? x.detach().clone() : x, {}});
  }
  void look(const std::vector<Variable>& results) {
    std::vector<Variable> all = results;
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
    // A replay that throws does not know how far it went: versions have grown, by other counts.
    trace_.seen.push_back({label("geometry"), {}, geometry(all, threw_ ? all.size() : results.size())});
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
  Trace trace_;
  std::size_t call_ = 0;
  bool threw_ = false;
};

bool same_values(const Variable& a, const Variable& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return false;
  const Variable x = a.contiguous(), y = b.contiguous();
  const std::size_t bytes = static_cast<std::size_t>(x.numel() * x.element_size());
  if (bytes == 0 || std::memcmp(x.data_ptr(), y.data_ptr(), bytes) == 0) return true;
  if (!x.is_floating_point()) return false;
  // NaNs are equal to each other, zeros of different signs are not.
  const Variable p = x.to(ebb::kDouble), q = y.to(ebb::kDouble);
  for (std::int64_t i = 0; i < p.numel(); ++i) {
    const double u = p.data_ptr<double>()[i], v = q.data_ptr<double>()[i];
    if (std::isnan(u) != std::isnan(v) || (!std::isnan(u) && (u != v || std::signbit(u) != std::signbit(v))))
      return false;
  }
  return true;
}

}  // namespace

const std::vector<Way>& ways() {
  static const std::vector<Way> all = {{.name = "plain"},
                                       {.name = "compiled", .compiled = true},
                                       {.name = "2 threads, other memory", .threads = 2, .disturbed = true},
                                       {.name = "compiled, 7 threads", .threads = 7, .compiled = true}};
  return all;
}

Trace run(const Program& program, const Way& way) { return Run(program, way).trace(); }

std::string difference(const Trace& expected, const Trace& got) {
  for (std::size_t i = 0; i < std::min(expected.seen.size(), got.seen.size()); ++i) {
    const Seen &a = expected.seen[i], &b = got.seen[i];
    if (a.label == b.label && a.text == b.text && same_values(a.value, b.value)) continue;
    std::ostringstream text;
    text << a.label << ": ";
    if (a.label != b.label)
      text << a.text << " or " << b.label << ' ' << b.text;
    else if (a.text != b.text)
      text << a.text << "\n  or\n" << b.text;
    else
      text << a.value << "\n  or\n" << b.value;
    return text.str();
  }
  if (expected.seen.size() != got.seen.size()) return "one has seen more";
  return "";
}

std::string disagreement(const Program& program, std::int64_t* replays) {
  const Trace expected = run(program, ways().front());
  for (std::size_t i = 1; i < ways().size(); ++i) {
    const Trace got = run(program, ways()[i]);
    if (replays) *replays += got.replays;
    const std::string found = difference(expected, got);
    if (!found.empty()) return std::string(ways()[i].name) + ": " + found;
  }
  return "";
}

std::uint64_t digest(const Trace& trace) {
  std::uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a
  const auto add = [&](const void* data, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3ull;
  };
  for (const Seen& each : trace.seen) {
    add(each.text.data(), each.text.size());
    if (!each.value.defined()) continue;
    const Variable x =
        each.value.is_floating_point() ? each.value.to(ebb::kDouble).contiguous() : each.value.contiguous();
    if (!x.is_floating_point()) {
      add(x.data_ptr(), static_cast<std::size_t>(x.numel() * x.element_size()));
      continue;
    }
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      double v = x.data_ptr<double>()[i];
      if (std::isnan(v)) v = NAN;
      add(&v, sizeof(v));
    }
  }
  return hash;
}

}  // namespace programs

// Saves what a program keeps, and loads it into a state that was set up anew.
#include "random_programs/resumed.h"

#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/rng_state.h>
#include <ebb/ops/copy.h>
#include <ebb/serialize.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "random_programs/kinds.h"

namespace programs {
namespace {

// Statements whose effect is in no file: as_strided reaches elements of a tensor's memory that it does not
// have.
bool is_kept_by_files(const Statement& s) {
  static const std::set<std::string> kinds = {"hook", "module_hook", "geometry", "flag"};
  return !kinds.contains(s.kind) && s.name != "set_data" && !s.name.starts_with("as_strided");
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

// Whether every tensor is a leaf, and no gradient is found in other tensors or gradients.
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

// Whether optimizers have no parameter that is in no slot any more.
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

// A tensor with several places for one number takes no copy.
bool can_be_written(const Variable& x) {
  for (std::int64_t d = 0; d < x.dim(); ++d)
    if (x.stride(d) == 0 && x.size(d) > 1) return false;
  return true;
}

// The setup and the acts before the calls that were made; nothing where they throw.
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

// Files keep elements, not strides, which a gradient has from the first one that was added to it.
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
  const auto all_kept = [](const Statements& list) {
    return std::all_of(list.begin(), list.end(), is_kept_by_files);
  };
  if (!all_kept(program.setup) || !all_kept(program.body) || calls > program.between.size() + 1) return {};
  const std::vector<Variable> from = tensors_of(program, state);
  if (!reach_all_parameters(program, state, from)) return {};
  // Loading writes to the elements, after which a view whose base gets a flag has a node.
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
      ebb::save(*state[i].module, file);
      ebb::load(*next[i].module, file);
    } else if (state[i].optimizer) {
      ebb::save(*state[i].optimizer, file);
      ebb::load(*next[i].optimizer, file);
    }
  }
  return begun;
}

}  // namespace programs

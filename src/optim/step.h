// The loop that every optimizer's step is: parameters are gathered into lists that one launch updates.
#pragma once

#include <ebb/autograd/record.h>
#include <ebb/core/visit.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/creation.h>
#include <ebb/optim/optimizer.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "core/capture.h"
#include "kernel/convert.h"
#include "kernel/kept_call.h"
#include "optim/fields.h"
#include "optim/kernels.h"

namespace ebb::optim {

/// What an optimizer with these Options does. Its specialisation, in the optimizer's file, has:
///   State, kName, and kBumps: whether the write is counted for backward to notice, which libtorch's SGD does
///   not; check(options), which throws where they make no sense; remembers(options): whether there is a
///   state; number(state): which update of its parameter comes next, from 1; advance(options, state) counts
///   it; collect(options, parameter, state, add): calls add(bit, array) for the tensors of the state, in the
///   rule's order, having made those that are missing;
///   how(options, number, state): the numbers of that update (math.h); read(state), where it reads more of
///   the state than the number: all that it reads, which parameters updated together have in common;
///   fields(state, f), options(options, f): call f(name, field) for all that a file keeps.
/// Or, of a step that is made of ops: State, kName, check, fields, options, and update(options, parameter,
/// gradient, state).
template <class Options>
struct Kind;

/// A Kind whose state counts its updates in step().
template <class S>
struct Counted {
  using State = S;
  static constexpr bool kBumps = true;
  template <class Options>
  static bool remembers(const Options&) {
    return true;
  }
  static std::int64_t number(const State& state) { return state.step() + 1; }
  template <class Options>
  static void advance(const Options&, State& state) {
    ++state.step();
  }
};

/// Throws unless every gradient fits its parameter.
void check_gradients(const char* name, const std::vector<Variable>& parameters);

/// A state about to be made: in a captured step that would happen anew in every replay.
void check_not_captured(const char* name, const Variable& parameter);

/// Whether x's memory is in the order of the parameter's, or row-major where the parameter has holes: then
/// all is updated as one piece, whatever the strides (channels-last weights).
bool laid_out_like(const NdArray& x, const NdArray& parameter);
/// x in that layout; x itself if it is.
Variable in_layout_of(const NdArray& parameter, const Variable& x);

/// The state's array, in that layout and dtype; zeros in the parameter's shape, if it is not there yet.
const NdArray& remembered(const char* name, Variable& state, const Variable& parameter, DType dtype);
inline const NdArray& remembered(const char* name, Variable& state, const Variable& parameter) {
  return remembered(name, state, parameter, parameter.dtype());
}

/// Whether the rule works on a master copy of the parameter, which is of 16 bits, and its states are f32.
template <class Options>
bool has_master(const Options& options, const Variable& parameter) {
  if constexpr (requires { options.master_weights(); })
    return options.master_weights() && (parameter.dtype() == kHalf || parameter.dtype() == kBFloat16);
  return false;
}

/// Whether the step follows the negative of the gradient.
template <class Options>
bool maximizes(const Options& options) {
  if constexpr (requires { options.maximize(); }) return options.maximize();
  return false;
}
template <class Options>
Variable ascended(const Options& options, const Variable& gradient) {
  return maximizes(options) ? gradient.neg() : gradient;
}

template <class How>
kernels::RuleBytes rule_bytes(DType dtype, const How& how) {
  kernels::RuleBytes bytes{};
  visit_floating(dtype, "optimizer step", [&]<class T> {
    const typename How::template Rule<Compute<T>> rule(how);
    static_assert(sizeof(rule) <= sizeof(bytes.at));
    std::memcpy(bytes.at, &rule, sizeof(rule));
  });
  return bytes;
}

/// All that the numbers of an update depend on beside the options.
template <class Kind>
auto read_of(const typename Kind::State& state) {
  if constexpr (requires { Kind::read(state); })
    return Kind::read(state);
  else
    return Kind::number(state);
}

/// Parameters that are updated alike: of one group, dtype and device, with the same states, and by the same
/// numbers.
template <class Kind>
struct Optimizer::Batch {
  using Options = typename Kind::Options;
  using How = decltype(Kind::how(std::declval<Options>(), 0, std::declval<typename Kind::State>()));

  How how{};
  Device device;
  DType dtype = DType::Undefined;
  unsigned kept = 0;
  bool master = false;
  decltype(read_of<Kind>(std::declval<typename Kind::State>())) read{};
  std::vector<TensorEntry> entries;
  std::vector<typename Kind::State*> states;
  std::vector<const void*> keys;  // of the states, in the optimizer's map
  std::vector<NdArray> arrays;    // what the entries point into, as far as it must be held

  bool takes(const Batch& other) const {
    return device == other.device && dtype == other.dtype && kept == other.kept && master == other.master &&
           read == other.read;
  }

  void run(Optimizer& optimizer, std::size_t group) {
    kernels::UpdateList list{{device, dtype, entries}, kept, master};
    if (detail::Recorder* const recorder = detail::recorder())
      return record(*recorder, list, optimizer, group);
    detail::Capture* const capture = device.is_cpu() ? nullptr : detail::current_capture();
    if (capture) list.live = follow(*capture, {optimizer, group, states, keys}, list, arrays);
    kernels::optimizer_step(device, list, how);
  }

  /// Which update of which states, for steps that run again: the host counts each, and reads the options as
  /// they are by then.
  struct Following {
    Optimizer& optimizer;
    std::size_t group;
    std::vector<typename Kind::State*> states;
    std::vector<const void*> keys;
    std::weak_ptr<const char> epoch = optimizer.epoch_;
    bool maximized = maximizes(options());

    /// What no longer is as it was; empty if nothing.
    std::string broken() const {
      if (epoch.expired()) return "the optimizer of the step is gone, or has loaded its state anew";
      if (maximizes(options()) != maximized) return "the option maximize of the step has been changed";
      for (std::size_t i = 0; i < states.size(); ++i) {
        const auto found = optimizer.state_.find(keys[i]);
        if (found == optimizer.state_.end() || found->second.get() != states[i])
          return "a state of the step has been taken out of the optimizer since";
        if (read_of<Kind>(*states[i]) != read_of<Kind>(*states[0]))
          return "parameters that were updated together have since been updated differently";
      }
      return {};
    }
    const Options& options() const {
      return static_cast<const Options&>(optimizer.param_groups_.at(group).options());
    }
    How now() const {
      return states.empty() ? Kind::how(options(), 1, typename Kind::State())
                            : Kind::how(options(), Kind::number(*states[0]), *states[0]);
    }
    How next() const {
      const How how = now();
      for (typename Kind::State* state : states) Kind::advance(options(), *state);
      return how;
    }
  };

  /// Device memory for the rule, which every replay writes anew.
  static const kernels::RuleBytes* follow(detail::Capture& capture, const Following& following,
                                          const EntryList& list, const std::vector<NdArray>& arrays) {
    const NdArray live = detail::Capture::array({sizeof(kernels::RuleBytes)}, kByte, list.device);
    auto* const rule = live.address_as<kernels::RuleBytes>();
    capture.before_replay([following, live, rule, device = list.device, dtype = list.dtype, arrays] {
      const std::string broken = following.broken();
      EBB_CHECK(broken.empty(), Kind::kName, ": ", broken, ". Capture the step again.");
      kernels::store_rule(device, rule, device, rule_bytes(dtype, following.next()));
    });
    return rule;
  }

  /// What decides which parameters have updates, and with which states.
  struct Extent {
    std::size_t parameters = 0;
    std::vector<Variable> without_gradient;
    std::vector<bool> options;  // of the group: which are not zero

    Extent(Optimizer& optimizer, std::size_t group) {
      for (const OptimizerParamGroup& each : optimizer.param_groups_) {
        parameters += each.params().size();
        for (const Variable& parameter : each.params())
          if (!parameter.grad().defined()) without_gradient.push_back(parameter);
      }
      options = chosen(optimizer, group);
    }
    bool holds(Optimizer& optimizer, std::size_t group) const {
      std::size_t now = 0;
      for (const OptimizerParamGroup& each : optimizer.param_groups_) now += each.params().size();
      const auto has_none = [](const Variable& parameter) { return !parameter.grad().defined(); };
      return now == parameters && options == chosen(optimizer, group) &&
             std::all_of(without_gradient.begin(), without_gradient.end(), has_none);
    }

   private:
    static std::vector<bool> chosen(Optimizer& optimizer, std::size_t group) {
      std::vector<bool> all;
      Kind::options(static_cast<const Options&>(optimizer.param_groups_.at(group).options()),
                    [&](const char*, const auto& field) {
                      if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(field)>>)
                        all.push_back(field != 0);
                    });
      return all;
    }
  };

  /// The step as a call of a tape.
  struct Kept final : detail::KeptCall {
    Kept(const kernels::UpdateList& list, Following followed)
        : KeptCall(Kind::kName),
          entries(list),
          kept(list.kept),
          master(list.master),
          following(std::move(followed)),
          extent(following.optimizer, following.group) {}
    void run() override {
      kernels::UpdateList list{EntryList(entries), kept, master};
      detail::Capture* const capture = list.device.is_cpu() ? nullptr : detail::current_capture();
      if (capture) list.live = follow(*capture, following, list, {});
      kernels::optimizer_step(list.device, list, capture ? following.now() : following.next());
    }
    void visit(detail::ArgumentVisitor& v) override {
      v.written = true;
      entries.visit(v);
      detail::visit_argument(kept, v);
      detail::visit_argument(master, v);
    }
    bool holds() const override {
      return following.broken().empty() && extent.holds(following.optimizer, following.group);
    }
    bool watched() const override { return true; }

    detail::KeptEntries entries;
    unsigned kept;
    bool master;
    Following following;
    Extent extent;
  };

  void record(detail::Recorder& recorder, const kernels::UpdateList& list, Optimizer& optimizer,
              std::size_t group) const {
    for (const NdArray& array : arrays) recorder.will_touch(array);
    const Following following{optimizer, group, states, keys};
    auto kept = std::make_unique<Kept>(list, following);
    recorder.begin(*kept);
    {
      const detail::RecorderScope inside(nullptr);
      kernels::optimizer_step(device, list, how);
    }
    Kept after(list, following);
    recorder.end(std::move(kept), after);
  }
};

template <class Kind>
void Optimizer::update_all() {
  NoGradGuard no_grad;
  for (std::size_t group = 0; group < param_groups_.size(); ++group) {
    const auto& options = static_cast<const typename Kind::Options&>(param_groups_[group].options());
    check_gradients(Kind::kName, param_groups_[group].params());
    std::vector<Batch<Kind>> batches;
    const auto run = [&] {
      for (Batch<Kind>& batch : batches) batch.run(*this, group);
      batches.clear();
    };
    for (Variable& parameter : param_groups_[group].params()) {
      if (!parameter.grad().defined()) continue;
      const bool captured = !parameter.device().is_cpu() && detail::current_capture();
      const bool runs_again = captured || detail::recorder();
      const Variable& grad = parameter.grad();
      const bool ready = !maximizes(options) && grad.dtype() == parameter.dtype() &&
                         laid_out_like(grad.array(), parameter.array());
      const Variable usable =
          ready ? grad : in_layout_of(parameter.array(), ascended(options, grad).to(parameter.dtype()));
      const bool dense = parameter.array().is_dense();
      if (!dense) run();  // in the order of the list, should it share memory with others
      const Variable work = dense ? parameter : parameter.detach().contiguous();

      Batch<Kind> one;
      one.device = parameter.device();
      one.dtype = parameter.dtype();
      TensorEntry entry{{work.array().address(), usable.array().address()}, parameter.numel()};
      typename Kind::State* state = nullptr;
      std::int64_t number = 1;
      if (Kind::remembers(options)) {
        state = &state_of<typename Kind::State>(parameter);
        number = Kind::number(*state);
        one.read = read_of<Kind>(*state);
        std::size_t at = 2;
        Kind::collect(options, parameter, *state, [&](unsigned bit, const NdArray& array) {
          one.kept |= 1u << bit;
          entry.at[at++] = array.address();
          detail::will_touch(array);
        });
        if constexpr (requires { state->master(); })
          if (has_master(options, parameter)) {
            one.master = true;
            const NdArray& copy = remembered(Kind::kName, state->master(), parameter, kFloat);
            entry.at[at++] = copy.address();
            detail::will_touch(copy);
          }
      }
      one.how = Kind::how(options, number, state ? *state : typename Kind::State());
      if (state && !captured) Kind::advance(options, *state);
      Batch<Kind>* batch = nullptr;
      for (Batch<Kind>& each : batches)
        if (each.takes(one)) batch = &each;
      if (!batch) batch = &batches.emplace_back(std::move(one));
      batch->entries.push_back(entry);
      if (state) {
        batch->states.push_back(state);
        if (runs_again) batch->keys.push_back(parameter.impl());
      }
      if (runs_again || !ready) batch->arrays.push_back(usable.array());
      if (runs_again) batch->arrays.push_back(work.array());

      if (!dense) {
        run();
        (Kind::kBumps ? parameter.detach() : parameter.data()).copy_(work);
      } else if (Kind::kBumps) {
        autograd::bump_version(parameter);
      }
    }
    run();
  }
}

template <class Kind>
void Optimizer::update_each() {
  NoGradGuard no_grad;
  for (OptimizerParamGroup& group : param_groups_) {
    const auto& options = static_cast<const typename Kind::Options&>(group.options());
    check_gradients(Kind::kName, group.params());
    detail::not_replayed("the optimizer counts its updates on the host");
    for (Variable& parameter : group.params()) {
      if (!parameter.grad().defined()) continue;
      EBB_CHECK(
          parameter.device().is_cpu() || !detail::current_capture(), Kind::kName,
          ": its step cannot be captured: what the host counts would stay as it was. Call it outside of the "
          "graph.");
      Kind::update(options, parameter, ascended(options, parameter.grad()),
                   state_of<typename Kind::State>(parameter));
    }
  }
}

}  // namespace ebb::optim

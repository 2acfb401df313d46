// Replays of optimizer steps in captured graphs and in tapes.
#pragma once

#include "core/capture.h"
#include "kernel/call/kept_call.h"
#include "optim/kernels.h"
#include "optim/kind.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ebb::optim {

struct Optimizer::Replay {
  /// The update of a batch of parameters in a replayed step. Each replay counts the update on the host and
  /// reads the current options.
  template <class Kind>
  struct Update {
    using Options = typename Kind::Options;
    using State = typename Kind::State;

    Optimizer& optimizer;
    std::size_t group;
    std::vector<State*> states;
    std::vector<const void*> keys;  // the keys of the states in the optimizer's map
    std::weak_ptr<const char> epoch = optimizer.epoch_;
    bool maximized = maximizes(options());

    /// Returns the reason why the update cannot run again, or an empty string if it can.
    std::string broken() const {
      if (epoch.expired()) return "the optimizer of the step no longer exists, or has loaded another state";
      if (maximizes(options()) != maximized) return "the option maximize of the step has been changed";
      for (std::size_t i = 0; i < states.size(); ++i) {
        const auto found = optimizer.state_.find(keys[i]);
        if (found == optimizer.state_.end() || found->second.get() != states[i])
          return "a state of the step has since been removed from the optimizer";
        if (read_of<Kind>(*states[i]) != read_of<Kind>(*states[0]))
          return "parameters that were updated together have since been updated differently";
      }
      return {};
    }
    const Options& options() const {
      return static_cast<const Options&>(optimizer.param_groups_.at(group).options());
    }
    /// Returns the coefficients of the next update.
    How<Kind> now() const {
      return states.empty() ? Kind::how(options(), 1, State())
                            : Kind::how(options(), Kind::number(*states[0]), *states[0]);
    }
    /// Returns the coefficients of the next update, and counts this update.
    How<Kind> next() const {
      const How<Kind> how = now();
      for (State* state : states) Kind::advance(options(), *state);
      return how;
    }
  };

  /// Returns device memory for the rule. Each replay of the capture writes the current rule to this memory.
  /// The capture keeps `arrays` alive.
  template <class Kind>
  static const kernels::RuleBytes* follow(detail::Capture& capture, const Update<Kind>& update,
                                          const EntryList& list, const std::vector<NdArray>& arrays) {
    const NdArray live = detail::Capture::array({sizeof(kernels::RuleBytes)}, kByte, list.device);
    auto* const rule = live.address_as<kernels::RuleBytes>();
    capture.before_replay([update, live, rule, device = list.device, dtype = list.dtype, arrays] {
      const std::string broken = update.broken();
      EBB_CHECK(broken.empty(), Kind::kName, ": ", broken, ". Capture the step again.");
      kernels::store_rule(device, rule, device, rule_bytes(dtype, update.next()));
    });
    return rule;
  }

  /// The conditions that decide which parameters are updated, and with which states.
  struct Extent {
    explicit Extent(const Optimizer& optimizer, std::vector<bool> options);
    bool holds(const Optimizer& optimizer, const std::vector<bool>& options) const;

   private:
    std::size_t parameters_;
    std::vector<Variable> without_gradient_;
    std::vector<bool> options_;
  };

  /// Returns for each arithmetic option whether it is nonzero.
  template <class Kind>
  static std::vector<bool> chosen(const typename Kind::Options& options) {
    std::vector<bool> all;
    Kind::options(options, [&](const char*, const auto& field) {
      if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(field)>>) all.push_back(field != 0);
    });
    return all;
  }

  /// A recorded update on a tape.
  template <class Kind>
  struct Call final : detail::KeptCall {
    Call(const kernels::UpdateList& list, Update<Kind> next)
        : KeptCall(Kind::kName),
          entries(list),
          state_mask(list.state_mask),
          master(list.master),
          update(std::move(next)),
          extent(update.optimizer, chosen<Kind>(update.options())) {}
    void run() override {
      kernels::UpdateList list{EntryList(entries), state_mask, master};
      detail::Capture* const capture = list.device.is_cpu() ? nullptr : detail::current_capture();
      if (capture) list.live = follow(*capture, update, list, {});
      kernels::optimizer_step(list.device, list, capture ? update.now() : update.next());
    }
    void visit(detail::ArgumentVisitor& v) override {
      v.written = true;
      entries.visit(v);
      detail::visit_argument(state_mask, v);
      detail::visit_argument(master, v);
    }
    bool holds() const override {
      return update.broken().empty() && extent.holds(update.optimizer, chosen<Kind>(update.options()));
    }
    bool watched() const override { return true; }

    detail::KeptEntries entries;
    unsigned state_mask;
    bool master;
    Update<Kind> update;
    Extent extent;
  };

  /// Runs the update with the coefficients `how` and records it. `arrays` are the arrays of the list's
  /// entries.
  template <class Kind>
  static void record(detail::Recorder& recorder, const kernels::UpdateList& list, const How<Kind>& how,
                     const Update<Kind>& update, const std::vector<NdArray>& arrays) {
    for (const NdArray& array : arrays) recorder.will_access(array);
    auto call = std::make_unique<Call<Kind>>(list, update);
    recorder.begin(*call);
    {
      const detail::RecorderScope inside(nullptr);
      kernels::optimizer_step(list.device, list, how);
    }
    Call<Kind> after(list, update);
    recorder.end(std::move(call), after);
  }
};

}  // namespace ebb::optim

// The loop that every optimizer's step is: parameters are gathered into lists that one launch updates.
#pragma once

#include <ebb/autograd/record.h>
#include <ebb/core/visit.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/creation.h>
#include <ebb/optim/optimizer.h>

#include <cstring>

#include "device/capture.h"
#include "kernel/convert.h"
#include "optim/kernels.h"

// A `Kind` of optimizer has:
//   Options, State, kName, and kBumps: whether the write is counted for backward to notice, which libtorch's
//   SGD does not; remembers(options): whether there is a state at all;
//   number(state): which update of its parameter comes next, from 1; advance(state) counts it;
//   collect(options, parameter, state, add): calls add(Variable&) for the tensors of the state, in the rule's
//   order, with the bit of each, having made those that are missing;
//   how(options, number): the numbers of that update (math.h).

namespace ebb::optim {

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

/// Parameters that are updated alike: of one group, dtype and device, with the same states, as many times
/// before.
template <class Kind>
struct Optimizer::Batch {
  Device device;
  DType dtype = DType::Undefined;
  unsigned kept = 0;
  bool master = false;
  std::int64_t number = 0;
  std::vector<TensorEntry> entries;
  std::vector<typename Kind::State*> states;
  std::vector<NdArray> arrays;  // what the entries point into, as far as it must be held

  bool takes(const Batch& other) const {
    return device == other.device && dtype == other.dtype && kept == other.kept && master == other.master &&
           number == other.number;
  }

  void run(Optimizer& optimizer, std::size_t group) {
    const auto& options =
        static_cast<const typename Kind::Options&>(optimizer.param_groups_[group].options());
    kernels::UpdateList list{{device, dtype, entries}, kept, master};
    detail::Capture* const capture = device.is_cpu() ? nullptr : detail::current_capture();
    if (capture) list.live = follow(*capture, optimizer, group);
    kernels::optimizer_step(device, list, Kind::how(options, number));
  }

  /// Device memory for the rule, which every replay writes anew: the host counts the update, and reads the
  /// options as they are by then.
  const kernels::RuleBytes* follow(detail::Capture& capture, Optimizer& optimizer, std::size_t group) const {
    const NdArray live = detail::Capture::array({sizeof(kernels::RuleBytes)}, kByte, device);
    auto* const rule = live.data_as<kernels::RuleBytes>();
    capture.before_replay([&optimizer, group, live, rule, epoch = std::weak_ptr(optimizer.epoch_),
                           device = device, dtype = dtype, states = states, arrays = arrays] {
      EBB_CHECK(!epoch.expired(), Kind::kName,
                ": the optimizer of a captured step is gone, or has loaded its state anew. Capture the step "
                "again.");
      std::int64_t number = 1;
      for (std::size_t i = 0; i < states.size(); ++i) {
        EBB_CHECK(i == 0 || Kind::number(*states[i]) == number, Kind::kName,
                  ": parameters that were captured together have since been updated ", number - 1, " and ",
                  Kind::number(*states[i]) - 1, " times. Capture the step again.");
        number = Kind::number(*states[i]);
      }
      for (typename Kind::State* state : states) Kind::advance(*state);
      const auto& options =
          static_cast<const typename Kind::Options&>(optimizer.param_groups_.at(group).options());
      kernels::store_rule(device, rule, device, rule_bytes(dtype, Kind::how(options, number)));
    });
    return rule;
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
      const Variable& grad = parameter.grad();
      const bool ready = grad.dtype() == parameter.dtype() && laid_out_like(grad.array(), parameter.array());
      const Variable usable = ready ? grad : in_layout_of(parameter.array(), grad.to(parameter.dtype()));
      const bool dense = parameter.array().is_dense();
      if (!dense) run();  // in the order of the list, should it share memory with others
      const Variable work = dense ? parameter : parameter.detach().contiguous();

      Batch<Kind> one;
      one.device = parameter.device();
      one.dtype = parameter.dtype();
      TensorEntry entry{{work.array().data(), usable.array().data()}, parameter.numel()};
      typename Kind::State* state = nullptr;
      if (Kind::remembers(options)) {
        state = &state_of<typename Kind::State>(parameter);
        one.number = Kind::number(*state);
        std::size_t at = 2;
        Kind::collect(options, parameter, *state, [&](unsigned bit, const NdArray& array) {
          one.kept |= 1u << bit;
          entry.at[at++] = array.data();
        });
        if constexpr (requires { state->master(); })
          if (has_master(options, parameter)) {
            one.master = true;
            entry.at[at++] = remembered(Kind::kName, state->master(), parameter, kFloat).data();
          }
        if (!captured) Kind::advance(*state);
      }
      Batch<Kind>* batch = nullptr;
      for (Batch<Kind>& each : batches)
        if (each.takes(one)) batch = &each;
      if (!batch) batch = &batches.emplace_back(std::move(one));
      batch->entries.push_back(entry);
      if (state) batch->states.push_back(state);
      if (captured || !ready) batch->arrays.push_back(usable.array());
      if (captured) batch->arrays.push_back(work.array());

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

inline void check_option(bool holds, const char* what, double value) {
  EBB_CHECK(holds, "Invalid ", what, ": ", value);
}

/// Named tensors of a state: a step count is a Long tensor of no dimensions.
inline Variable step_tensor(std::int64_t step) { return scalar_tensor(step, TensorOptions(kLong)); }
[[noreturn]] inline void unknown_state(const char* optimizer, const std::string& name) {
  ebb::detail::fail(optimizer, ": the state has an entry '", name, "' that this optimizer does not know.");
}

}  // namespace ebb::optim

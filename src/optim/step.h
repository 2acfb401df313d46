// The loop of an optimizer's step. It groups parameters into batches, and updates each batch with one launch.
#pragma once

#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/optim/optimizer.h>

#include "core/capture.h"
#include "optim/kernels.h"
#include "optim/kind.h"
#include "optim/replay.h"

#include <utility>
#include <vector>

namespace ebb::optim {

/// Throws unless every gradient has the sizes and the device of its parameter.
void check_gradients(const char* name, const std::vector<Variable>& parameters);

/// Throws if the step is being captured. The caller is about to allocate a state, and every replay would
/// allocate it again.
void check_not_captured(const char* name, const Variable& parameter);

/// Returns whether x has the memory layout of the parameter, or is contiguous if the parameter is not dense.
/// With this layout one flat loop can update all elements, also of parameters with other strides
/// (channels-last weights).
bool laid_out_like(const NdArray& x, const NdArray& parameter);
/// Returns x in the layout that laid_out_like() accepts. If x has it already, returns x itself.
Variable in_layout_of(const NdArray& parameter, const Variable& x);

/// Returns the state's array in this layout and in the given dtype. A missing state is first allocated as
/// zeros of the parameter's shape.
const NdArray& remembered(const char* name, Variable& state, const Variable& parameter, DType dtype);
inline const NdArray& remembered(const char* name, Variable& state, const Variable& parameter) {
  return remembered(name, state, parameter, parameter.dtype());
}

/// Parameters that one launch updates. They have the same group, dtype, device, states and coefficients.
template <class Kind>
struct Optimizer::Batch {
  How<Kind> how{};
  Device device;
  DType dtype = DType::Undefined;
  unsigned state_mask = 0;
  bool master = false;
  decltype(read_of<Kind>(std::declval<typename Kind::State>())) read{};
  std::vector<TensorEntry> entries;
  std::vector<typename Kind::State*> states;
  std::vector<const void*> keys;  // the keys of the states in the optimizer's map
  std::vector<NdArray> arrays;    // owns the memory of entries that no other object owns

  bool takes(const Batch& other) const {
    return device == other.device && dtype == other.dtype && state_mask == other.state_mask &&
           master == other.master && read == other.read;
  }

  void run(Optimizer& optimizer, std::size_t group) {
    kernels::UpdateList list{{device, dtype, entries}, state_mask, master};
    const auto update = [&] { return Replay::Update<Kind>{optimizer, group, states, keys}; };
    if (detail::Recorder* const recorder = detail::recorder())
      return Replay::record(*recorder, list, how, update(), arrays);
    detail::Capture* const capture = device.is_cpu() ? nullptr : detail::current_capture();
    if (capture) list.live = Replay::follow(*capture, update(), list, arrays);
    kernels::optimizer_step(device, list, how);
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
      if (!dense) run();  // keeps the order of the list, because the parameter may share memory with others
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
          one.state_mask |= 1u << bit;
          entry.at[at++] = array.address();
          detail::will_access(array);
        });
        if constexpr (requires { state->master(); })
          if (has_master(options, parameter)) {
            one.master = true;
            const NdArray& copy = remembered(Kind::kName, state->master(), parameter, kFloat);
            entry.at[at++] = copy.address();
            detail::will_access(copy);
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
      EBB_CHECK(parameter.device().is_cpu() || !detail::current_capture(), Kind::kName,
                ": step() cannot be captured, because a replay would not count updates on the host. Call "
                "step() outside of the graph.");
      Kind::update(options, parameter, ascended(options, parameter.grad()),
                   state_of<typename Kind::State>(parameter));
    }
  }
}

}  // namespace ebb::optim

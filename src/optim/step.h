// The loop of an optimizer's step: parameters are gathered into lists that one launch updates.
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

/// Parameters that are updated alike: of one group, dtype and device, with the same states, and by the same
/// numbers.
template <class Kind>
struct Optimizer::Batch {
  How<Kind> how{};
  Device device;
  DType dtype = DType::Undefined;
  unsigned kept = 0;
  bool master = false;
  decltype(read_of<Kind>(std::declval<typename Kind::State>())) read{};
  std::vector<TensorEntry> entries;
  std::vector<typename Kind::State*> states;
  std::vector<const void*> keys;  // of the states, in the optimizer's map
  std::vector<NdArray> arrays;    // hold the memory of the entries, as far as nothing else does

  bool takes(const Batch& other) const {
    return device == other.device && dtype == other.dtype && kept == other.kept && master == other.master &&
           read == other.read;
  }

  void run(Optimizer& optimizer, std::size_t group) {
    kernels::UpdateList list{{device, dtype, entries}, kept, master};
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

// One batch spread over several replicas of a module, each on a device of its own and in a thread of its own.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/device.h>
#include <ebb/core/options.h>
#include <ebb/nn/module_holder.h>
#include <ebb/nn/skip_init.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace ebb::nn::parallel {

namespace detail {
/// Makes the parameters of a clone stand for copies of the module's on this device.
EBB_API void tie(const Module& module, Module& replica, Device device, bool shares_buffers);
/// task(0) on this thread and each other one on a thread of its own, with this thread's modes and streams;
/// all end before the first exception, in the order of tasks, is thrown on.
EBB_API void run_all(std::size_t tasks, const std::vector<Device>& devices,
                     const std::function<void(std::size_t)>& task);
EBB_API void check_lengths(std::size_t modules, std::size_t inputs, std::size_t devices);
/// The devices to use where none are given: every CUDA device.
EBB_API std::vector<Device> all_devices();
}  // namespace detail

/// A clone() of the module for each device, whose parameters are computed from the module's by a copy that
/// autograd records: what the replicas' backward passes give is summed into the module's own .grad, and can
/// be differentiated again. On the module's own device parameters share its memory. Buffers are copies, but
/// where the first device is the module's, the first replica writes to the module's own, running statistics
/// for example, as in Python. The module must not be changed while replicas are in use
/// (torch::nn::parallel::replicate, torch.nn.parallel.replicate). Throws what clone() throws.
template <class ModuleType>
std::vector<std::shared_ptr<ModuleType>> replicate(const std::shared_ptr<ModuleType>& module,
                                                   const std::vector<Device>& devices) {
  EBB_CHECK(module != nullptr, "replicate: there is no module.");
  std::vector<std::shared_ptr<ModuleType>> replicas;
  const utils::SkipInitGuard no_draws;  // by reset(): a step must not change what is drawn after it
  for (const Device device : devices) {
    auto replica = std::dynamic_pointer_cast<ModuleType>(module->clone(device));
    EBB_CHECK(replica != nullptr, "replicate: clone() of ", module->name(),
              " returns a module of another type.");
    detail::tie(*module, *replica, device, replicas.empty());
    replicas.push_back(std::move(replica));
  }
  return replicas;
}

template <class ModuleType>
std::vector<std::shared_ptr<ModuleType>> replicate(const ModuleHolder<ModuleType>& module,
                                                   const std::vector<Device>& devices) {
  return replicate(module.ptr(), devices);
}

/// The input in equal pieces along `dim` (the last may be shorter), a piece a device, on that device; fewer
/// pieces than devices if the input is too short. Differentiable (torch.nn.parallel.scatter).
EBB_API std::vector<Variable> scatter(const Variable& input, const std::vector<Device>& devices,
                                      std::int64_t dim = 0);
/// The tensors side by side along `dim`, on `device`; scalars become a vector. Differentiable
/// (torch.nn.parallel.gather).
EBB_API Variable gather(const std::vector<Variable>& outputs, Device device, std::int64_t dim = 0);

/// modules[i](inputs[i]) for every i, each in a thread of its own (the first in the calling thread), with
/// devices[i] as current CUDA device and the output brought there; without devices outputs are brought to
/// where their inputs are. Gradient, inference and anomaly mode, autocast and streams are those of the
/// calling thread. Of exceptions the first replica's is thrown on when all are done. Generators are shared:
/// where replicas draw from one, as dropout does, which gets which numbers depends on the threads
/// (torch::nn::parallel::parallel_apply). ModuleType is a pointer or a handle to a module that returns a
/// tensor.
template <class ModuleType>
std::vector<Variable> parallel_apply(std::vector<ModuleType>& modules, const std::vector<Variable>& inputs,
                                     const optional<std::vector<Device>>& devices = nullopt) {
  detail::check_lengths(modules.size(), inputs.size(), devices ? devices->size() : inputs.size());
  std::vector<Variable> outputs(inputs.size());
  std::vector<Device> places;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    places.push_back(devices ? (*devices)[i] : inputs[i].device());
  detail::run_all(inputs.size(), places, [&](std::size_t i) {
    outputs[i] = nn::detail::call_module(*modules[i], inputs[i]).to(places[i]);
  });
  return outputs;
}

/// module(input), computed by a replica of the module on each device from a piece of the input, and gathered
/// on `output_device` (the first device). The devices are all CUDA devices unless given; one may be there
/// more than once: {kCPU, kCPU} computes in two threads. Gradients arrive in the module's own parameters;
/// they are those of one module where samples do not depend on each other. With one device the module is
/// moved there and called as it is (torch::nn::parallel::data_parallel). Throws ebb::Error when there is no
/// device.
template <class ModuleType>
Variable data_parallel(ModuleType module, Variable input, optional<std::vector<Device>> devices = nullopt,
                       optional<Device> output_device = nullopt, std::int64_t dim = 0) {
  const std::vector<Device> places = devices ? *devices : detail::all_devices();
  EBB_CHECK(!places.empty(), "data_parallel: there is no device. Give at least one.");
  const Device output = output_device.value_or(places.front());
  if (places.size() == 1) {
    module->to(places.front());
    return nn::detail::call_module(*module, input.to(places.front())).to(output);
  }
  const std::vector<Variable> pieces = scatter(input, places, dim);
  const std::vector<Device> used(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(pieces.size()));
  auto replicas = replicate(module, used);
  return gather(parallel_apply(replicas, pieces, used), output, dim);
}

}  // namespace ebb::nn::parallel

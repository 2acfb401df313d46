// data_parallel and its parts: split a batch over replicas of a module. Each replica has a device and a
// thread.
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
/// Replaces the parameters of a clone by differentiable copies of the module's parameters on this device.
EBB_API void tie(const Module& module, Module& replica, Device device, bool shares_buffers);
/// Runs task(0) on this thread and each other task on a separate thread, with this thread's modes and
/// streams. When all have ended, rethrows the exception of the first task that failed.
EBB_API void run_all(std::size_t tasks, const std::vector<Device>& devices,
                     const std::function<void(std::size_t)>& task);
EBB_API void check_lengths(std::size_t modules, std::size_t inputs, std::size_t devices);
/// Returns the default devices: all CUDA devices.
EBB_API std::vector<Device> all_devices();
}  // namespace detail

/// Returns one clone() of the module for each device. Its parameters are copies of the module's parameters,
/// and autograd records the copies. Gradients of the replicas are summed into the .grad of the module, and
/// can be differentiated again. On the module's device the parameters share its memory. Buffers are copied.
/// If the first device is the module's, the first replica writes to the module's buffers, for example running
/// statistics, as in Python. The module must not change while replicas are in use
/// (torch::nn::parallel::replicate, torch.nn.parallel.replicate). Throws the exceptions of clone().
template <class ModuleType>
std::vector<std::shared_ptr<ModuleType>> replicate(const std::shared_ptr<ModuleType>& module,
                                                   const std::vector<Device>& devices) {
  EBB_CHECK(module != nullptr, "replicate: no module was given.");
  std::vector<std::shared_ptr<ModuleType>> replicas;
  const utils::SkipInitGuard no_draws;  // reset() must not change later random numbers
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

/// Splits the input along `dim` into equal chunks (the last may be smaller), one on each device. A short
/// input gives fewer chunks than devices. The function is differentiable (torch.nn.parallel.scatter).
EBB_API std::vector<Variable> scatter(const Variable& input, const std::vector<Device>& devices,
                                      std::int64_t dim = 0);
/// Concatenates the tensors along `dim` on `device`; tensors without dimensions become a vector. The function
/// is differentiable (torch.nn.parallel.gather).
EBB_API Variable gather(const std::vector<Variable>& outputs, Device device, std::int64_t dim = 0);

/// Returns modules[i](inputs[i]) for each i. The first call runs on the calling thread and each other call on
/// a separate thread. Call i runs with devices[i] as current CUDA device, and its output is moved to that
/// device. Without devices, the output is moved to the device of its input. Gradient, inference and anomaly
/// mode, autocast and streams are those of the calling thread. When all have ended, rethrows the exception of
/// the first replica that failed. All replicas share the generators. If several replicas draw from the same
/// generator, as in dropout, the timing of the threads decides which random numbers each replica gets
/// (torch::nn::parallel::parallel_apply). ModuleType is a pointer to a module that returns a tensor, or a
/// handle of such a module.
template <class ModuleType>
std::vector<Variable> parallel_apply(std::vector<ModuleType>& modules, const std::vector<Variable>& inputs,
                                     const optional<std::vector<Device>>& devices = nullopt) {
  detail::check_lengths(modules.size(), inputs.size(), devices ? devices->size() : inputs.size());
  std::vector<Variable> outputs(inputs.size());
  std::vector<Device> output_devices;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    output_devices.push_back(devices ? (*devices)[i] : inputs[i].device());
  detail::run_all(inputs.size(), output_devices, [&](std::size_t i) {
    outputs[i] = nn::detail::call_module(*modules[i], inputs[i]).to(output_devices[i]);
  });
  return outputs;
}

/// Returns module(input). A replica of the module on each device computes one chunk of the input, and the
/// results are gathered on `output_device` (default: the first device). The default devices are all CUDA
/// devices. A device may occur several times: {kCPU, kCPU} computes in two threads. Gradients are added to
/// the parameters of the module. They equal the gradients of one module if samples do not depend on each
/// other. With one device the module is moved to this device and called directly
/// (torch::nn::parallel::data_parallel). Throws ebb::Error if there is no device.
template <class ModuleType>
Variable data_parallel(ModuleType module, Variable input, optional<std::vector<Device>> devices = nullopt,
                       optional<Device> output_device = nullopt, std::int64_t dim = 0) {
  const std::vector<Device> replica_devices = devices ? *devices : detail::all_devices();
  EBB_CHECK(!replica_devices.empty(), "data_parallel: no device was given. Pass at least one.");
  const Device output = output_device.value_or(replica_devices.front());
  if (replica_devices.size() == 1) {
    module->to(replica_devices.front());
    return nn::detail::call_module(*module, input.to(replica_devices.front())).to(output);
  }
  const std::vector<Variable> pieces = scatter(input, replica_devices, dim);
  const std::vector<Device> used(replica_devices.begin(),
                                 replica_devices.begin() + static_cast<std::ptrdiff_t>(pieces.size()));
  auto replicas = replicate(module, used);
  return gather(parallel_apply(replicas, pieces, used), output, dim);
}

}  // namespace ebb::nn::parallel

// data_parallel: distributes one batch over several replicas of a module.
#include <ebb/core/start_thread.h>
#include <ebb/cuda/cuda.h>
#include <ebb/nn/parallel.h>
#include <ebb/ops/shape.h>

#include "autograd/swap_tensor.h"
#include "autograd/thread_state.h"

#include <exception>
#include <thread>

namespace ebb::nn::parallel {

namespace {

// The thread-local settings and streams that a replica's thread copies from the thread that started it.
class ThreadSettings {
 public:
  explicit ThreadSettings(const std::vector<Device>& devices) {
    for (const Device device : devices)
      if (device.is_cuda()) streams_.push_back(cuda::Stream::current(device));
  }

  // Runs the task with these settings, and with `device` as the current device.
  void run(Device device, const std::function<void()>& task) const {
    autograd::ThreadState& here = autograd::thread_state;
    here.inference_mode = state_.inference_mode;
    here.anomaly_mode = state_.anomaly_mode;
    here.check_nan = state_.check_nan;
    const AutoGradMode grad_mode(state_.grad_mode);
    const autograd::AutocastAgain autocast(autocast_);
    std::vector<std::unique_ptr<cuda::StreamGuard>> streams;
    for (const cuda::Stream& stream : streams_)
      streams.push_back(std::make_unique<cuda::StreamGuard>(stream));
    const cuda::DeviceGuard current(device);
    task();
  }

 private:
  autograd::ThreadState state_ = autograd::thread_state;
  autograd::AutocastSetting autocast_ = autograd::AutocastSetting::now();
  std::vector<cuda::Stream> streams_;
};

}  // namespace

namespace detail {

void tie(const Module& module, Module& replica, Device device, bool shares_buffers) {
  const auto pair_up = [&](const Module::StateDict& own, const Module::StateDict& copies, const char* what,
                           const auto& lends) {
    EBB_CHECK(own.keys() == copies.keys(), "replicate: a clone of ", module.name(), " has other ", what,
              " than the module. Create all of them in reset().");
    for (const auto& item : own)
      if (lends(*item)) autograd::swap_tensor(copies[item.key()], item->to(device));
  };
  pair_up(module.named_parameters(), replica.named_parameters(), "parameters",
          [](const Variable&) { return true; });
  pair_up(module.named_buffers(), replica.named_buffers(), "buffers", [&](const Variable& buffer) {
    return buffer.requires_grad() || (shares_buffers && buffer.to(device).is_same(buffer));
  });
}

void run_all(std::size_t tasks, const std::vector<Device>& devices,
             const std::function<void(std::size_t)>& task) {
  const ThreadSettings here(devices);
  std::vector<std::exception_ptr> errors(tasks);
  const auto attempt = [&](std::size_t i, const auto& step) {
    try {
      step();
    } catch (...) {
      errors[i] = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(tasks);  // so that push_back() of a running thread cannot throw
  for (std::size_t i = 1; i < tasks; ++i) {
    try {
      threads.push_back(ebb::detail::start_thread<std::thread>(
          "parallel_apply", [&, i] { attempt(i, [&] { here.run(devices[i], [&] { task(i); }); }); }));
    } catch (...) {
      errors[i] = std::current_exception();
    }
  }
  if (tasks > 0)
    attempt(0, [&] {
      const cuda::DeviceGuard current(devices[0]);
      task(0);
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

void check_lengths(std::size_t modules, std::size_t inputs, std::size_t devices) {
  EBB_CHECK(modules == inputs && devices == inputs, "parallel_apply: got ", std::uint64_t{modules},
            " modules, ", std::uint64_t{inputs}, " inputs and ", std::uint64_t{devices},
            " devices. Give each module an input, and a device if any are given.");
}

std::vector<Device> all_devices() {
  std::vector<Device> devices;
  for (std::size_t i = 0; i < cuda::device_count(); ++i)
    devices.emplace_back(Device::CUDA, static_cast<std::int64_t>(i));
  EBB_CHECK(!devices.empty(),
            "data_parallel: there is no CUDA device. Pass devices, for example {kCPU, kCPU} for two threads "
            "of the CPU.");
  return devices;
}

}  // namespace detail

std::vector<Variable> scatter(const Variable& input, const std::vector<Device>& devices, std::int64_t dim) {
  EBB_CHECK(!devices.empty(), "scatter: no device was given. Pass at least one.");
  std::vector<Variable> pieces = input.chunk(static_cast<std::int64_t>(devices.size()), dim);
  for (std::size_t i = 0; i < pieces.size(); ++i) pieces[i] = pieces[i].to(devices[i]);
  return pieces;
}

Variable gather(const std::vector<Variable>& outputs, Device device, std::int64_t dim) {
  EBB_CHECK(!outputs.empty(), "gather: no tensors were given.");
  std::vector<Variable> here;
  for (const Variable& output : outputs) {
    const Variable moved = output.to(device);
    here.push_back(moved.dim() == 0 ? moved.reshape({1}) : moved);
  }
  return cat(here, dim);
}

}  // namespace ebb::nn::parallel

// RandomStates: copies, compares and restores the states of the default generators.
#include "autograd/random_states.h"

#include <ebb/core/error.h>

#include "core/backend.h"
#include "core/generator_state.h"
#include "core/recorder.h"

#include <mutex>

namespace ebb::autograd {
namespace {

// Calls visit(backend, device, i) for every CUDA device, once a device has been used.
template <class Visit>
void for_each_device(const Visit& visit) {
  const detail::Backend* const backend = detail::loaded_backend(DeviceType::CUDA);
  const int count = backend ? backend->device_count() : 0;
  for (int i = 0; i < count; ++i)
    visit(*backend, Device(kCUDA, static_cast<DeviceIndex>(i)), static_cast<std::size_t>(i));
}

}  // namespace

Generator RandomStates::copy_of_cpu() {
  const detail::RecorderScope not_recorded(nullptr);
  return default_generator().clone();
}

RandomStates::RandomStates() {
  for_each_device([&](const detail::Backend& backend, Device device, std::size_t) {
    devices_.push_back(backend.generator_state(device));
  });
}

// The generators of devices start with the seed of the CPU's generator.
RandomStates::DeviceState RandomStates::device(std::size_t i) const {
  return i < devices_.size() ? devices_[i] : DeviceState{cpu_.current_seed(), 0};
}

bool RandomStates::are_current() const {
  bool same = [&] {
    const Generator::State &now = default_generator().state(), &then = cpu_.state();
    const std::lock_guard lock(now.mutex);
    return now.engine == then.engine && now.seed == then.seed && now.next_double == then.next_double &&
           now.next_float == then.next_float;
  }();
  for_each_device([&](const detail::Backend& backend, Device each, std::size_t i) {
    same = same && backend.generator_state(each) == device(i);
  });
  return same;
}

void RandomStates::set() const {
  EBB_CHECK(capture_ == detail::current_capture(),
            "checkpoint: the function draws random numbers, and only one of its two runs belongs to the CUDA "
            "graph that is captured. Capture the forward pass and the backward pass in one graph.");
  detail::not_replayed("random numbers are drawn again from an earlier state of the generator");
  default_generator().set_state(cpu_);
  for_each_device([&](const detail::Backend& backend, Device each, std::size_t i) {
    backend.set_generator_state(each, device(i));
  });
}

}  // namespace ebb::autograd

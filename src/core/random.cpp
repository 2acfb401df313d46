// Generator: PyTorch's Mersenne Twister and its state.
#include <ebb/core/random.h>

#include "core/backend.h"
#include "core/generator_state.h"
#include "core/recorder.h"

#include <random>

namespace ebb {

void Mt19937::reset(std::uint64_t seed) {
  state_[0] = static_cast<std::uint32_t>(seed);
  for (std::uint32_t i = 1; i < kLength; ++i)
    state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  at_ = kLength;
}

namespace {

std::uint64_t entropy() {
  std::random_device device;
  const std::uint64_t high = device();
  // Uses 53 bits, so that a double can store the seed exactly.
  return (high << 32 | device()) & ((std::uint64_t{1} << 53) - 1);
}

}  // namespace

Generator::Generator(std::uint64_t seed) : state_(std::make_shared<State>(seed)) {
  detail::not_replayed("a random generator is created, which generates the same numbers in every call");
}

namespace {
void not_replayed() { detail::not_replayed("the state of a random generator is read or set by the host"); }
}  // namespace

void Generator::set_current_seed(std::uint64_t seed) {
  not_replayed();
  const std::lock_guard lock(state_->mutex);
  state_->engine.reset(seed);
  state_->seed = seed;
  state_->next_double.reset();
  state_->next_float.reset();
}

std::uint64_t Generator::current_seed() const { return state_->seed; }

std::uint64_t Generator::seed() {
  const std::uint64_t value = entropy();
  set_current_seed(value);
  return value;
}

Generator Generator::clone() const {
  Generator copy(0);
  copy.set_state(*this);
  return copy;
}

void Generator::set_state(const Generator& other) {
  if (state_ == other.state_) return;
  not_replayed();
  const std::scoped_lock lock(state_->mutex, other.state_->mutex);
  state_->engine = other.state_->engine;
  state_->seed = other.state_->seed;
  state_->next_double = other.state_->next_double;
  state_->next_float = other.state_->next_float;
}

std::mutex& Generator::mutex() const { return state_->mutex; }
std::uint32_t Generator::random32() {
  not_replayed();
  return state_->engine.next();
}
std::uint64_t Generator::random64() {
  not_replayed();
  return state_->engine.next64();
}
std::optional<double>& Generator::next_double_normal() { return state_->next_double; }
std::optional<float>& Generator::next_float_normal() { return state_->next_float; }

Generator& default_generator() {
  // The generator is never destroyed, because a program may draw random numbers during its shutdown.
  static Generator& generator = []() -> Generator& {
    const detail::RecorderScope not_recorded(nullptr);
    return *new Generator(entropy());
  }();
  return generator;
}

void manual_seed(std::uint64_t seed) {
  default_generator().set_current_seed(seed);
  // A device whose plugin is not loaded yet gets the seed when the plugin is loaded.
  if (const detail::Backend* cuda = detail::loaded_backend(DeviceType::CUDA)) cuda->manual_seed(seed);
}

}  // namespace ebb

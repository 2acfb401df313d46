// get_rng_state and set_rng_state: the states of generators as tensors.
#include <ebb/autograd/rng_state.h>
#include <ebb/core/error.h>

#include "core/backend.h"
#include "core/capture.h"
#include "core/generator_state.h"
#include "core/recorder.h"

#include <bit>
#include <mutex>

namespace ebb {
namespace {

constexpr std::int64_t kWords = 625, kLength = kWords + 5;

Variable longs(std::int64_t n) { return Variable(NdArray::empty({n}, kLong)); }

// Returns the tensor's elements, after a check of its shape and dtype.
const std::int64_t* checked(const Variable& state, std::int64_t length, const Variable& contiguous) {
  EBB_CHECK(state.dim() == 1 && state.numel() == length && state.scalar_type() == kLong,
            "set_rng_state: expected a state of dtype ", DType(kLong), " and shape [", length, "], got ",
            state.scalar_type(), " of shape ", state.sizes(),
            ". Pass a state that get_rng_state() returned for a generator of the same device.");
  return contiguous.data_ptr<std::int64_t>();
}

// Returns the device with an index, after a check that it exists. The host is about to read or set the state
// of its generator, which no replay does again.
Device present(const char* op, Device device) {
  detail::not_replayed("the state of a random generator is read or set by the host");
  EBB_CHECK(!detail::current_capture(), op, ": a CUDA graph is being captured, whose replays would not call ",
            op, ". Call it outside of the capture.");
  const detail::Backend& backend = detail::backend(device.type());
  const int count = backend.device_count();
  EBB_CHECK(device.index() < count, op, ": there is no ", device, "; the number of devices is ", count,
            ". Choose one of them.");
  return device.has_index() ? device : backend.current_device();
}

}  // namespace

Variable get_rng_state(const Generator& generator) {
  detail::not_replayed("the state of a random generator is read by the host");
  const Generator::State& from = generator.state();
  Variable result = longs(kLength);
  auto* to = result.data_ptr<std::int64_t>();
  const std::lock_guard lock(from.mutex);
  for (const std::uint32_t word : from.engine.words()) *to++ = word;
  *to++ = static_cast<std::int64_t>(from.seed);
  *to++ = from.next_double.has_value();
  *to++ = std::bit_cast<std::int64_t>(from.next_double.value_or(0));
  *to++ = from.next_float.has_value();
  *to++ = std::bit_cast<std::int32_t>(from.next_float.value_or(0));
  return result;
}

Variable get_rng_state(Device device) {
  if (device.is_cpu()) return get_rng_state(default_generator());
  const auto [seed, draws] = detail::backend(device.type()).generator_state(present("get_rng_state", device));
  Variable result = longs(2);
  result.data_ptr<std::int64_t>()[0] = static_cast<std::int64_t>(seed);
  result.data_ptr<std::int64_t>()[1] = static_cast<std::int64_t>(draws);
  return result;
}

void set_rng_state(const Variable& state, Generator generator) {
  EBB_CHECK(state.defined(), "set_rng_state: the state is an undefined tensor.");
  const Variable contiguous = state.detach().to(Device::CPU).contiguous();
  const std::int64_t* from = checked(state, kLength, contiguous);
  std::array<std::uint32_t, kWords> words{};
  for (std::uint32_t& word : words) {
    EBB_CHECK(*from >= 0 && *from <= UINT32_MAX, "set_rng_state: the state contains ", *from,
              ", which is not a 32-bit word.");
    word = static_cast<std::uint32_t>(*from++);
  }
  EBB_CHECK(words.back() < kWords, "set_rng_state: the state is invalid: it says that ", words.back(),
            " of 624 words are used.");
  detail::not_replayed("the state of a random generator is set by the host");
  Generator::State& to = generator.state();
  const std::lock_guard lock(to.mutex);
  to.engine.set_words(words);
  to.seed = static_cast<std::uint64_t>(from[0]);
  to.next_double = from[1] ? std::optional(std::bit_cast<double>(from[2])) : std::nullopt;
  to.next_float =
      from[3] ? std::optional(std::bit_cast<float>(static_cast<std::int32_t>(from[4]))) : std::nullopt;
}

void set_rng_state(const Variable& state, Device device) {
  if (device.is_cpu()) return set_rng_state(state, default_generator());
  EBB_CHECK(state.defined(), "set_rng_state: the state is an undefined tensor.");
  const Variable contiguous = state.detach().to(Device::CPU).contiguous();
  const std::int64_t* from = checked(state, 2, contiguous);
  detail::backend(device.type())
      .set_generator_state(present("set_rng_state", device),
                           {static_cast<std::uint64_t>(from[0]), static_cast<std::uint64_t>(from[1])});
}

}  // namespace ebb

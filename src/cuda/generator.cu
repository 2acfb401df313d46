// The random generators of the devices. Each consists of a seed and a counter of draws, also within captured
// graphs.
#include <ebb/core/ndarray.h>

#include "core/capture.h"
#include "core/generator_state.h"
#include "cuda/captured_graph.h"
#include "kernel/cuda/device.h"
#include "kernel/cuda/launch.h"

#include <array>
#include <mutex>

namespace ebb::cuda {

/// The Philox state that a graph's kernels read. The host writes it before each replay.
struct GraphDraws {
  explicit GraphDraws(Device device) : words(ebb::detail::Capture::array({2}, kLong, device)) {}
  NdArray words;  // {seed, number of the first draw}
  std::uint64_t count = 0;
};

namespace {

struct Generators {
  std::mutex mutex;
  // The seed and the number of draws of each device's generator. All are seeded together, but restored
  // separately.
  std::array<std::uint64_t, kMaxDevices> seed, calls{};

  Generators() { seed.fill(default_generator().current_seed()); }
};

Generators& generators() {
  static Generators all;
  return all;
}

// Returns the next `count` draws of a device's own generator. Devices have independent sequences.
Philox draw_default(Device device, std::uint64_t count) {
  Generators& all = generators();
  const std::lock_guard lock(all.mutex);
  const auto i = static_cast<std::size_t>(device.index());
  std::uint64_t& calls = all.calls[i];
  const Philox first{all.seed[i], static_cast<std::uint64_t>(device.index()) << 56 | calls};
  calls += count;
  return first;
}

Philox draw_from(Generator& generator) {
  const std::lock_guard lock(generator.mutex());
  return {generator.random64(), 0};
}

// The values are passed as kernel arguments. With a copy instead, the host would have to keep the source
// until the device has read it.
__global__ void write_words(std::uint64_t* to, std::uint64_t seed, std::uint64_t call) {
  to[0] = seed;
  to[1] = call;
}

void write(const GraphDraws& draws, const Philox& from) {
  launch_independent(draws.words.device(), {dim3(1), dim3(1)}, &write_words,
                     draws.words.address_as<std::uint64_t>(), from.seed, from.call);
}

// Returns the Philox state of a draw in a capture. Each replay then draws the numbers that the program would
// draw without a graph.
Philox captured_philox(GraphMemory& graph, Device device, Generator& generator, bool is_default) {
  ebb::detail::Capture& capture = *ebb::detail::current_capture();
  if (!is_default) {
    const auto draws = std::make_shared<GraphDraws>(device);
    capture.before_replay([draws, generator]() mutable { write(*draws, draw_from(generator)); });
    return {0, 0, draws->words.address_as<std::uint64_t>()};
  }
  std::shared_ptr<GraphDraws>& draws = graph.draws[static_cast<std::size_t>(device.index())];
  if (!draws) {
    draws = std::make_shared<GraphDraws>(device);
    capture.before_replay([device, draws = draws] { write(*draws, draw_default(device, draws->count)); });
  }
  return {0, draws->count++, draws->words.address_as<std::uint64_t>()};
}

}  // namespace

Philox next_philox(Device device, Generator& generator) {
  const bool is_default = &generator.state() == &default_generator().state();
  if (GraphMemory* const graph = thread_state().capture) [[unlikely]]
    return captured_philox(*graph, device, generator, is_default);
  return is_default ? draw_default(device, 1) : draw_from(generator);
}

void seed_generators(std::uint64_t seed) {
  Generators& all = generators();
  const std::lock_guard lock(all.mutex);
  all.seed.fill(seed);
  all.calls.fill(0);
}

// Within a capture, the state is the number of draws in the graph.
std::array<std::uint64_t, 2> generator_state_of(Device device) {
  const auto i = static_cast<std::size_t>(device.index());
  if (const GraphMemory* const graph = thread_state().capture)
    return {0, graph->draws[i] ? graph->draws[i]->count : 0};
  Generators& all = generators();
  const std::lock_guard lock(all.mutex);
  return {all.seed[i], all.calls[i]};
}

void set_generator_state_of(Device device, std::array<std::uint64_t, 2> state) {
  const auto i = static_cast<std::size_t>(device.index());
  if (const GraphMemory* const graph = thread_state().capture) {
    if (graph->draws[i]) graph->draws[i]->count = state[1];
    return;
  }
  Generators& all = generators();
  const std::lock_guard lock(all.mutex);
  all.seed[i] = state[0];
  all.calls[i] = state[1];
}

}  // namespace ebb::cuda

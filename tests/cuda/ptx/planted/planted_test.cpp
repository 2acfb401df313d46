// Runs kernels with planted mistakes, compiled by nvcc: the interpreter must report each mistake, and nothing
// for correct kernels.
#include "cuda/ptx/interpreter/interpreter.h"
#include "support/catch.h"

#include <fstream>
#include <numeric>
#include <sstream>

namespace ebb::ptx {
namespace {

constexpr unsigned kThreads = 256;

std::string planted_kernels() {
  std::ifstream file(EBB_PLANTED_PTX);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Settings settings_in(Order order) {
  Settings settings;
  settings.order = order;
  settings.most_steps = 1'000'000;
  return settings;
}

// A device with an input array and an unwritten output.
struct Device {
  GlobalMemory memory;
  std::vector<float> in = std::vector<float>(kThreads), out = std::vector<float>(kThreads);
  std::vector<Finding> findings;
  std::shared_ptr<Module> module = load(planted_kernels());
  Interpreter interpreter;

  explicit Device(Order order = Order::forward)
      : interpreter(memory, settings_in(order),
                    [this](const Finding& finding) { findings.push_back(finding); }) {
    std::iota(in.begin(), in.end(), 0.0F);
    memory.add_device(in.data(), in.size() * sizeof(float));
    memory.mark_written(in.data(), in.size() * sizeof(float));
    memory.add_device(out.data(), out.size() * sizeof(float));
  }
  Status run(const std::string& name, std::vector<const void*> pointers, unsigned threads = kThreads,
             unsigned blocks = 1, std::size_t shared = 0) {
    Entry* const entry = find_entry(*module, name);
    REQUIRE(entry != nullptr);
    return interpreter.run(*entry, {{blocks, 1, 1}, {threads, 1, 1}, shared},
                           std::as_bytes(std::span(pointers)));
  }
  bool found(const std::string& text) const {
    for (const Finding& finding : findings)
      if (finding.text.find(text) != finding.text.npos) return true;
    return false;
  }
};

struct Mistake {
  const char* kernel;
  const char* finding;
  unsigned threads = kThreads, blocks = 1;
  std::size_t shared = 0;
  Status status = Status::success;
};

const Mistake kMistakes[] = {
    {"missing_barrier", "A race inside a block (no barrier) in shared memory"},
    {"missing_second_barrier", "A race inside a block (no barrier) in shared memory"},
    {"missing_syncwarp", "A hazard inside a warp (no __syncwarp) in shared memory", 32},
    {"divergent_barrier", "The lanes of a warp wait at different places for ever", kThreads, 1, 0,
     Status::deadlock},
    {"divergent_shuffle", "The lanes of a warp wait at different places for ever", kThreads, 1, 0,
     Status::deadlock},
    {"shuffle_from_inactive", "A shuffle reads lane 16, which is inactive", 32},
    {"one_beyond_the_end", "at byte 1024 of 1024 of the one before", kThreads, 1, 0, Status::illegal_address},
    {"one_before_the_start", "A read of 4 bytes outside of any allocation", kThreads, 1, 0,
     Status::illegal_address},
    {"beyond_shared_memory", "An access of shared memory out of bounds", kThreads, 1, 512,
     Status::illegal_address},
    {"misaligned_vector", "A misaligned access of 16 bytes", 32, 1, 0, Status::misaligned_address},
    {"unwritten_shared", "A read of unwritten shared memory: byte 28 of 1024"},
    {"unwritten_global", "A read of unwritten global memory"},
    {"race_between_blocks", "A race between blocks in global memory", kThreads, 2},
    {"race_in_global_memory", "A race inside a block (no barrier) in global memory"},
};

TEST_CASE("the interpreter reports each planted mistake in all warp orders") {
  for (const Order order : {Order::forward, Order::reverse, Order::shuffled}) {
    for (const Mistake& mistake : kMistakes) {
      Device device(order);
      CAPTURE(mistake.kernel, static_cast<int>(order));
      const Status status = device.run(mistake.kernel, {device.out.data(), device.in.data()}, mistake.threads,
                                       mistake.blocks, mistake.shared);
      CHECK(status == mistake.status);
      CHECK(device.found(mistake.finding));
      CHECK(device.interpreter.findings() > 0);
    }
  }
}

TEST_CASE("the interpreter reports nothing for correct kernels, and their results are right") {
  for (const Order order : {Order::forward, Order::reverse, Order::shuffled}) {
    Device device(order);
    CHECK(device.run("right_sum", {device.out.data(), device.in.data()}) == Status::success);
    CHECK(device.out[0] == 32640);
    CHECK(device.run("right_blocks", {device.out.data(), device.in.data()}, kThreads, 3) == Status::success);
    CHECK(device.run("right_exchange", {device.out.data(), device.in.data()}, 32) == Status::success);
    CHECK(device.out[5] == 26);
    CHECK(device.run("right_within_bounds", {device.out.data()}, 128) == Status::success);
    unsigned count = 0;
    device.memory.add_host(&count, sizeof count);
    CHECK(device.run("right_count", {&count}, kThreads, 4) == Status::success);
    CHECK(count == 4 * kThreads);
    CHECK(device.interpreter.findings() == 0);
  }
}

TEST_CASE("a counter without atomics is reported as a race") {
  Device device;
  device.memory.mark_written(device.out.data(), sizeof(unsigned));
  device.run("count_without_atomics", {device.out.data()}, 1, 2);
  CHECK(device.found("A race between blocks in global memory"));
}

TEST_CASE("an endless kernel is stopped and a trap is reported") {
  Device device;
  std::vector<unsigned> flag(1);
  device.memory.add_device(flag.data(), sizeof(unsigned));
  device.memory.mark_written(flag.data(), sizeof(unsigned));
  CHECK(device.run("endless", {flag.data()}, 32) == Status::timeout);
  CHECK(device.run("trap", {device.in.data()}, 32) == Status::launch_failure);
  CHECK(device.found("trap"));
}

TEST_CASE("launches beyond the limits of a device are refused") {
  Device device;
  Entry& bounded = *find_entry(*device.module, "right_within_bounds");
  CHECK(refusal(bounded, {{1, 1, 1}, {128, 1, 1}}).empty());
  CHECK(refusal(bounded, {{1, 1, 1}, {129, 1, 1}}).find("launch bounds") != std::string::npos);
  Entry& any = *find_entry(*device.module, "right_count");
  CHECK(refusal(any, {{1, 1, 1}, {1024, 1, 1}}).empty());
  CHECK_FALSE(refusal(any, {{1, 1, 1}, {1025, 1, 1}}).empty());
  CHECK_FALSE(refusal(any, {{1, 65536, 1}, {32, 1, 1}}).empty());
  CHECK_FALSE(refusal(any, {{0, 1, 1}, {32, 1, 1}}).empty());
  CHECK_FALSE(refusal(any, {{1, 1, 1}, {32, 1, 1}, std::size_t{228} << 10}).empty());
}

}  // namespace
}  // namespace ebb::ptx

// Memory reports and limits of device allocators.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <string_view>

using namespace ebb;
using nlohmann::json;
using support::Contains;

namespace {

const TensorOptions kOnCuda(Device::CUDA);

std::size_t sum_of(const json& segments, const char* what) {
  std::size_t total = 0;
  for (const json& segment : segments)
    if (segment["device"] == 0) total += segment[what].get<std::size_t>();
  return total;
}

}  // namespace

TEST_CASE("a memory snapshot agrees with memory_stats including graphs", "[caching]") {
  const Tensor x = ones({1000}, kOnCuda), y = ones({3 << 20}, kOnCuda);
  Tensor z;
  cuda::Graph graph;
  graph.capture([&] { z = (x * 2) + 1; });
  cuda::synchronize();
  const json snapshot = json::parse(cuda::memory_snapshot());
  const MemoryStats stats = cuda::memory_stats();
  CHECK(sum_of(snapshot["segments"], "total_size") == stats.current + stats.cached);
  CHECK(sum_of(snapshot["segments"], "allocated_size") == stats.current);
  CHECK(snapshot["device_traces"].size() == cuda::device_count());
  bool captured = false;
  for (const json& segment : snapshot["segments"]) captured |= segment["segment_pool_id"][1] != 0;
  CHECK(captured);
  CHECK(snapshot["allocator_settings"]["per_process_memory_fraction"].size() == cuda::device_count());
}

TEST_CASE("the memory history contains allocation and release of a tensor", "[caching]") {
  cuda::record_memory_history();
  {
    const Tensor x = ones({100}, kOnCuda);
  }
  const json events = json::parse(cuda::memory_snapshot())["device_traces"][0];
  cuda::record_memory_history(0);
  std::vector<std::string> names;
  for (const json& event : events)
    if (event["action"] != "segment_alloc" && event["action"] != "segment_map")
      names.push_back(event["action"]);
  CHECK(names == std::vector<std::string>{"alloc", "free_requested", "free_completed", "snapshot"});
  CHECK(json::parse(cuda::memory_snapshot())["device_traces"][0].empty());
}

TEST_CASE("set_per_process_memory_fraction limits the memory of a device", "[two_devices]") {
  cuda::empty_cache();
  const std::size_t total = cuda::get_device_properties(0).total_memory;
  CHECK(cuda::get_per_process_memory_fraction() == 1);
  struct Restore {
    ~Restore() { cuda::set_per_process_memory_fraction(1, 0); }
  } restore;
  const auto taken = static_cast<double>(cuda::memory_stats().current) / static_cast<double>(total);
  cuda::set_per_process_memory_fraction(taken + 0.1, 0);
  CHECK(cuda::get_per_process_memory_fraction(0) == taken + 0.1);
  CHECK_THROWS_WITH(empty({static_cast<std::int64_t>(total / 8)}, kOnCuda.dtype(kByte)),
                    Contains("out of memory on cuda:0") && Contains("set_per_process_memory_fraction"));
  const Tensor small = ones({100}, kOnCuda);
  CHECK(small.sum().item<float>() == 100);
  if (cuda::device_count() > 1)  // other devices are not affected
    CHECK(cuda::get_per_process_memory_fraction(1) == 1);
}

TEST_CASE("set_per_process_memory_fraction refuses values outside 0 to 1") {
  for (const double fraction : {-0.1, 1.1, std::nan("")})
    CHECK_THROWS_WITH(cuda::set_per_process_memory_fraction(fraction, 0),
                      Contains("set_per_process_memory_fraction") && Contains("between 0 and 1"));
  CHECK_THROWS_WITH(cuda::set_per_process_memory_fraction(0.5, 99),
                    Contains("99") && Contains("out of range"));
  CHECK_THROWS_WITH(cuda::set_allocator_settings("no_such_option:True"), Contains("no_such_option"));
}

TEST_CASE("training with expandable segments gives equal results") {
  const auto trained = [] {
    manual_seed(5);
    nn::Sequential net(nn::Linear(20, 300), nn::ReLU(), nn::Linear(300, 5));
    net->to(Device::CUDA);
    optim::SGD optimizer(net->parameters(), 0.1);
    for (int step = 0; step < 4; ++step) {
      optimizer.zero_grad();
      const Tensor x = ones({100 * (step + 1), 20}, kOnCuda);  // changing sizes
      net->forward(x).square().mean().backward();
      optimizer.step();
    }
    return net->parameters()[0].detach().cpu();
  };
  const Tensor first = trained();
  cuda::empty_cache();
  CHECK(equal(trained(), first));
  const char* const wanted = std::getenv("EBB_CUDA_ALLOC_CONF");
  if (!wanted || std::string_view(wanted) != "expandable_segments:True") return;
  const Tensor x = ones({10}, kOnCuda);
  const json snapshot = json::parse(cuda::memory_snapshot());
  const char* const supported = std::getenv("EBB_EMU_VIRTUAL_MEMORY");
  const bool expandable = !supported || std::string_view(supported) != "0";
  CHECK(snapshot["allocator_settings"]["expandable_segments"] == expandable);
  for (const json& segment : snapshot["segments"]) CHECK(segment["is_expandable"] == expandable);
}

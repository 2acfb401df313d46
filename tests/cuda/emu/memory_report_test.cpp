// Memory reports of the allocator: limits, snapshots, history.
#include <ebb/core/error.h>

#include "cuda/allocator_settings.h"
#include "cuda/caching_allocator.h"
#include "support/catch.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>

using namespace ebb;
using namespace ebb::cuda;
using nlohmann::json;
using support::Contains;
using Snapshot = ebb::detail::MemorySnapshot;

namespace {

const Device kFirst("cuda:0");
constexpr std::size_t kMiB = std::size_t{1} << 20;

constexpr MemorySource kDriver = {
    [](void** pointer, std::size_t bytes) { return cudaMalloc(pointer, bytes); },
    [](void* pointer) { return cudaFree(pointer); },
    [](std::size_t* free, std::size_t* total) { return cudaMemGetInfo(free, total); }};

json described(CachingAllocator& allocator) {
  Snapshot snapshot;
  allocator.describe(snapshot);
  snapshot.events.push_back(allocator.figures().trace.events());
  return json::parse(ebb::detail::to_json(snapshot));
}

std::size_t sum(const json& segments, const char* what) {
  std::size_t total = 0;
  for (const json& segment : segments) total += segment[what].get<std::size_t>();
  return total;
}

// Checks that blocks are adjacent without gaps and add up to the size of their segment.
void check_consistent(const json& snapshot, const MemoryStats& stats) {
  for (const json& segment : snapshot["segments"]) {
    std::size_t at = segment["address"], allocated = 0, active = 0;
    for (const json& block : segment["blocks"]) {
      CHECK(block["address"] == at);
      at += block["size"].get<std::size_t>();
      if (block["state"] == "active_allocated") allocated += block["size"].get<std::size_t>();
      if (block["state"] != "inactive") active += block["size"].get<std::size_t>();
      CHECK(block["requested_size"] <= block["size"]);
      CHECK(block["frames"].is_array());
    }
    CHECK(at == segment["address"].get<std::size_t>() + segment["total_size"].get<std::size_t>());
    CHECK(segment["allocated_size"] == allocated);
    CHECK(segment["active_size"] == active);
  }
  CHECK(sum(snapshot["segments"], "total_size") == stats.current + stats.cached);
  CHECK(sum(snapshot["segments"], "allocated_size") == stats.current);
}

std::vector<std::string> actions(const json& snapshot) {
  std::vector<std::string> names;
  for (const json& event : snapshot["device_traces"][0]) names.push_back(event["action"]);
  return names;
}

}  // namespace

TEST_CASE("a memory snapshot lists the current segments and blocks") {
  for (const bool expandable : {false, true}) {
    CachingAllocator allocator(kDriver, kFirst, expandable);
    MemoryBlock* const small = allocator.allocate(700, nullptr);
    MemoryBlock* const large = allocator.allocate(3 * kMiB, nullptr);
    MemoryBlock* const aside = allocator.allocate(100, nullptr);
    allocator.free(aside);
    const json snapshot = described(allocator);
    check_consistent(snapshot, allocator.stats());
    REQUIRE(snapshot["segments"].size() == 2);
    for (const json& segment : snapshot["segments"]) {
      const bool is_small = segment["segment_type"] == "small";
      CHECK(segment["is_expandable"] == expandable);
      CHECK(segment["device"] == 0);
      CHECK(segment["stream"] == 0);
      CHECK(segment["segment_pool_id"] == json({0, 0}));
      REQUIRE(segment["blocks"].size() == 2);
      const json& used = segment["blocks"][0];
      CHECK(used["address"] == reinterpret_cast<std::uintptr_t>((is_small ? small : large)->data));
      CHECK(used["state"] == "active_allocated");
      CHECK(used["requested_size"] == (is_small ? 700 : 3 * kMiB));
      CHECK(segment["blocks"][1]["state"] == "inactive");
    }
    allocator.free(small);
    allocator.free(large);
    allocator.empty_cache();
    CHECK(described(allocator)["segments"].empty());
  }
}

TEST_CASE("a memory snapshot splits an expandable segment at unmapped memory") {
  CachingAllocator allocator(kDriver, kFirst, true);
  MemoryBlock* blocks[3];
  for (MemoryBlock*& block : blocks) block = allocator.allocate(20 * kMiB, nullptr);
  allocator.free(blocks[1]);
  allocator.empty_cache();
  const json snapshot = described(allocator);
  CHECK(snapshot["segments"].size() == 2);
  check_consistent(snapshot, allocator.stats());
  allocator.free(blocks[0]);
  allocator.free(blocks[2]);
  allocator.empty_cache();
}

TEST_CASE("a memory snapshot attributes graph memory to its pool") {
  CachingAllocator allocator(kDriver, kFirst);
  MemoryBlock* const own = allocator.allocate(100, nullptr);
  auto graphs = std::make_unique<CachingAllocator>(kDriver, allocator, 7);
  MemoryBlock* const captured = graphs->allocate(200, nullptr);
  const json snapshot = described(allocator);
  check_consistent(snapshot, allocator.stats());
  REQUIRE(snapshot["segments"].size() == 2);
  CHECK(snapshot["segments"][0]["segment_pool_id"] == json({0, 0}));
  CHECK(snapshot["segments"][1]["segment_pool_id"] == json({0, 7}));
  CachingAllocator::retire(std::move(graphs));
  CHECK(described(allocator)["segments"].size() == 2);
  captured->owner->free(captured);
  CHECK(described(allocator)["segments"].size() == 1);
  allocator.free(own);
  allocator.empty_cache();
}

TEST_CASE("memory that was freed in a capture stays with the graph even if the device is full") {
  CachingAllocator allocator(kDriver, kFirst);
  std::size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  auto graphs = std::make_unique<CachingAllocator>(kDriver, allocator, 1);
  graphs->free(graphs->allocate(40 * kMiB, nullptr));
  CHECK_THROWS_WITH(graphs->allocate(free, nullptr), Contains("out of memory"));
  CHECK(allocator.stats().cached == 40 * kMiB);
  CachingAllocator::retire(std::move(graphs));
  CHECK(allocator.stats().cached == 0);
}

TEST_CASE("a memory snapshot marks blocks in use on another stream as pending") {
  cudaStream_t side = nullptr;
  cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
  CachingAllocator allocator(kDriver, kFirst);
  allocator.figures().trace.start(100);
  cudaStreamBeginCapture(side, cudaStreamCaptureModeRelaxed);  // the runtime cannot tell whether it is done
  MemoryBlock* const block = allocator.allocate(100, nullptr);
  allocator.record_use(block, {kFirst, side});
  allocator.free(block);
  const json pending = described(allocator);
  CHECK(pending["segments"][0]["blocks"][0]["state"] == "active_pending_free");
  CHECK(pending["segments"][0]["active_size"] == 512);
  CHECK(pending["segments"][0]["allocated_size"] == 0);
  CHECK(actions(pending) == std::vector<std::string>{"segment_alloc", "alloc", "free_requested"});
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(side, &graph);
  cudaGraphDestroy(graph);
  allocator.empty_cache();
  CHECK(actions(described(allocator)) == std::vector<std::string>{"segment_alloc", "alloc", "free_requested",
                                                                  "free_completed", "segment_free"});
  cudaStreamDestroy(side);
}

TEST_CASE("the memory history contains the last events in order with their details") {
  CachingAllocator allocator(kDriver, kFirst);
  allocator.free(allocator.allocate(100, nullptr));
  CHECK(described(allocator)["device_traces"][0].empty());  // off by default
  allocator.figures().trace.start(3);
  MemoryBlock* const block = allocator.allocate(300, nullptr);
  const auto place = reinterpret_cast<std::uintptr_t>(block->data);
  allocator.free(block);
  CHECK_THROWS_AS(allocator.allocate(std::size_t{1} << 40, nullptr), Error);
  const json events = described(allocator)["device_traces"][0];
  REQUIRE(events.size() == 3);
  CHECK(events[0]["action"] == "free_completed");
  CHECK(events[0]["addr"] == place);
  CHECK(events[0]["size"] == 300);
  CHECK(events[1]["action"] == "segment_free");  // freed before the request failed
  CHECK(events[2]["action"] == "oom");
  CHECK(events[2]["size"] == std::size_t{1} << 40);
  CHECK(events[2].contains("device_free"));
  CHECK(events[0]["time_us"] <= events[2]["time_us"]);
  CHECK(events[2]["frames"].is_array());
  allocator.figures().trace.start(0);
  CHECK(described(allocator)["device_traces"][0].empty());
}

TEST_CASE("the memory history contains maps and unmaps of expandable segments") {
  CachingAllocator allocator(kDriver, kFirst, true);
  allocator.figures().trace.start(100);
  allocator.free(allocator.allocate(5 * kMiB, nullptr));
  allocator.empty_cache();
  const json snapshot = described(allocator);
  CHECK(actions(snapshot) == std::vector<std::string>{"segment_map", "alloc", "free_requested",
                                                      "free_completed", "segment_unmap"});
  CHECK(snapshot["device_traces"][0][0]["size"] == 20 * kMiB);
  CHECK(snapshot["device_traces"][0][4]["size"] == 20 * kMiB);
}

TEST_CASE("cached blocks count toward the memory limit and are freed before a request fails") {
  for (const bool expandable : {false, true}) {
    CachingAllocator allocator(kDriver, kFirst, expandable);
    allocator.figures().limit = 100 * kMiB;
    allocator.figures().fraction = 0.25;
    MemoryBlock* const a = allocator.allocate(40 * kMiB, nullptr);
    allocator.free(allocator.allocate(60 * kMiB, nullptr));
    MemoryBlock* const b = allocator.allocate(60 * kMiB, nullptr);
    CHECK(allocator.stats().current == 100 * kMiB);
    CHECK_THROWS_WITH(allocator.allocate(kMiB, nullptr),
                      Contains("out of memory on cuda:0") && Contains("ebb may use 100 MiB") &&
                          Contains("set_per_process_memory_fraction(0.25)"));
    allocator.free(b);
    CachingAllocator graphs(kDriver, allocator, 1);  // counted together
    CHECK_THROWS_WITH(graphs.allocate(80 * kMiB, nullptr), Contains("ebb may use 100 MiB"));
    MemoryBlock* const captured = graphs.allocate(60 * kMiB, nullptr);
    CHECK(allocator.stats().current == 100 * kMiB);
    allocator.free(a);
    graphs.free(captured);
    graphs.empty_cache();
    allocator.empty_cache();
    CHECK(allocator.stats().cached == 0);
  }
}

TEST_CASE("allocator options are parsed from text") {
  AllocatorSettings settings;
  const auto set = [&](const char* text) { read_settings(settings, "here", text); };
  set("expandable_segments:True");
  CHECK(settings.expandable_segments);
  set(" expandable_segments : false ,");
  CHECK_FALSE(settings.expandable_segments);
  set("");
  CHECK_THROWS_WITH(set("expandable_segments:maybe"),
                    Contains("here: expandable_segments") && Contains("maybe"));
  CHECK_THROWS_WITH(set("max_split_size_mb:100"), Contains("no option 'max_split_size_mb'"));
  CHECK_THROWS_WITH(set("expandable_segments"), Contains("must be True or False"));
  settings.async = true;
  CHECK_THROWS_WITH(set("expandable_segments:True"), Contains("EBB_CUDA_ALLOCATOR=async"));
}

TEST_CASE("changing allocator options after the first allocation is an error") {
  final_allocator_settings();
  CHECK_THROWS_WITH(change_allocator_settings("expandable_segments:True"),
                    Contains("cuda::set_allocator_settings") && Contains("in use already"));
}

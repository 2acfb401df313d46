// Converts a memory snapshot to JSON in PyTorch's format.
#include "core/memory_snapshot.h"

#include <nlohmann/json.hpp>

#include <array>

namespace ebb::detail {
namespace {

using Json = nlohmann::ordered_json;
using Snapshot = MemorySnapshot;

const char* name_of(Snapshot::Block::State state) {
  constexpr std::array kNames = {"active_allocated", "active_pending_free", "inactive"};
  return kNames[static_cast<std::size_t>(state)];
}
const char* name_of(Snapshot::Action action) {
  constexpr std::array kNames = {"alloc",        "free_requested", "free_completed", "segment_alloc",
                                 "segment_free", "segment_map",    "segment_unmap",  "oom",
                                 "snapshot"};
  return kNames[static_cast<std::size_t>(action)];
}

Json json_of(const Snapshot::Segment& segment) {
  std::size_t total = 0, allocated = 0, active = 0, requested = 0;
  Json blocks = Json::array();
  for (const Snapshot::Block& block : segment.blocks) {
    total += block.bytes;
    if (block.state == Snapshot::Block::State::allocated) allocated += block.bytes;
    if (block.state != Snapshot::Block::State::inactive) {
      active += block.bytes;
      requested += block.requested;
    }
    blocks.push_back({{"address", block.address},
                      {"size", block.bytes},
                      {"requested_size", block.requested},
                      {"state", name_of(block.state)},
                      {"frames", Json::array()}});
  }
  return {{"device", segment.device},
          {"address", segment.blocks.empty() ? 0 : segment.blocks.front().address},
          {"total_size", total},
          {"allocated_size", allocated},
          {"active_size", active},
          {"requested_size", requested},
          {"stream", segment.stream},
          {"segment_type", segment.small ? "small" : "large"},
          {"segment_pool_id", {0, segment.pool}},
          {"is_expandable", segment.expandable},
          {"frames", Json::array()},
          {"blocks", std::move(blocks)}};
}

Json json_of(const Snapshot::Event& event) {
  const char* const address = event.action == Snapshot::Action::oom ? "device_free" : "addr";
  return {{"action", name_of(event.action)}, {address, event.address},        {"size", event.bytes},
          {"stream", event.stream},          {"time_us", event.microseconds}, {"frames", Json::array()}};
}

template <class T>
Json list_of(const std::vector<T>& items) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(json_of(item));
  return list;
}

}  // namespace

std::string to_json(const MemorySnapshot& snapshot) {
  Json traces = Json::array();
  for (const auto& events : snapshot.events) traces.push_back(list_of(events));
  return Json{{"segments", list_of(snapshot.segments)},
              {"device_traces", std::move(traces)},
              {"allocator_settings",
               {{"expandable_segments", snapshot.expandable_segments},
                {"per_process_memory_fraction", snapshot.fractions}}},
              {"external_annotations", Json::array()}}
      .dump();
}

}  // namespace ebb::detail

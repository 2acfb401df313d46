// Parses and stores the settings of the device allocators.
#include "cuda/allocator_settings.h"

#include <ebb/core/environment.h>
#include <ebb/core/error.h>

#include <algorithm>
#include <mutex>
#include <string>

namespace ebb::cuda {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool truth(std::string_view origin, std::string_view name, std::string_view value) {
  EBB_CHECK(value == "True" || value == "true" || value == "False" || value == "false", origin, ": ", name,
            " is '", std::string(value), "' and must be True or False.");
  return value == "True" || value == "true";
}

void check_combination(const AllocatorSettings& settings, std::string_view origin) {
  EBB_CHECK(!settings.async || !settings.expandable_segments, origin,
            ": expandable_segments is an option of ebb's own allocator, but EBB_CUDA_ALLOCATOR=async selects "
            "the driver's. Remove one of the two settings.");
}

bool async_wanted() {
  const char* const name = ebb::detail::environment("EBB_CUDA_ALLOCATOR");
  if (!name || std::string_view(name) == "caching") return false;
  EBB_CHECK(std::string_view(name) == "async", "EBB_CUDA_ALLOCATOR=", name, " is neither caching nor async.");
  return true;
}

struct Shared {
  std::mutex mutex;
  bool read = false, final = false;
  AllocatorSettings settings;

  // The environment's settings are used until a call changes them. If they are invalid, every call of get()
  // throws.
  AllocatorSettings& get() {
    if (read) return settings;
    AllocatorSettings found;
    found.async = async_wanted();
    if (const char* const text = ebb::detail::environment("EBB_CUDA_ALLOC_CONF"))
      read_settings(found, "EBB_CUDA_ALLOC_CONF", text);
    settings = found;
    read = true;
    return settings;
  }
};

Shared& shared() {
  static auto* const s = new Shared;  // never destroyed: tensors in static variables are freed last
  return *s;
}

}  // namespace

// Parses "name:value,name:value", the format of PYTORCH_CUDA_ALLOC_CONF.
void read_settings(AllocatorSettings& settings, std::string_view origin, std::string_view text) {
  while (!trimmed(text).empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t colon = std::min(item.find(':'), item.size());
    const std::string_view name = trimmed(item.substr(0, colon));
    const std::string_view value = trimmed(item.substr(std::min(colon + 1, item.size())));
    EBB_CHECK(name == "expandable_segments", origin, ": there is no option '", std::string(name),
              "'. The only option is expandable_segments:True.");
    settings.expandable_segments = truth(origin, name, value);
  }
  check_combination(settings, origin);
}

AllocatorSettings allocator_settings() {
  const std::lock_guard lock(shared().mutex);
  return shared().get();
}

AllocatorSettings final_allocator_settings() {
  const std::lock_guard lock(shared().mutex);
  const AllocatorSettings settings = shared().get();
  shared().final = true;
  return settings;
}

void change_allocator_settings(std::string_view text) {
  constexpr std::string_view kOrigin = "cuda::set_allocator_settings";
  const std::lock_guard lock(shared().mutex);
  AllocatorSettings changed = shared().get();
  read_settings(changed, kOrigin, text);
  EBB_CHECK(!shared().final, kOrigin,
            ": the allocators are in use already. Call it before the first tensor of Device::CUDA, "
            "or set EBB_CUDA_ALLOC_CONF in the environment.");
  shared().settings = changed;
}

}  // namespace ebb::cuda

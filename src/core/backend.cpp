// The registry of device backends, and the loader of their plugins.
#include "core/backend.h"

#include <ebb/core/environment.h>

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string_view>
#include <vector>

namespace ebb::detail {
namespace {

struct Slot {
  std::atomic<const Backend*> backend{nullptr};
  std::mutex loading;
  const std::string* failure = nullptr;  // if set: why loading failed; loading is not tried again
};

Slot& slot_of(DeviceType type) {
  // The slots are never destroyed, because tensors in static variables are freed after all other objects of
  // this library.
  static Slot* const slots = new Slot[kDeviceTypes];
  return slots[static_cast<int>(type)];
}

}  // namespace

const Backend* loaded_backend(DeviceType type) noexcept {
  return slot_of(type).backend.load(std::memory_order_acquire);
}

void set_backend(DeviceType type, const Backend* backend) {
  slot_of(type).backend.store(backend, std::memory_order_release);
}

const Backend& backend(DeviceType type) {
  if (const Backend* loaded = loaded_backend(type)) [[likely]]
    return *loaded;
  EBB_CHECK(type != DeviceType::CPU,
            "the CPU has no backend; its memory and kernels are part of the library.");
  Slot& slot = slot_of(type);
  const std::lock_guard lock(slot.loading);
  if (!slot.failure && !loaded_backend(type)) {
    std::string what = load_plugin(type);
    if (what.empty() && !loaded_backend(type))
      what = "Device::CUDA: its plugin registered no backend. Reinstall ebb.";
    if (!what.empty()) slot.failure = new std::string(std::move(what));
  }
  if (slot.failure) fail(*slot.failure);
  return *loaded_backend(type);
}

namespace {
constinit std::atomic<bool> side_streams{false};
}
bool side_streams_used() noexcept { return side_streams.load(std::memory_order_relaxed); }
void note_side_stream() noexcept { side_streams.store(true, std::memory_order_relaxed); }

void require_backend(DeviceType type) { backend(type); }

namespace {

constexpr const char* kLibrary = "libebb_cuda.so";

// Returns the folder that this library, or the program that contains it, was loaded from; empty if unknown.
std::string own_folder() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<void*>(&load_plugin), &info) || !info.dli_fname) return {};
  const std::string_view path = info.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string() : std::string(path.substr(0, slash));
}

std::vector<std::string> folders() {
  std::vector<std::string> found;
  if (std::string own = own_folder(); !own.empty()) found.push_back(std::move(own));
  const char* variable = environment("EBB_PLUGIN_PATH");
  for (std::string_view rest = variable ? variable : ""; !rest.empty();) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    if (colon > 0) found.emplace_back(rest.substr(0, colon));
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return found;
}

std::string start(void* library, const std::string& path) {
  const auto entry = reinterpret_cast<PluginEntry>(dlsym(library, kPluginEntry));
  if (!entry)
    return text("Device::CUDA: ", path, " is no plugin of ebb: it has no ", kPluginEntry,
                ". Install the matching one.");
  const char* const problem = entry(kPluginAbi);
  return problem ? text("Device::CUDA: the plugin ", path, " cannot be used: ", problem) : std::string();
}

}  // namespace

std::string load_plugin(DeviceType) {
  // Local symbols keep the libraries of the plugin separate from those of the program.
  constexpr int kMode = RTLD_NOW | RTLD_LOCAL;
  std::string looked;
  for (const std::string& folder : folders()) {
    const std::string path = folder + '/' + kLibrary;
    looked += folder + ", ";
    if (access(path.c_str(), F_OK) != 0) continue;
    if (void* library = dlopen(path.c_str(), kMode)) return start(library, path);
    return text("Device::CUDA: the plugin ", path, " cannot be opened: ", dlerror(),
                ". Install the CUDA runtime libraries that it names.");
  }
  if (void* library = dlopen(kLibrary, kMode)) return start(library, kLibrary);
  return text(
      "Device::CUDA: needs the plugin ", kLibrary, ", which is in none of ", looked,
      "the system's library path. Build ebb with -DEBB_CUDA=ON or install its cuda component, or name the "
      "folder of the plugin in EBB_PLUGIN_PATH; or stay on Device::CPU.");
}

}  // namespace ebb::detail

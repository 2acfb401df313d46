// Kernels by the addresses that launches name, and their launches.
#include "cuda/ptx/runtime/kernels.h"

#include <cstdint>
#include <cstring>
#include <mutex>
#include <set>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "cuda/ptx/runtime/bridge.h"
#include "cuda/ptx/runtime/session.h"

namespace ebb::ptx {
namespace {

constexpr int kInvalidValue = 1;  // of cudaError_t

struct Known {
  std::mutex mutex;
  std::unordered_map<const void*, Kernel*> by_host;
  std::set<const void*> kernels;
};

Known& known() {
  static auto* const all = new Known;  // outlives tensors in static storage
  return *all;
}

// The parameters' values, one behind the other as the entry has them.
std::vector<std::byte> packed(const Entry& entry, void* const* arguments) {
  const std::vector<Parameter>& all = parameters(entry);
  std::vector<std::byte> values(all.empty() ? 0 : all.back().offset + all.back().bytes);
  for (std::size_t i = 0; i < all.size(); ++i)
    std::memcpy(values.data() + all[i].offset, arguments[i], all[i].bytes);
  return values;
}

}  // namespace

Entry& Kernel::entry() {
  const std::lock_guard lock(known().mutex);
  if (!entry_) entry_ = home_->find(name_);
  if (!entry_) throw std::runtime_error("PTX has no entry " + name_);
  return *entry_;
}

void add_kernel(const void* host, std::string name, FatBinary& home) {
  Known& k = known();
  const std::lock_guard lock(k.mutex);
  auto* const kernel = new Kernel(std::move(name), &home);
  k.by_host.emplace(host, kernel);
  k.kernels.insert(kernel);
}

Kernel* find_kernel(const void* host_or_kernel) {
  Known& k = known();
  const std::lock_guard lock(k.mutex);
  if (const auto found = k.by_host.find(host_or_kernel); found != k.by_host.end()) return found->second;
  return k.kernels.contains(host_or_kernel) ? static_cast<Kernel*>(const_cast<void*>(host_or_kernel))
                                            : nullptr;
}

int launch(Kernel& kernel, const Grid& grid, void* const* arguments, CUstream_st* stream) {
  Entry& entry = kernel.entry();
  if (const std::string why = refusal(entry, grid); !why.empty()) {
    print_refusal(kernel.name(), why);
    return set_error(static_cast<int>(Status::invalid_configuration));
  }
  if (grid.dynamic_shared > kernel.most_dynamic_shared()) {
    print_refusal(kernel.name(), "more dynamic shared memory than cudaFuncSetAttribute allowed");
    return set_error(kInvalidValue);
  }
  return enqueue(stream, [&kernel, &entry, grid, values = packed(entry, arguments)] {
    const Status status = run(entry, kernel.name(), grid, values);
    if (status != Status::success) break_device(static_cast<int>(status));
  });
}

}  // namespace ebb::ptx

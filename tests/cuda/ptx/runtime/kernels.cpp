// Kernels by host address, their launches, and the format of fat binaries.
#include "cuda/ptx/runtime/kernels.h"

#include "cuda/ptx/runtime/bridge.h"
#include "cuda/ptx/runtime/session.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

// The format of fat binaries: a header, then pieces with a header each. NVIDIA does not document it;
// fatbinary_section.h of the toolkit contains the wrapper, and the rest is the output of nvcc 12 and 13.

namespace ebb::ptx {
namespace {

struct Wrapper {
  std::int32_t magic, version;
  const char* data;
  void* linked;
};
constexpr std::int32_t kWrapperMagic = 0x466243B1;

// Offsets in bytes.
constexpr std::size_t kHeaderBytesAt = 6, kContentsBytesAt = 8;                 // of the whole
constexpr std::size_t kKindAt = 0, kPieceHeaderBytesAt = 4, kPieceBytesAt = 8;  // of a piece
constexpr std::uint16_t kPtxKind = 1;

template <class T>
T read(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

// The text without its zero padding.
std::string_view text_of(const char* first, std::size_t bytes) {
  const std::string_view piece(first, bytes);
  const std::string_view text = piece.substr(0, piece.find('\0'));
  if (text.find(".version") == text.npos)
    throw std::runtime_error("a fat binary's PTX is compressed: compile by nvcc with --no-compress");
  return text;
}

}  // namespace

FatBinary::FatBinary(const void* wrapper) {
  const auto registered = read<Wrapper>(static_cast<const char*>(wrapper));
  if (registered.magic != kWrapperMagic) throw std::runtime_error("a fat binary begins by another number");
  const char* at = registered.data + read<std::uint16_t>(registered.data + kHeaderBytesAt);
  const char* const end = at + read<std::uint64_t>(registered.data + kContentsBytesAt);
  while (at < end) {
    const auto header_bytes = read<std::uint32_t>(at + kPieceHeaderBytesAt);
    const auto bytes = read<std::uint64_t>(at + kPieceBytesAt);
    if (read<std::uint16_t>(at + kKindAt) == kPtxKind) texts_.push_back(text_of(at + header_bytes, bytes));
    at += header_bytes + bytes;
  }
  if (texts_.empty()) throw std::runtime_error("a fat binary has no PTX: compile by nvcc for compute_90");
}

Entry* FatBinary::find(std::string_view name) {
  const std::lock_guard lock(mutex_);
  while (modules_.size() < texts_.size()) modules_.push_back(load(std::string(texts_[modules_.size()])));
  for (const auto& module : modules_)
    if (Entry* const entry = find_entry(*module, name)) return entry;
  return nullptr;
}

// Kernels by host address, and their launches.

namespace {

constexpr int kInvalidValue = 1;  // a value of cudaError_t

struct Known {
  std::mutex mutex;
  std::unordered_map<const void*, Kernel*> by_host;
  std::set<const void*> kernels;
};

Known& known() {
  static auto* const all = new Known;  // outlives tensors in static storage
  return *all;
}

// The values of the parameters, with the layout of the entry.
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

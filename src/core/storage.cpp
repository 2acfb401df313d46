// Storage: the ownership of memory and its release.
#include <ebb/core/allocator.h>
#include <ebb/core/storage.h>

#include "core/allocator.h"
#include "core/backend.h"
#include "core/recorder.h"

#include <new>
#include <utility>

namespace ebb {
namespace {

// The ownership of the bytes, which determines how they are released.
enum Kind : std::uint8_t { kTogether, kBackend, kPinned, kAdopted, kAlias };  // kAlias: context_ is a Storage
// On the CPU, header and data share one block, so that a small tensor needs one allocation.
constexpr std::size_t kHeader = (sizeof(Storage) + 63) / 64 * 64;

// The memory of a Storage object. It is allocated before the data, and the destructor frees it unless take()
// was called. Nothing leaks if either allocation fails.
class HeaderMemory {
 public:
  HeaderMemory() = default;
  HeaderMemory(const HeaderMemory&) = delete;
  ~HeaderMemory() {
    if (at_) detail::pool_free(at_, sizeof(Storage));
  }
  void* take() { return std::exchange(at_, nullptr); }

 private:
  void* at_ = detail::pool_allocate(sizeof(Storage));
};

}  // namespace

Ref<Storage> Storage::allocate(std::size_t bytes, Device device) {
  if (device.is_cpu()) {
    const detail::Block block = detail::block_allocate(kHeader + bytes);
    auto* s = ::new (block.data) Storage(static_cast<char*>(block.data) + kHeader, bytes, device);
    s->kind_ = kTogether;
    s->block_bytes_ = block.bytes;
    Ref<Storage> made = Ref<Storage>::adopt(s);
    if (detail::recorder()) [[unlikely]]
      detail::storage_allocated(*made);
    return made;
  }
  const detail::Backend& backend = detail::backend(device.type());
  HeaderMemory header;
  const detail::DeviceBlock block = backend.allocate(bytes, device);
  auto* s = ::new (header.take()) Storage(block.data, bytes, block.device);
  s->kind_ = kBackend;
  s->block_bytes_ = block.bytes;
  s->context_ = block.context;
  detail::count_storage(1);
  Ref<Storage> made = Ref<Storage>::adopt(s);
  if (detail::recorder()) [[unlikely]]
    detail::storage_allocated(*made);
  return made;
}

Ref<Storage> Storage::allocate_pinned(std::size_t bytes) {
  HeaderMemory header;
  const detail::DeviceBlock block = detail::backend(kCUDA).allocate_pinned(bytes);
  auto* s = ::new (header.take()) Storage(block.data, bytes, block.device);
  s->kind_ = kPinned;
  s->block_bytes_ = block.bytes;
  s->context_ = block.context;
  detail::count_storage(1);
  return Ref<Storage>::adopt(s);
}

bool Storage::is_pinned() const { return owner()->kind_ == kPinned; }

void Storage::used_on(Device device, void* stream) const {
  if (kind_ == kBackend || kind_ == kPinned)
    detail::backend(kCUDA).record_use({data_, block_bytes_, device_, context_}, device, stream);
  else if (kind_ == kAlias)
    static_cast<const Storage*>(context_)->used_on(device, stream);
}

Ref<Storage> Storage::adopt(void* data, std::size_t bytes, Device device, Deleter deleter, void* context) {
  detail::not_replayed("memory from outside became a tensor (from_blob)");
  auto* s = ::new (detail::pool_allocate(sizeof(Storage))) Storage(data, bytes, device);
  s->kind_ = kAdopted;
  s->deleter_ = deleter;
  s->context_ = context;
  detail::count_storage(1);
  return Ref<Storage>::adopt(s);
}

Ref<Storage> Storage::alias(const Ref<Storage>& other, std::uint32_t version) {
  detail::not_replayed("a tensor got a version counter of its own (data(), set_data())");
  // An alias of an alias refers to the first storage. Otherwise the chain of aliases would become longer with
  // every call.
  Ref<Storage> of = Ref<Storage>::share(const_cast<Storage*>(other->owner()));
  auto* s = ::new (detail::pool_allocate(sizeof(Storage))) Storage(of->data_, of->bytes_, of->device_);
  s->kind_ = kAlias;
  s->set_version(version);
  s->context_ = of.detach();
  detail::count_storage(1);
  return Ref<Storage>::adopt(s);
}

const Storage* Storage::owner() const {
  return kind_ == kAlias ? static_cast<const Storage*>(context_) : this;
}

void Storage::destroy(Storage* s) noexcept {
  if (detail::recordings.load(std::memory_order_relaxed) != 0) [[unlikely]]
    detail::storage_freed(*s);
  if (s->kind_ == kTogether) {
    detail::block_free({s, s->block_bytes_});
    return;
  }
  if (s->kind_ == kBackend || s->kind_ == kPinned)
    detail::backend(kCUDA).free({s->data_, s->block_bytes_, s->device_, s->context_});
  else if (s->kind_ == kAlias)
    static_cast<Storage*>(s->context_)->release();
  else if (s->deleter_)
    s->deleter_(s->context_, s->data_);
  s->~Storage();
  detail::pool_free(s, sizeof(Storage));
  detail::count_storage(-1);
}

}  // namespace ebb

// Allocation failures in the whole program.
#include "scarce/scarce.h"

#include <ebb/core/error.h>

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

extern "C" void* __libc_malloc(std::size_t size);
extern "C" void __libc_free(void* block);

namespace scarce {
namespace {

constinit std::atomic<bool> armed{false}, refuses_all{false}, refused{false};
constinit std::atomic<int> left{0};
constinit std::atomic<bool> rationed{false};
constinit std::atomic<std::ptrdiff_t> given{0};

std::ptrdiff_t size_of(void* block) { return static_cast<std::ptrdiff_t>(::malloc_usable_size(block)); }

void* rationed_malloc(std::size_t size) {
  void* const block = __libc_malloc(size);
  if (!block || !rationed.load()) return block;
  const std::ptrdiff_t bytes = size_of(block);
  if (given.fetch_sub(bytes) >= bytes) return block;
  given += bytes;
  __libc_free(block);
  return nullptr;
}

void counted_free(void* block) {
  if (block && rationed.load()) given += size_of(block);
  __libc_free(block);
}

bool is_refused() {
  if (!armed.load()) return false;
  const int number = left.fetch_sub(1);
  if (number > 0 || (number < 0 && !refuses_all.load())) return false;
  refused.store(true);
  return true;
}

}  // namespace

void fail_allocations(int first, bool all) {
  left = first;
  refuses_all = all;
  refused = false;
  armed = true;
}

void limit_bytes(std::ptrdiff_t bytes) {
  given = bytes;
  rationed = true;
}

bool stop_failing() {
  armed = rationed = false;
  return refused.load();
}

std::string errors_of(const std::function<void()>& prepare, const std::function<void()>& task,
                      const std::function<bool(bool threw)>& check, bool all_as_well) {
  for (const bool all : {false, true}) {
    if (all && !all_as_well) break;
    bool failed = true;
    for (int first = 0; failed; ++first) {
      const std::string at = std::string(all ? "all" : "one") + " from " + std::to_string(first) + ": ";
      prepare();
      bool threw = true, known = true;
      fail_allocations(first, all);
      try {
        task();
        threw = false;
      } catch (const std::bad_alloc&) {
      } catch (const ebb::Error&) {
      } catch (...) {
        known = false;
      }
      failed = stop_failing();
      if (!known) return at + "another exception";
      if (!check(threw)) return at + "the check is false";
      if (first > 20000) return at + "no end";
    }
  }
  return {};
}

}  // namespace scarce

extern "C" [[gnu::visibility("default")]] void* malloc(std::size_t size) {
  return scarce::rationed_malloc(size);
}
extern "C" [[gnu::visibility("default")]] void free(void* block) { scarce::counted_free(block); }

// Waiting for the disk would take most of the time.
extern "C" [[gnu::visibility("default")]] int fsync(int) { return 0; }

// NOLINTBEGIN(misc-new-delete-overloads): sized and nothrow ones call these
void* operator new(std::size_t size) {
  void* const block = scarce::is_refused() ? nullptr : std::malloc(size ? size : 1);
  return block ? block : throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto align = static_cast<std::size_t>(alignment);
  void* const block =
      scarce::is_refused() ? nullptr : std::aligned_alloc(align, (size + align - 1) / align * align);
  return block ? block : throw std::bad_alloc();
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
// NOLINTEND(misc-new-delete-overloads)

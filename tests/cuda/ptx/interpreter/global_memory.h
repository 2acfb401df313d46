// Global memory as the interpreter sees it: the live allocations, which of their bytes were written, and who
// touched each byte last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "shadow.h"

namespace ebb::ptx {

/// An allocation of global memory. The bytes [first, last) belong to it.
struct Allocation {
  std::uint64_t first = 0, last = 0;
  /// A byte for each byte: 1 where it was written. Null for memory that counts as written.
  std::unique_ptr<unsigned char[], void (*)(void*)> written{nullptr, nullptr};
  /// The last touches of each byte. Null for memory whose races are not looked for.
  ShadowOfRange touched;
};

/// The live allocations. All functions may be called by several threads at once.
class GlobalMemory {
 public:
  /// Device memory, of which nothing is written yet.
  void add_device(const void* first, std::size_t bytes);
  /// Memory of the host that kernels may touch. It counts as written, and its races are not looked for,
  /// because the host writes it without telling.
  void add_host(const void* first, std::size_t bytes);
  /// Forgets the allocation that begins there. Does nothing where none does.
  void remove(const void* first);
  /// Somebody other than a kernel wrote these bytes: a copy, a fill, a library.
  void mark_written(const void* first, std::size_t bytes);
  /// The allocation that holds the address, or null. The pointer is valid until the allocation is removed.
  Allocation* around(std::uint64_t address);
  /// The last allocation that begins at or before the address, or null: for messages.
  Allocation* before(std::uint64_t address);

 private:
  void add(std::uint64_t first, std::size_t bytes, bool device);

  std::mutex mutex_;
  std::map<std::uint64_t, Allocation> live_;  // by first address
};

}  // namespace ebb::ptx

// Shadow memory: for each byte, who wrote and who read it last, by which races are found.
#include "shadow.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <new>

namespace ebb::ptx {
namespace {

// Ranges that were given back, by their sizes: making new pages takes longer than most launches.
class Pool {
 public:
  ShadowByte* take(std::size_t& bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = free_.lower_bound(bytes);
    if (found == free_.end() || found->first > 2 * bytes) return nullptr;
    ShadowByte* const range = found->second;
    bytes = found->first;
    held_ -= bytes;
    free_.erase(found);
    return range;
  }
  // Whether the range is kept.
  bool keep(ShadowByte* range, std::size_t bytes) {
    constexpr std::size_t kMostHeld = std::size_t{64} << 20;
    const std::lock_guard lock(mutex_);
    if (held_ + bytes > kMostHeld) return false;
    held_ += bytes;
    free_.emplace(bytes, range);
    return true;
  }

 private:
  std::mutex mutex_;
  std::multimap<std::size_t, ShadowByte*> free_;
  std::size_t held_ = 0;  // in bytes of the memory that is shadowed
};

Pool& pool() {
  static auto* const only = new Pool;  // ranges are given back until the process ends
  return *only;
}

}  // namespace

// calloc leaves pages of a large block unmade until they are touched.
ShadowOfRange::ShadowOfRange(std::size_t bytes) {
  ShadowByte* range = pool().take(bytes);
  if (!range) range = static_cast<ShadowByte*>(std::calloc(bytes, sizeof(ShadowByte)));
  if (!range) throw std::bad_alloc();
  bytes_ = {range, Release{bytes}};
}

void ShadowOfRange::Release::operator()(ShadowByte* range) const {
  if (!pool().keep(range, bytes)) std::free(range);
}

}  // namespace ebb::ptx

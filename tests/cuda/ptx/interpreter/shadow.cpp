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

Found touch(ShadowByte& byte, const Moment& now, Access access) {
  const bool strong = is_strong(access);
  const Touch mine(now.interval, now.thread, strong, now.warp_interval);
  Found found;
  if (!(strong && byte.writer.strong())) found = {now.clash(byte.writer), byte.writer, false};
  if (!writes(access)) {
    if (byte.reader.thread() != now.thread || byte.reader.interval() < now.block_start)
      byte.other = byte.reader;
    byte.reader = mine;
    return found;
  }
  // A strong write may follow a read: algorithms look at a value before they update it, and compare.
  if (found.clash == Clash::none && !strong) {
    for (const Touch& reader : {byte.reader, byte.other})
      if (const Clash clash = now.clash(reader); clash != Clash::none && found.clash == Clash::none)
        found = {clash, reader, true};
  }
  byte.writer = mine;
  return found;
}

}  // namespace ebb::ptx

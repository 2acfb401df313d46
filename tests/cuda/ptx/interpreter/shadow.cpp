// Shadow memory: for each byte, who wrote and who read it last, by which races are found.
#include "shadow.h"

#include <cstdlib>
#include <new>

namespace ebb::ptx {

// calloc leaves pages of a large block unmade until they are touched.
ShadowOfRange::ShadowOfRange(std::size_t bytes)
    : bytes_(static_cast<ShadowByte*>(std::calloc(bytes, sizeof(ShadowByte)))) {
  if (!bytes_) throw std::bad_alloc();
}

void ShadowOfRange::Release::operator()(ShadowByte* bytes) const { std::free(bytes); }

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

// Accesses of memory, and their checks.
#include <algorithm>
#include <cstdio>

#include "machine.h"

namespace ebb::ptx {
namespace {

std::string place_in(u64 offset, u64 bytes) {
  return "byte " + std::to_string(offset) + " of " + std::to_string(bytes);
}

std::string hexadecimal(u64 address) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%#llx", static_cast<unsigned long long>(address));
  return text.data();
}

void report_clash(const Warp& warp, const Found& found, Access access, const char* space, unsigned lane) {
  const char* const kind = found.clash == Clash::warp    ? "A hazard inside a warp (no __syncwarp)"
                           : found.clash == Clash::block ? "A race inside a block (no barrier)"
                                                         : "A race between blocks";
  warp.block->find(std::string(kind) + " in " + space + " memory: a " + (writes(access) ? "write" : "read") +
                       " after the " + (found.with_read ? "read" : "write") + " of thread " +
                       std::to_string(found.with.thread()) + ".",
                   lane);
}

unsigned char* shared_bytes(Warp& warp, u64 address, unsigned bytes, unsigned lane, Access access) {
  Block& block = *warp.block;
  if (address > block.shared.size() || bytes > block.shared.size() - address)
    block.fail(Status::illegal_address,
               "An access of shared memory out of bounds: " + place_in(address, block.shared.size()) + ".",
               lane);
  Moment now = block.moment(warp, lane);
  now.launch_start = block.start;  // each block has shared memory of its own
  const auto is_written = [&](unsigned n) {
    return block.shadow[address + n].writer.interval() >= block.start;
  };
  for (unsigned n = 0; n < bytes; ++n) {
    ShadowByte& byte = block.shadow[address + n];
    if (reads(access) && !is_written(n)) {
      if (block.padded && (is_written(0) || is_written(bytes - 1))) continue;
      block.find(
          "A read of shared memory that nobody wrote: " + place_in(address + n, block.shared.size()) + ".",
          lane);
      byte.writer = Touch(block.start, now.thread, false, 0);
      continue;
    }
    const Found found = touch(byte, now, access);
    if (found.clash != Clash::none && block.run.settings.shared_races)
      report_clash(warp, found, access, "shared", lane);
  }
  return block.shared.data() + address;
}

Allocation* allocation_around(Block& block, u64 address) {
  for (std::size_t n = 0; n < block.recent.size(); ++n) {
    Allocation* const known = block.recent[n];
    if (known != nullptr && address - known->first < known->last - known->first) return known;
  }
  Allocation* const found = block.run.memory->around(address);
  if (found != nullptr) {
    std::copy_backward(block.recent.begin(), block.recent.end() - 1, block.recent.end());
    block.recent.front() = found;
  }
  return found;
}

bool is_variable(const Block& block, u64 address, unsigned bytes) {
  for (const auto& [name, variable] : block.entry.module->variables)
    if (address >= variable.address && address + bytes <= variable.address + variable.bytes) return true;
  return false;
}

void check_global(Warp& warp, Allocation& memory, u64 offset, unsigned bytes, unsigned lane, Access access) {
  Block& block = *warp.block;
  if (memory.written) {
    unsigned char* const written = memory.written.get() + offset;
    if (reads(access)) {
      const unsigned char* const hole = std::find(written, written + bytes, 0);
      // Updates of single bytes go by the word around them, of which the rest may be anybody's.
      const bool is_partly_written = std::find(written, written + bytes, 1) != written + bytes;
      if (hole != written + bytes && !(is_strong(access) && is_partly_written))
        block.find("A read of global memory that nobody wrote: " +
                       place_in(offset + static_cast<u64>(hole - written), memory.last - memory.first) + ".",
                   lane);
    }
    std::memset(written, 1, bytes);
  }
  if (ShadowByte* const shadow = block.global_races ? memory.touched.at(offset) : nullptr) {
    const Moment now = block.moment(warp, lane);
    for (unsigned n = 0; n < bytes; ++n)
      if (const Found found = touch(shadow[n], now, access); found.clash != Clash::none)
        report_clash(warp, found, access, "global", lane);
  }
}

[[noreturn]] void report_outside(Block& block, u64 address, unsigned bytes, unsigned lane, Access access) {
  std::string text = std::string("A ") + (writes(access) ? "write" : "read") + " of " +
                     std::to_string(bytes) + " bytes outside of any allocation (" + hexadecimal(address) +
                     ")";
  if (const Allocation* const near = block.run.memory->before(address))
    text += ", at " + place_in(address - near->first, near->last - near->first) + " of the one before";
  block.fail(Status::illegal_address, text + ".", lane);
}

}  // namespace

unsigned char* resolve(Warp& warp, Space space, u64 address, unsigned bytes, unsigned lane, Access access) {
  Block& block = *warp.block;
  if (address % bytes != 0)
    block.fail(Status::misaligned_address, "A misaligned access of " + std::to_string(bytes) + " bytes.",
               lane);
  if (space == Space::generic) space = space_of(address);
  if (space == Space::shared) return shared_bytes(warp, address, bytes, lane, access);
  if (space == Space::local) {
    const std::size_t all = block.entry.local_bytes;
    if (address > all || bytes > all - address)
      block.fail(Status::illegal_address,
                 "An access of local memory out of bounds: " + place_in(address, all) + ".", lane);
    return warp.local.data() + lane * all + address;
  }
  if (space == Space::parameter) {
    const std::size_t all = block.parameters.size();
    if (writes(access) || address > all || bytes > all - address)
      block.fail(Status::illegal_address,
                 "An access of parameters out of bounds, or a write: " + place_in(address, all) + ".", lane);
    return const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(block.parameters.data())) +
           address;
  }
  if (Allocation* const memory = allocation_around(block, address);
      memory != nullptr && address + bytes <= memory->last)
    check_global(warp, *memory, address - memory->first, bytes, lane, access);
  else if (!is_variable(block, address, bytes))
    report_outside(block, address, bytes, lane, access);
  return reinterpret_cast<unsigned char*>(address);
}

void count_request(const Warp& warp, const Instruction& i, Lanes lanes, unsigned bytes) {
  Counts* const counts = warp.block->counts;
  if (counts == nullptr || lanes == 0) return;
  std::array<u64, 32> addresses{};
  each_lane(lanes, [&](unsigned lane) { addresses[lane] = address_of(warp, i, lane); });
  Space space = i.space;
  if (space == Space::generic) {
    u64 first = addresses[static_cast<std::size_t>(std::countr_zero(lanes))];
    space = space_of(first);
  }
  if (space == Space::global) count_global(*counts, addresses.data(), lanes, bytes);
  if (space == Space::shared) count_shared(*counts, addresses.data(), lanes, bytes);
  if (space == Space::local) ++counts->local_requests;
}

}  // namespace ebb::ptx

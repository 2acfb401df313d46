// Bytes in memory and from streams.
#include "io/bytes.h"

#include <ebb/core/error.h>

#include <array>
#include <cstring>
#include <istream>

namespace ebb::io {

void BytesInMemory::read(std::uint64_t offset, void* to, std::size_t size) const {
  if (size > 0) std::memcpy(to, bytes_.data() + offset, size);
}

std::string rest_of(std::istream& stream, const std::function<void(std::string_view)>& check) {
  EBB_CHECK(!stream.fail(), "cannot load: the stream cannot be read. Was its file opened?");
  std::string bytes;
  std::array<char, 1 << 16> block;
  while (const std::streamsize n = stream.rdbuf()->sgetn(block.data(), block.size())) {
    const bool first = bytes.empty();
    bytes.append(block.data(), static_cast<std::size_t>(n));
    if (first) check(bytes);
  }
  return bytes;
}

}  // namespace ebb::io

// The layout of fat binaries: a header, then pieces with a header each. NVIDIA documents it nowhere;
// fatbinary_section.h of the toolkit has the wrapper, and the rest is what nvcc 12 and 13 write.
#include "cuda/ptx/runtime/fat_binary.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

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

// The text without the zeros that fill its piece up.
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

}  // namespace ebb::ptx

// The header of a safetensors file: which tensors there are and where their bytes lie.
#pragma once

#include <ebb/core/small_vector.h>
#include <ebb/io/safetensors.h>

#include "io/safetensors_format.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::safetensors {

struct Entry {
  std::string name;
  const Format* format = nullptr;
  DimVector sizes;
  std::uint64_t begin = 0, end = 0;  // of its bytes, behind the header

  bool is_supported() const { return format->dtype != DType::Undefined; }
};

struct Header {
  std::vector<Entry> entries;  // in the order of their bytes
  Metadata metadata;
  std::uint64_t data_start = 0;
  std::vector<std::uint32_t> by_name;  // positions of the entries, sorted by their names

  const Entry* find(const std::string& name) const;
};

/// The bytes that hold the length of a header and its first character.
constexpr std::size_t kFrame = 9;

/// The length of the header of a file of `size` bytes, from the first kFrame of them, or all if there are
/// fewer. Throws when it cannot be: the file is cut short, too long a header, or another kind of file, which
/// is named.
std::size_t header_length(const char* bytes, std::uint64_t size);

/// Throws likewise for how a stream begins, all of it or more than kFrame bytes, whose size is not known.
void check_start(std::string_view start);

/// The header itself, which `text` begins with; every entry is checked against the others and the file's
/// size.
Header parse_header(const char* text, std::size_t length, std::uint64_t file_size);

/// Reads the JSON text. The entries keep its order; each is checked by itself.
void parse_json(const char* text, std::size_t length, Header& header);

}  // namespace ebb::safetensors

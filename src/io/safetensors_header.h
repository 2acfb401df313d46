// The header of a safetensors file: the names, dtypes, shapes and byte offsets of its tensors.
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
  std::uint64_t begin = 0, end = 0;  // the byte offsets, from the end of the header

  bool is_supported() const { return format->dtype != DType::Undefined; }
};

struct Header {
  std::vector<Entry> entries;  // sorted by their offsets
  Metadata metadata;
  std::uint64_t data_start = 0;
  std::vector<std::uint32_t> by_name;  // the indices of the entries, sorted by name

  const Entry* find(const std::string& name) const;
};

/// The size of the header's length and its first character.
constexpr std::size_t kFrame = 9;

/// Returns the length of the header of a file of `size` bytes. `bytes` are the first kFrame bytes, or all if
/// there are fewer. Throws if the file is truncated, if the header is too long, and for files of other
/// formats, which the error names.
std::size_t header_length(const char* bytes, std::uint64_t size);

/// Throws the same errors for the start of a stream of unknown size: more than kFrame bytes, or the whole
/// stream.
void check_start(std::string_view start);

/// Parses the header at the beginning of `text`, and checks each entry against the others and the file's
/// size.
Header parse_header(const char* text, std::size_t length, std::uint64_t file_size);

/// Parses the JSON text. The entries keep their order, and each is checked by itself.
void parse_json(const char* text, std::size_t length, Header& header);

}  // namespace ebb::safetensors

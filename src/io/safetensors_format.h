// The safetensors format: its dtypes, the header of a file, and the errors for damaged files and for files of
// other formats. The header contains the names, dtypes, shapes and byte offsets of the tensors.
#pragma once

#include <ebb/core/dtype.h>
#include <ebb/core/error.h>
#include <ebb/core/small_vector.h>
#include <ebb/io/safetensors.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::safetensors {

constexpr std::uint64_t kMaxHeader = 100'000'000;  // bytes; the limit of the reference implementation

struct Format {
  const char* name;
  DType dtype;    // Undefined if ebb has no such dtype
  unsigned bits;  // the size of an element
};

/// Returns the format's dtype of that name, or null.
const Format* format_named(std::string_view name);
/// Returns the format's name of an ebb dtype.
const char* name_of(DType dtype);
/// Returns the rest of a sentence: ` is of dtype F8_E4M3, which ebb does not have. Convert it in Python: ...`
std::string unsupported_text(std::string_view dtype);

/// Returns the text as a JSON string, with quotes and escapes. Throws if it is not UTF-8.
std::string quoted(const std::string& text);

template <class... Parts>
[[noreturn]] void unsound(const Parts&... parts) {
  ebb::detail::fail("safetensors: the file is not sound: ", parts..., ". Fetch or write it again.");
}

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

/// The size of the frame: the header's length and its first character.
constexpr std::size_t kFrame = 9;

/// Returns the length of the header of a file of `size` bytes. `bytes` contains the first min(kFrame, size)
/// bytes. Throws if the file is truncated or the header is too long. Throws for files of other formats; the
/// error names the format.
std::size_t header_length(const char* bytes, std::uint64_t size);

/// Throws the errors of header_length() for the start of a stream of unknown size. `start` contains more than
/// kFrame bytes, or the whole stream.
void check_start(std::string_view start);

/// Parses the header at the beginning of `text`, and checks each entry against the others and the file's
/// size.
Header parse_header(const char* text, std::size_t length, std::uint64_t file_size);

/// Parses the JSON text. The entries keep their order. Each entry is checked, but not yet against other
/// entries.
void parse_json(const char* text, std::size_t length, Header& header);

}  // namespace ebb::safetensors

namespace ebb::io {

/// Throws if the first bytes belong to another format. The error names the format, and tells how to convert
/// the file.
void refuse_foreign(std::string_view first_bytes);

}  // namespace ebb::io

// The dtypes of the safetensors format, and the errors for damaged files and for files of other formats.
#pragma once

#include <ebb/core/dtype.h>
#include <ebb/core/error.h>

#include <cstdint>
#include <string>
#include <string_view>

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

}  // namespace ebb::safetensors

namespace ebb::io {

/// Throws if the first bytes are those of another format. The error names the format and how to convert the
/// file.
void refuse_foreign(std::string_view first_bytes);

}  // namespace ebb::io

// The dtypes of the safetensors format, and the words for a file that is wrong or of another format.
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
  DType dtype;    // Undefined: ebb has none that could hold it
  unsigned bits;  // of an element
};

/// The dtype of that name, or null.
const Format* format_named(std::string_view name);
/// The name of ebb's dtype.
const char* name_of(DType dtype);
/// ` is of dtype F8_E4M3, which ebb does not have. Convert it in Python: ...`
std::string unsupported_text(std::string_view dtype);

/// Text as JSON has it, with quotes and escapes. Throws for what is not UTF-8.
std::string quoted(const std::string& text);

template <class... Parts>
[[noreturn]] void unsound(const Parts&... parts) {
  ebb::detail::fail("safetensors: the file is not sound: ", parts..., ". Fetch or write it again.");
}

}  // namespace ebb::safetensors

namespace ebb::io {

/// Throws, saying what the file is and how it can be had as safetensors, when its first bytes tell.
void refuse_foreign(std::string_view first_bytes);

}  // namespace ebb::io

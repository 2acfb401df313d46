// c10::str and c10::Join: build strings from streamable values.
#pragma once

#include <ebb/core/array_ref.h>
#include <ebb/core/warning.h>

#include <torch/csrc/namespaces.h>

#include <sstream>
#include <string>
#include <string_view>

namespace c10 {

/// Returns the concatenated text of all parts, each written to a stream.
template <class... Parts>
std::string str(const Parts&... parts) {
  if constexpr (sizeof...(Parts) == 1 && (std::is_convertible_v<const Parts&, std::string_view> && ...)) {
    return std::string(std::string_view(parts...));
  } else {
    std::ostringstream out;
    static_cast<void>((out << ... << parts));
    return std::move(out).str();
  }
}

using std::to_string;

/// Returns the elements of a container, separated by `delimiter`.
template <class Container>
std::string Join(const std::string& delimiter, const Container& values) {
  std::ostringstream out;
  bool first = true;
  for (const auto& value : values) {
    if (!first) out << delimiter;
    first = false;
    out << value;
  }
  return std::move(out).str();
}

}  // namespace c10

namespace ebb {

inline std::ostream& operator<<(std::ostream& out, const SourceLocation& at) {
  return out << at.function << " at " << at.file << ':' << at.line;
}

}  // namespace ebb

// utf8 and base64: encodings of texts and bytes in files.
#pragma once

#include <string>
#include <string_view>

namespace ebb::watch {

/// Replaces bytes that are not UTF-8 by U+FFFD, because readers of XML, JSON and protocol buffers refuse
/// whole files.
std::string utf8(const std::string& text);

/// Returns bytes as base64 (RFC 4648).
std::string base64(std::string_view bytes);

}  // namespace ebb::watch

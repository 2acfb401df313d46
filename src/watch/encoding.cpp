// utf8 and base64.
#include "watch/encoding.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace ebb::watch {

std::string utf8(const std::string& text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 128; }))
    return text;
  using nlohmann::json;
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
}

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  unsigned group = 0, bits = 0;  // the lowest bits of the group are not in the text yet
  for (const unsigned char byte : bytes) {
    group = group << 8 | byte;
    for (bits += 8; bits >= 6;) text += kDigits[group >> (bits -= 6) & 63];
  }
  if (bits > 0) text += kDigits[group << (6 - bits) & 63];
  return text.append((4 - text.size() % 4) % 4, '=');
}

}  // namespace ebb::watch

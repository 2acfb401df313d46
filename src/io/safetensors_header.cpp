// What holds of a sound header beyond its JSON.
#include "io/safetensors_header.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "io/safetensors_format.h"

namespace ebb::safetensors {
namespace {

void sort_names(Header& header) {
  const std::vector<Entry>& entries = header.entries;
  header.by_name.resize(entries.size());
  std::iota(header.by_name.begin(), header.by_name.end(), 0);
  std::sort(header.by_name.begin(), header.by_name.end(),
            [&](std::uint32_t a, std::uint32_t b) { return entries[a].name < entries[b].name; });
  for (std::size_t i = 1; i < entries.size(); ++i)
    if (const std::string& name = entries[header.by_name[i]].name;
        name == entries[header.by_name[i - 1]].name)
      unsound("its header names \"", name, "\" twice");
}

}  // namespace

const Entry* Header::find(const std::string& name) const {
  const auto at =
      std::lower_bound(by_name.begin(), by_name.end(), name,
                       [&](std::uint32_t i, const std::string& n) { return entries[i].name < n; });
  return at != by_name.end() && entries[*at].name == name ? &entries[*at] : nullptr;
}

std::size_t header_length(const char* bytes, std::uint64_t size) {
  const std::string_view first(bytes, std::min<std::uint64_t>(size, kFrame));
  if (size < 8) io::refuse_foreign(first);
  if (size < 8) unsound("it has ", size, " bytes, fewer than the 8 of a header's length");
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  const bool fits = length > 0 && length <= kMaxHeader && length <= size - 8;
  if (fits && bytes[8] == '{') return static_cast<std::size_t>(length);
  io::refuse_foreign(first);
  if (length > kMaxHeader)
    unsound("its header claims ", length, " bytes; at most ", kMaxHeader, " are allowed");
  if (length > size - 8)
    unsound("its header claims ", length, " bytes, but only ", size - 8, " follow: it is truncated");
  unsound("its header does not begin with '{'");
}

void check_start(std::string_view start) {
  if (start.size() >= kFrame) header_length(start.data(), std::numeric_limits<std::uint64_t>::max());
}

Header parse_header(const char* text, std::size_t length, std::uint64_t file_size) {
  Header header;
  header.data_start = 8 + std::uint64_t{length};
  parse_json(text, length, header);
  std::sort(header.entries.begin(), header.entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  sort_names(header);
  std::uint64_t at = 0;
  for (const Entry& e : header.entries) {
    if (e.begin < at) unsound("tensor \"", e.name, "\" overlaps the one before it");
    if (e.begin > at) unsound("there is a gap of ", e.begin - at, " bytes before tensor \"", e.name, "\"");
    at = e.end;
  }
  if (at != file_size - header.data_start)
    unsound("its tensors take ", at, " bytes, but ", file_size - header.data_start, " follow the header");
  return header;
}

}  // namespace ebb::safetensors

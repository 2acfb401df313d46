// The header of a safetensors file. Its JSON is parsed as SAX events, not into a tree, so that the time is
// linear in the number of entries.
#include "io/safetensors_format.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace ebb::safetensors {
namespace {

using nlohmann::json;

class HeaderReader {
 public:
  explicit HeaderReader(Header& header) : header_(header) {}

  // The events of nlohmann::json::sax_parse.
  bool null() { return scalar(nullptr); }
  bool boolean(bool) { return scalar(nullptr); }
  bool number_float(double, const std::string&) { return scalar(nullptr); }
  bool binary(json::binary_t&) { return scalar(nullptr); }
  bool string(std::string& text) { return scalar(&text); }
  bool number_integer(std::int64_t) { return scalar(nullptr); }  // negative, because others are unsigned
  bool number_unsigned(std::uint64_t number);
  bool key(std::string& text);
  bool start_object(std::size_t) { return open(/*object=*/true); }
  bool start_array(std::size_t) { return open(/*object=*/false); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t, const std::string&, const json::exception& e) {
    unsound("its header is not JSON: ", e.what());
  }

 private:
  enum class In { File, Root, Entry, Shape, Offsets, Metadata, Unknown };
  enum Field : unsigned { Dtype = 1, Shape = 2, Offsets = 4, Unknown = 0 };

  bool scalar(std::string* text);
  bool open(bool object);
  bool close();
  void finish_entry();
  [[noreturn]] void lacks() const { unsound("tensor \"", name_, "\" lacks dtype, shape or data_offsets"); }
  [[noreturn]] void wrong_kind() const {
    unsound("tensor \"", name_, "\" has a dtype, shape or data_offsets of the wrong kind");
  }
  [[noreturn]] void not_natural() const {
    unsound("tensor \"", name_, "\": ", in_ == In::Shape ? "a size" : "an offset",
            " is not a natural number");
  }
  [[noreturn]] void not_string() const {
    unsound("__metadata__ holds something other than strings at \"", key_, "\"");
  }

  Header& header_;
  In in_ = In::File;
  int depth_ = 0;  // the depth below an unknown field
  bool metadata_seen_ = false;
  std::string name_, key_, dtype_;  // the entry's name, the metadata's key, the entry's dtype
  Field field_ = Unknown;
  unsigned seen_ = 0;  // a mask of the entry's fields that were read
  DimVector sizes_;
  std::uint64_t offsets_[2] = {};
  int offsets_count_ = 0;
};

bool HeaderReader::key(std::string& text) {
  if (in_ == In::Root) {
    name_ = std::move(text);
  } else if (in_ == In::Metadata) {
    key_ = std::move(text);
  } else if (in_ == In::Entry) {
    field_ = text == "dtype" ? Dtype : text == "shape" ? Shape : text == "data_offsets" ? Offsets : Unknown;
    if (seen_ & field_) unsound("tensor \"", name_, "\" gives its ", text, " twice");
    seen_ |= field_;
  }
  return true;
}

bool HeaderReader::number_unsigned(std::uint64_t number) {
  if (in_ == In::Shape) {
    sizes_.push_back(static_cast<std::int64_t>(std::min<std::uint64_t>(number, INT64_MAX)));
  } else if (in_ == In::Offsets) {
    if (offsets_count_ == 2) wrong_kind();
    offsets_[offsets_count_++] = number;
  } else {
    return scalar(nullptr);
  }
  return true;
}

// Handles a value that is neither a container nor a natural number. `text` is null if it is not a string.
bool HeaderReader::scalar(std::string* text) {
  if (in_ == In::Root && name_ == "__metadata__") unsound("__metadata__ is not an object");
  if (in_ == In::Root) lacks();
  if (in_ == In::Shape || in_ == In::Offsets) not_natural();
  if (in_ == In::Metadata) {
    if (!text) not_string();
    header_.metadata.insert_or_assign(key_, std::move(*text));
  } else if (in_ == In::Entry && field_ != Unknown) {
    if (!text || field_ != Dtype) wrong_kind();
    dtype_ = std::move(*text);
  }
  return true;
}

bool HeaderReader::open(bool object) {
  if (in_ == In::File) {
    in_ = In::Root;
  } else if (in_ == In::Root) {
    if (!object) return scalar(nullptr);
    in_ = name_ == "__metadata__" ? In::Metadata : In::Entry;
    if (in_ == In::Metadata && std::exchange(metadata_seen_, true))
      unsound("its header names \"", name_, "\" twice");
    seen_ = 0;
    sizes_.clear();
    offsets_count_ = 0;
  } else if (in_ == In::Entry) {
    if (field_ != Unknown && (object || field_ == Dtype)) wrong_kind();
    in_ = field_ == Shape ? In::Shape : field_ == Offsets ? In::Offsets : In::Unknown;
    depth_ = 1;
  } else if (in_ == In::Unknown) {
    ++depth_;
  } else {
    return scalar(nullptr);  // shapes, offsets and the metadata contain no containers
  }
  return true;
}

bool HeaderReader::close() {
  if (in_ == In::Unknown && --depth_ > 0) return true;
  if (in_ == In::Entry) finish_entry();
  in_ = in_ == In::Root ? In::File : in_ == In::Entry || in_ == In::Metadata ? In::Root : In::Entry;
  return true;
}

void HeaderReader::finish_entry() {
  if (seen_ != (Dtype | Shape | Offsets)) lacks();
  if (offsets_count_ != 2) wrong_kind();
  Entry entry{name_, format_named(dtype_), sizes_, offsets_[0], offsets_[1]};
  if (!entry.format)
    unsound("tensor \"", name_, "\" has the dtype \"", dtype_, "\", which the format does not have");
  std::uint64_t bits = entry.format->bits;
  bool overflow = false, empty = false;
  for (const std::int64_t n : sizes_) {
    overflow |=
        n > (std::int64_t{1} << 59) || __builtin_mul_overflow(bits, static_cast<std::uint64_t>(n), &bits);
    empty |= n == 0;
  }
  if (overflow && !empty) unsound("the shape of tensor \"", name_, "\" overflows");
  if (empty) bits = 0;
  const std::uint64_t bytes = bits / 8 + (bits % 8 != 0);
  if (entry.end < entry.begin || entry.end - entry.begin != bytes)
    unsound("tensor \"", name_, "\" needs ", bytes, " bytes, but its data_offsets [", entry.begin, ", ",
            entry.end, "] hold another number");
  header_.entries.push_back(std::move(entry));
}

}  // namespace

void parse_json(const char* text, std::size_t length, Header& header) {
  HeaderReader reader(header);
  json::sax_parse(text, text + length, &reader);
}

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

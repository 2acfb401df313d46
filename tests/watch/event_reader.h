// events_of: reads TensorBoard's event files, with a decoder of its own, and prints them as print_events.py
// does.
#pragma once

#include "support/files.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace events {

/// The fields of a protocol buffer by number: varints and fixed numbers as bits, others as bytes.
struct Field {
  std::uint64_t bits = 0;
  std::string bytes;
};
using Fields = std::map<unsigned, std::vector<Field>>;

inline std::uint64_t varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    if (bytes.empty()) throw std::runtime_error("a varint is cut short");
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= std::uint64_t{byte & 127u} << shift;
    if (byte < 128) return value;
  }
}

inline std::string take(std::string_view& bytes, std::uint64_t size) {
  if (size > bytes.size()) throw std::runtime_error("a field is cut short");
  std::string taken(bytes.substr(0, size));
  bytes.remove_prefix(size);
  return taken;
}

inline std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i)
    value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  return value;
}

inline Fields parse(std::string_view bytes) {
  Fields fields;
  while (!bytes.empty()) {
    const std::uint64_t key = varint(bytes);
    Field field;
    if ((key & 7) == 0)
      field.bits = varint(bytes);
    else if ((key & 7) == 2)
      field.bytes = take(bytes, varint(bytes));
    else if ((key & 7) == 1 || (key & 7) == 5)
      field.bits = little_endian(take(bytes, (key & 7) == 1 ? 8 : 4));
    else
      throw std::runtime_error("an unknown wire type");
    fields[static_cast<unsigned>(key >> 3)].push_back(field);
  }
  return fields;
}

inline std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

template <class Real, class Bits>
double real(std::uint64_t bits) {
  const auto narrow = static_cast<Bits>(bits);
  Real value;
  std::memcpy(&value, &narrow, sizeof value);
  return value;
}

/// One message with defaults for fields that are not there.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : fields_(parse(bytes)) {}
  bool has(unsigned field) const { return fields_.contains(field); }
  std::vector<Field> all(unsigned field) const {
    return has(field) ? fields_.at(field) : std::vector<Field>{};
  }
  std::int64_t integer(unsigned field) const { return static_cast<std::int64_t>(last(field).bits); }
  double number(unsigned field) const { return real<double, std::uint64_t>(last(field).bits); }
  double single(unsigned field) const { return real<float, std::uint32_t>(last(field).bits); }
  std::string bytes(unsigned field) const { return last(field).bytes; }
  Reader message(unsigned field) const { return Reader(bytes(field)); }
  template <class Real, class Bits>
  std::vector<double> packed(unsigned field) const {
    std::vector<double> values;
    const std::string raw = bytes(field);
    for (std::size_t at = 0; at + sizeof(Real) <= raw.size(); at += sizeof(Real))
      values.push_back(real<Real, Bits>(little_endian(std::string_view(raw).substr(at, sizeof(Real)))));
    return values;
  }

 private:
  Field last(unsigned field) const { return has(field) ? fields_.at(field).back() : Field{}; }
  Fields fields_;
};

/// Returns the masked CRC32C, one bit at a time.
inline std::uint32_t masked_crc(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

/// Returns the whole records of a file. Throws if a checksum is wrong. `rest` receives the number of bytes
/// after the last whole record.
inline std::vector<std::string> records(std::string_view bytes, std::size_t* rest = nullptr) {
  std::vector<std::string> found;
  while (bytes.size() >= 12) {
    const std::uint64_t size = little_endian(bytes.substr(0, 8));
    if (little_endian(bytes.substr(8, 4)) != masked_crc(bytes.substr(0, 8)))
      throw std::runtime_error("the checksum of a length is wrong");
    if (bytes.size() < size + 16) break;
    found.emplace_back(bytes.substr(12, size));
    if (little_endian(bytes.substr(12 + size, 4)) != masked_crc(found.back()))
      throw std::runtime_error("the checksum of a record is wrong");
    bytes.remove_prefix(size + 16);
  }
  if (rest) *rest = bytes.size();
  if (!rest && !bytes.empty()) throw std::runtime_error("the file does not end with a record");
  return found;
}

inline std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    text += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    text += "0123456789abcdef"[c & 15];
  }
  return text;
}

inline std::string joined(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : " ") + format("%.9g", value);
  return text;
}

inline std::string shape(const Reader& tensor_shape) {
  std::string text;
  for (const Field& dim : tensor_shape.all(2))
    text += (text.empty() ? "" : ",") + std::to_string(Reader(dim.bytes).integer(1));
  return "[" + text + "]";
}

/// Prints a Summary.Value.
inline std::string line_of_value(const Reader& value) {
  const std::string tag = value.bytes(1);
  if (value.has(2)) return "scalar " + tag + " " + format("%.9g", value.single(2));
  if (value.has(5)) {
    const Reader histo = value.message(5);
    const std::vector<double> limits = histo.packed<double, std::uint64_t>(6),
                              counts = histo.packed<double, std::uint64_t>(7);
    std::string text = "histogram " + tag;
    for (unsigned field = 1; field <= 5; ++field) text += " " + format("%.9g", histo.number(field));
    text += " | " + std::to_string(limits.size()) + " from " +
            joined({limits.begin(), limits.begin() + (limits.empty() ? 0 : 1)}) + " |";
    std::string full;
    for (std::size_t i = 0; i < limits.size(); ++i)
      if (counts.at(i) > 0) full += " " + format("%.9g", limits[i]) + ":" + format("%.9g", counts[i]);
    return text + (full.empty() ? " " : full);
  }
  if (value.has(4)) {
    const Reader image = value.message(4);
    return "image " + tag + " " + std::to_string(image.integer(1)) + " x " +
           std::to_string(image.integer(2)) + " x " + std::to_string(image.integer(3));
  }
  const Reader plugin = value.message(9).message(1), tensor = value.message(8);
  return plugin.bytes(1) + " " + tag + " " + hex(plugin.bytes(2)) + " " + std::to_string(tensor.integer(1)) +
         " " + shape(tensor.message(2)) + " " + joined(tensor.packed<float, std::uint32_t>(5)) +
         hex(tensor.bytes(8));
}

/// Prints an event as lines that begin with `start` and the step.
inline void append_lines(std::vector<std::string>& lines, const std::string& start, const Reader& event) {
  const std::string begin = start + " " + std::to_string(event.integer(2)) + " ";
  if (event.has(3)) lines.push_back(begin + event.bytes(3));
  if (event.has(7)) lines.push_back(begin + "session " + std::to_string(event.message(7).integer(1)));
  for (const Field& field : event.message(4).all(1)) {
    const Reader node(field.bytes);
    std::string text = begin + "node " + node.bytes(1) + " " + node.bytes(2) + " (", inputs;
    for (const Field& input : node.all(3)) inputs += (inputs.empty() ? "" : ", ") + input.bytes;
    text += inputs + ") ";
    for (const Field& each : node.message(5).message(2).message(1).all(7)) text += shape(Reader(each.bytes));
    lines.push_back(text);
  }
  for (const Field& value : event.message(5).all(1))
    lines.push_back(begin + line_of_value(Reader(value.bytes)));
}

/// Returns the event files below a folder, sorted.
inline std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    return std::pair(a.parent_path(), a.filename()) < std::pair(b.parent_path(), b.filename());
  });
  return files;
}

/// Returns all events below a folder, one a line.
inline std::vector<std::string> events_of(const std::filesystem::path& folder) {
  std::vector<std::string> lines;
  for (const auto& file : files_below(folder))
    for (const std::string& record : records(support::read_file(file)))
      append_lines(lines, std::filesystem::relative(file.parent_path(), folder).string(), Reader(record));
  return lines;
}

}  // namespace events

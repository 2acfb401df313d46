// The wire format of protocol buffers: a message is a row of fields, each a number, a wire type and a value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace onnx {

/// One field of a message. Which member holds the value follows from the type.
struct Field {
  enum Type { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
  std::uint32_t number;
  Type type;
  std::uint64_t value;    ///< of varint, fixed64 and fixed32
  std::string_view data;  ///< of bytes: a string, a message or packed numbers

  /// The value, after a check of its wire type.
  std::int64_t integer() const;
  float real() const;
  std::string_view text() const;
  /// Numbers, packed in one field or one to a field.
  void append_to(std::vector<std::int64_t>& out) const;
  void append_to(std::vector<float>& out) const;
  void append_to(std::vector<double>& out) const;
};

/// The fields of a message, in order; they point into it. Throws ebb::Error for anything that does not fit in
/// the bytes.
std::vector<Field> read_fields(std::string_view message);

}  // namespace onnx

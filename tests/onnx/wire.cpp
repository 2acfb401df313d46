#include "onnx/wire.h"

#include <ebb/core/error.h>

#include <bit>

namespace onnx {
namespace {

template <class... Parts>
[[noreturn]] void damaged(const Parts&... parts) {
  ebb::detail::fail("protobuf: ", parts..., ". The message is damaged.");
}

// Takes values off the front of a view.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  bool done() const { return bytes_.empty(); }

  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size())
      damaged("a field of ", count, " bytes where only ", std::uint64_t{bytes_.size()}, " follow");
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

  std::uint64_t little_endian(std::uint64_t count) {
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (const char c : take(count)) {
      value |= std::uint64_t{static_cast<unsigned char>(c)} << shift;
      shift += 8;
    }
    return value;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint64_t byte = little_endian(1);
      if (shift == 63 && byte > 1) damaged("a number of more than 64 bits");
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
    damaged("a number of more than 10 bytes");
  }

 private:
  std::string_view bytes_;
};

void check_type(const Field& field, Field::Type type) {
  if (field.type != type)
    damaged("field ", std::uint64_t{field.number}, " has wire type ", int{field.type}, " instead of ",
            int{type});
}

}  // namespace

std::vector<Field> read_fields(std::string_view message) {
  std::vector<Field> fields;
  Reader reader(message);
  while (!reader.done()) {
    const std::uint64_t tag = reader.varint();
    if (tag >> 3 == 0 || tag >> 3 >= 1u << 29) damaged("the field number ", tag >> 3);
    Field field{static_cast<std::uint32_t>(tag >> 3), static_cast<Field::Type>(tag & 7), 0, {}};
    switch (field.type) {
      case Field::varint:
        field.value = reader.varint();
        break;
      case Field::fixed64:
        field.value = reader.little_endian(8);
        break;
      case Field::bytes:
        field.data = reader.take(reader.varint());
        break;
      case Field::fixed32:
        field.value = reader.little_endian(4);
        break;
      default:
        damaged("the wire type ", int{field.type});
    }
    fields.push_back(field);
  }
  return fields;
}

std::int64_t Field::integer() const {
  check_type(*this, varint);
  return static_cast<std::int64_t>(value);
}

float Field::real() const {
  check_type(*this, fixed32);
  return std::bit_cast<float>(static_cast<std::uint32_t>(value));
}

std::string_view Field::text() const {
  check_type(*this, bytes);
  return data;
}

void Field::append_to(std::vector<std::int64_t>& out) const {
  if (type != bytes) return out.push_back(integer());
  for (Reader reader(data); !reader.done();) out.push_back(static_cast<std::int64_t>(reader.varint()));
}

void Field::append_to(std::vector<float>& out) const {
  if (type != bytes) return out.push_back(real());
  for (Reader reader(data); !reader.done();)
    out.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(reader.little_endian(4))));
}

void Field::append_to(std::vector<double>& out) const {
  if (type == fixed64) return out.push_back(std::bit_cast<double>(value));
  check_type(*this, bytes);
  for (Reader reader(data); !reader.done();) out.push_back(std::bit_cast<double>(reader.little_endian(8)));
}

}  // namespace onnx

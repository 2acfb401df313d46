// The reader of protocol buffers: what it reads, and that damage is an error.
#include <ebb/ebb.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "onnx/proto.h"
#include "onnx/wire.h"

using namespace onnx;
using namespace std::string_literals;

namespace {

std::string field(int number, int type, const std::string& rest) {
  return std::string(1, static_cast<char>(number << 3 | type)) + rest;
}
std::string bytes(int number, const std::string& data) {
  return field(number, 2, std::string(1, static_cast<char>(data.size())) + data);
}

}  // namespace

TEST_CASE("fields are read by their wire types") {
  const std::string message = field(1, 0, "\xac\x02") + field(2, 5, "\0\0\x80\x3f"s) + bytes(3, "abc") +
                              field(4, 1, "\0\0\0\0\0\0\xf8\x3f"s) +
                              field(5, 0, std::string(9, '\xff') + "\x01");
  const auto fields = read_fields(message);
  REQUIRE(fields.size() == 5);
  CHECK(fields[0].integer() == 300);
  CHECK(fields[1].real() == 1.0f);
  CHECK(fields[2].text() == "abc");
  std::vector<double> doubles;
  fields[3].append_to(doubles);
  CHECK(doubles == std::vector<double>{1.5});
  CHECK(fields[4].integer() == -1);
}

TEST_CASE("numbers may be packed or not") {
  std::vector<std::int64_t> integers;
  const std::string packed = bytes(1, "\x01\xac\x02") + field(1, 0, "\x07");
  for (const Field& f : read_fields(packed)) f.append_to(integers);
  CHECK(integers == std::vector<std::int64_t>{1, 300, 7});
  std::vector<float> floats;
  const std::string two = bytes(1, "\0\0\x80\x3f\0\0\0\x40"s);
  for (const Field& f : read_fields(two)) f.append_to(floats);
  CHECK(floats == std::vector<float>{1, 2});
}

TEST_CASE("damaged messages are errors") {
  const std::string damaged[] = {
      field(1, 0, ""),                                // a number that is missing
      field(1, 0, "\x80"),                            // one that does not end
      field(1, 0, std::string(10, '\xff') + "\x01"),  // one of more than 10 bytes
      field(1, 0, std::string(9, '\xff') + "\x02"),   // one of more than 64 bits
      field(1, 1, "1234567"),                         // 8 bytes, one missing
      field(1, 5, "123"),                             // 4 bytes, one missing
      field(1, 2,
            "\x05"
            "1234"),                                 // a string longer than the message
      field(1, 2, std::string(9, '\xff') + "\x01"),  // far longer
      field(1, 3, ""),                               // a wire type nobody uses
      field(0, 0, "\x01"),                           // field 0
  };
  for (const std::string& message : damaged) CHECK_THROWS_AS(read_fields(message), ebb::Error);
  const std::string text = bytes(1, "abcde"), number = field(1, 0, "\x01");
  CHECK_THROWS_AS(read_fields(text)[0].integer(), ebb::Error);
  CHECK_THROWS_AS(read_fields(number)[0].text(), ebb::Error);
  std::vector<float> floats;
  CHECK_THROWS_AS(read_fields(text)[0].append_to(floats), ebb::Error);
}

TEST_CASE("tensors are read from raw and from listed data") {
  const std::string shape = field(1, 0, "\x02"), is_float = field(2, 0, "\x01"),
                    is_byte = field(2, 0, "\x02");
  const Tensor raw = parse_tensor(shape + is_float + bytes(9, "\0\0\x80\x3f\0\0\0\x40"s));
  const Tensor listed = parse_tensor(shape + is_float + bytes(4, "\0\0\x80\x3f\0\0\0\x40"s));
  CHECK(raw.equal(ebb::tensor({1.0, 2.0}, ebb::kFloat)));
  CHECK(listed.equal(raw));
  CHECK(parse_tensor(shape + is_byte + bytes(5, "\x03\x04")).equal(ebb::tensor({3, 4}, ebb::kByte)));
  CHECK(parse_tensor(field(1, 0, "\0"s) + is_float).numel() == 0);
}

TEST_CASE("tensors whose data do not fill their shape are errors") {
  const std::string is_float = field(2, 0, "\x01"), eight = "12345678",
                    huge = std::string(8, '\xff') + "\x7f";
  const auto message_of = [&](const std::string& message) -> std::string {
    try {
      parse_tensor(message);
    } catch (const ebb::Error& e) {
      return e.what();
    }
    return "";
  };
  CHECK(message_of(field(1, 0, "\x03") + is_float + bytes(9, eight)) ==
        "TensorProto: the shape [3] takes 12 bytes, but there are 8.");
  CHECK(message_of(field(1, 0, std::string(9, '\xff') + "\x01") + is_float) ==
        "TensorProto: the shape [-1] is not one.");
  CHECK(message_of(field(1, 0, huge) + field(1, 0, huge) + is_float).find("is not one") != std::string::npos);
  CHECK(message_of(field(1, 0, "\x02") + field(2, 0, "\x08") + bytes(6, "a")).find("field 6") !=
        std::string::npos);
  CHECK(message_of(field(1, 0, "\x02") + field(2, 0, "\x09") + bytes(9, "\x01\x02")).find("bool") !=
        std::string::npos);
}

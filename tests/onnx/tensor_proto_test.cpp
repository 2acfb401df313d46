// TensorProto messages: raw and typed data, and data that do not match the shape.
#include <ebb/ebb.h>

#include "onnx/call.h"
#include "support/catch.h"

#include <onnx/onnx_pb.h>

using namespace onnx;

namespace {

Tensor parse(const TensorProto& message) { return parse_tensor(message.SerializeAsString()); }

TensorProto two_of(std::int32_t type) {
  TensorProto message;
  message.add_dims(2);
  message.set_data_type(type);
  return message;
}

}  // namespace

TEST_CASE("TensorProto messages with raw or typed data are read") {
  TensorProto raw = two_of(TensorProto::FLOAT), listed = raw, bytes = two_of(TensorProto::UINT8);
  raw.set_raw_data(std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  listed.add_float_data(1);
  listed.add_float_data(2);
  bytes.add_int32_data(3);
  bytes.add_int32_data(4);
  CHECK(parse(raw).equal(ebb::tensor({1.0, 2.0}, ebb::kFloat)));
  CHECK(parse(listed).equal(parse(raw)));
  CHECK(parse(bytes).equal(ebb::tensor({3, 4}, ebb::kByte)));
  raw.set_dims(0, 0);
  raw.clear_raw_data();
  CHECK(parse(raw).numel() == 0);
}

TEST_CASE("an invalid TensorProto message is an error") {
  TensorProto message = two_of(TensorProto::FLOAT);
  message.set_dims(0, 3);
  message.set_raw_data("12345678");
  CHECK_THROWS_WITH(parse(message), "TensorProto: the shape [3] takes 12 bytes, but there are 8.");
  message.set_dims(0, -1);
  CHECK_THROWS_WITH(parse(message),
                    support::Contains("a size is negative in shape [-1]; sizes must be at least"));
  CHECK_THROWS_WITH(parse(two_of(TensorProto::STRING)), support::Contains("data type 8"));
  TensorProto booleans = two_of(TensorProto::BOOL);
  booleans.set_raw_data("\1\2");
  CHECK_THROWS_WITH(parse(booleans), support::Contains("bool"));
  CHECK_THROWS_WITH(parse_tensor("\xff"),
                    support::Contains("onnx.TensorProto: 1 bytes that are no such message"));
  CHECK_THROWS_WITH(parse_model("\xff"),
                    support::Contains("onnx.ModelProto: 1 bytes that are no such message"));
}

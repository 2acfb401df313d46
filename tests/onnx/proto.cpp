// Reads ONNX messages with the code that protobuf generated.
#include <ebb/ops/creation.h>

#include "onnx/call.h"

#include <onnx/onnx_pb.h>

#include <bit>
#include <cstring>

namespace onnx {
namespace {

using ebb::detail::fail;

template <class Message>
Message parse(std::string_view bytes) {
  Message message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    fail(message.GetTypeName(), ": ", std::uint64_t{bytes.size()}, " bytes that are no such message.");
  return message;
}

// The little-endian bytes of the elements, in the format of raw_data.
template <class T, class Field>
std::string bytes_of(const Field& values) {
  std::string bytes;
  for (const auto each : values) {
    const T value = static_cast<T>(each);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  return bytes;
}

std::string bytes_of(const TensorProto& tensor, ebb::DType dtype) {
  if (tensor.has_raw_data()) return tensor.raw_data();
  if (dtype == ebb::kFloat) return bytes_of<float>(tensor.float_data());
  if (dtype == ebb::kDouble) return bytes_of<double>(tensor.double_data());
  switch (ebb::element_size(dtype)) {
    case 1:
      return bytes_of<std::uint8_t>(tensor.int32_data());
    case 2:
      return bytes_of<std::uint16_t>(tensor.int32_data());  // 16-bit floats are stored by their bits
    case 4:
      return bytes_of<std::uint32_t>(tensor.int32_data());
    default:
      return bytes_of<std::uint64_t>(tensor.int64_data());
  }
}

Tensor tensor_of(const TensorProto& message) {
  static_assert(std::endian::native == std::endian::little);
  EBB_CHECK(message.external_data().empty() && !message.has_segment(),
            "TensorProto: external data and segments are not supported.");
  const ebb::DType dtype = dtype_of(message.data_type());
  const std::vector<std::int64_t> dims(message.dims().begin(), message.dims().end());
  const std::string bytes = bytes_of(message, dtype);
  const Tensor tensor = ebb::empty(dims, dtype);
  EBB_CHECK(tensor.nbytes() == bytes.size(), "TensorProto: the shape ", ebb::IntArrayRef(dims), " takes ",
            std::uint64_t{tensor.nbytes()}, " bytes, but there are ", std::uint64_t{bytes.size()}, ".");
  for (const char c : bytes)
    EBB_CHECK(dtype != ebb::kBool || c == 0 || c == 1, "TensorProto: a bool other than 0 and 1.");
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

Attribute attribute_of(const AttributeProto& message) {
  return {message.f(),
          message.i(),
          message.s(),
          message.has_t() ? tensor_of(message.t()) : Tensor(),
          {message.floats().begin(), message.floats().end()},
          {message.ints().begin(), message.ints().end()}};
}

Node node_of(const NodeProto& message) {
  Node node{message.op_type(),
            {message.input().begin(), message.input().end()},
            {message.output().begin(), message.output().end()},
            {}};
  for (const AttributeProto& each : message.attribute()) node.attributes[each.name()] = attribute_of(each);
  return node;
}

}  // namespace

ebb::DType dtype_of(std::int64_t data_type) {
  switch (data_type) {
    case TensorProto::FLOAT:
      return ebb::kFloat;
    case TensorProto::UINT8:
      return ebb::kByte;
    case TensorProto::INT8:
      return ebb::kChar;
    case TensorProto::INT16:
      return ebb::kShort;
    case TensorProto::INT32:
      return ebb::kInt;
    case TensorProto::INT64:
      return ebb::kLong;
    case TensorProto::BOOL:
      return ebb::kBool;
    case TensorProto::FLOAT16:
      return ebb::kHalf;
    case TensorProto::DOUBLE:
      return ebb::kDouble;
    case TensorProto::BFLOAT16:
      return ebb::kBFloat16;
    default:
      fail("TensorProto: ebb has no dtype for the data type ", data_type, ".");
  }
}

Tensor parse_tensor(std::string_view bytes) { return tensor_of(parse<TensorProto>(bytes)); }

Model parse_model(std::string_view bytes) {
  const ModelProto message = parse<ModelProto>(bytes);
  const GraphProto& graph = message.graph();
  EBB_CHECK(graph.initializer().empty(), "GraphProto: initializers are not supported.");
  Model model;
  for (const OperatorSetIdProto& set : message.opset_import()) model.opset = set.version();
  for (const NodeProto& each : graph.node()) model.nodes.push_back(node_of(each));
  for (const ValueInfoProto& each : graph.input()) model.inputs.push_back(each.name());
  for (const ValueInfoProto& each : graph.output()) model.outputs.push_back(each.name());
  return model;
}

}  // namespace onnx

// The parts of ONNX messages that the tests need: tensors, and graphs of nodes.
#pragma once

#include <ebb/autograd/variable.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace onnx {

using ebb::Tensor;

/// Returns ebb's dtype for a TensorProto.DataType. Throws for unsupported ones (unsigned types above 8 bits,
/// strings, complex).
ebb::DType dtype_of(std::int64_t data_type);

/// Parses a TensorProto. Throws ebb::Error if the data do not match the shape.
Tensor parse_tensor(std::string_view bytes);

/// AttributeProto without graphs and types.
struct Attribute {
  float f = 0;
  std::int64_t i = 0;
  std::string s;
  Tensor t;  ///< undefined unless the attribute is a tensor
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
};

/// NodeProto. An empty name among inputs and outputs means that the argument is omitted.
struct Node {
  std::string op;
  std::vector<std::string> inputs, outputs;
  std::map<std::string, Attribute> attributes;
};

/// ModelProto with its graph.
struct Model {
  std::int64_t opset = 0;  ///< of the domain in which the graph's ops are defined
  std::vector<Node> nodes;
  std::vector<std::string> inputs, outputs;
};

Model parse_model(std::string_view bytes);

}  // namespace onnx

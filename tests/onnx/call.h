// The parts of ONNX messages that the tests need: tensors, and graphs of nodes; a call of a node with its
// inputs and attributes, and the table of functions that compute the ONNX ops with ebb.
#pragma once

#include <ebb/ebb.h>

#include <functional>
#include <map>
#include <set>
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

using Tensors = std::vector<Tensor>;
using Ints = std::vector<std::int64_t>;

/// A call of a node with its inputs and attributes.
class Call {
 public:
  Call(const Node& node, Tensors inputs, std::int64_t opset);

  std::int64_t opset() const { return opset_; }
  std::size_t outputs() const { return node_.outputs.size(); }
  const Tensors& inputs() const { return inputs_; }
  /// Whether the optional input was given.
  bool has(std::size_t input) const { return input < inputs_.size() && inputs_[input].defined(); }
  /// Returns the input; throws if it is missing.
  const Tensor& operator[](std::size_t input) const;
  ebb::optional<Tensor> maybe(std::size_t input) const;
  /// Returns an integer input that parametrizes the op.
  Ints numbers(std::size_t input) const;

  bool has(const char* attribute) const { return node_.attributes.count(attribute) != 0; }
  std::int64_t integer(const char* attribute, std::int64_t otherwise) const;
  double real(const char* attribute, double otherwise) const;
  std::string text(const char* attribute, const char* otherwise) const;
  Ints integers(const char* attribute, Ints otherwise) const;
  Tensor tensor(const char* attribute) const;
  /// Marks an attribute that does not change the result in ebb.
  void ignore(const char* attribute) const { asked_.insert(attribute); }
  /// Throws if an attribute was not read, because its meaning would be lost.
  void check_all_asked() const;

 private:
  const Attribute* find(const char* attribute) const;

  const Node& node_;
  Tensors inputs_;
  std::int64_t opset_;
  mutable std::set<std::string> asked_;
};

using Op = std::function<Tensors(const Call&)>;
using Ops = std::map<std::string, Op>;

// Each function adds the ops of one family.
void add_elementwise(Ops& ops);
void add_activation(Ops& ops);
void add_reduce(Ops& ops);
void add_shape(Ops& ops);
void add_rearrange(Ops& ops);
void add_creation(Ops& ops);
void add_index(Ops& ops);
void add_linalg(Ops& ops);
void add_conv(Ops& ops);
void add_pool(Ops& ops);
void add_norm(Ops& ops);
void add_loss(Ops& ops);
void add_optim(Ops& ops);

/// The ops of all families.
const Ops& all_ops();

/// Computes the outputs of a graph with the ops of ebb, node by node. Throws for unsupported ops and
/// attributes.
Tensors evaluate(const Model& model, const Tensors& inputs);

/// Converts an axis counted from the end to an index in `rank` dimensions.
inline std::int64_t wrap(std::int64_t axis, std::int64_t rank) { return axis < 0 ? axis + rank : axis; }
/// Converts indices counted from the end to indices in [0, size).
Tensor wrap_indices(const Tensor& indices, std::int64_t size);

}  // namespace onnx

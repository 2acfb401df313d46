// One node about to be computed: its inputs and attributes, and the table of what ebb computes for each op of
// ONNX.
#pragma once

#include <ebb/ebb.h>

#include "onnx/proto.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace onnx {

using Tensors = std::vector<Tensor>;
using Ints = std::vector<std::int64_t>;

class Call {
 public:
  Call(const Node& node, Tensors inputs, std::int64_t opset);

  std::int64_t opset() const { return opset_; }
  std::size_t outputs() const { return node_.outputs.size(); }
  const Tensors& inputs() const { return inputs_; }
  /// Whether the input was given: optional ones may be left out.
  bool has(std::size_t input) const { return input < inputs_.size() && inputs_[input].defined(); }
  /// The input; throws if it is missing.
  const Tensor& operator[](std::size_t input) const;
  ebb::optional<Tensor> maybe(std::size_t input) const;
  /// An input that holds numbers which parametrise the op.
  Ints numbers(std::size_t input) const;

  bool has(const char* attribute) const { return node_.attributes.count(attribute) != 0; }
  std::int64_t integer(const char* attribute, std::int64_t otherwise) const;
  double real(const char* attribute, double otherwise) const;
  std::string text(const char* attribute, const char* otherwise) const;
  Ints integers(const char* attribute, Ints otherwise) const;
  Tensor tensor(const char* attribute) const;
  /// Says that an attribute does not change what ebb computes.
  void ignore(const char* attribute) const { asked_.insert(attribute); }
  /// Throws if an attribute was never asked for: its meaning would be lost in silence.
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

// Each adds the ops of one family.
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

/// All of them.
const Ops& all_ops();

/// An axis counted from the end, as a place in `rank` dimensions.
inline std::int64_t wrap(std::int64_t axis, std::int64_t rank) { return axis < 0 ? axis + rank : axis; }
/// Indices counted from the end, as places in [0, size).
Tensor wrap_indices(const Tensor& indices, std::int64_t size);

}  // namespace onnx

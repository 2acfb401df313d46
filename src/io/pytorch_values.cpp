// Values out of pickles.
#include "io/pytorch_values.h"

#include <ebb/core/error.h>

#include <algorithm>

namespace ebb::pytorch {
namespace {

using io::Pickle;
using Kind = Pickle::Kind;
using Node = Pickle::Node;

constexpr int kMaxDepth = 100;
constexpr std::size_t kMaxValues = 10'000'000;

// Functions whose only argument is what they give, in the same words.
constexpr std::string_view kTransparent[] = {"torch.Size",
                                             "torch.device",
                                             "builtins.set",
                                             "__builtin__.set",
                                             "builtins.frozenset",
                                             "builtins.list",
                                             "builtins.tuple",
                                             "_codecs.encode",
                                             "builtins.bytearray",
                                             "collections.deque",
                                             "torch.jit._pickle.restore_type_tag",
                                             "torch.jit._pickle.build_intlist",
                                             "torch.jit._pickle.build_boollist",
                                             "torch.jit._pickle.build_doublelist",
                                             "torch.jit._pickle.build_tensorlist"};

class Converter {
 public:
  Converter(const Pickle& pickle, Storages& storages) : pickle_(pickle), storages_(storages) {}

  Value value(std::uint32_t at, int depth = 0) {
    if (depth > kMaxDepth) unsound("values lie more than a hundred levels deep, or in themselves");
    if (++count_ > kMaxValues) unsound("more than ten million values");
    const Node& node = pickle_.at(at);
    switch (node.kind) {
      case Kind::None:
        return {};
      case Kind::Bool:
        return node.integer != 0;
      case Kind::Int:
        return node.integer;
      case Kind::Double:
        return node.number;
      case Kind::String:
        return node.text;
      case Kind::List:
        return list(node.items, depth);
      case Kind::Tuple:
        return Tuple{list(node.items, depth)};
      case Kind::Dict:
        return dict(node.items, depth);
      case Kind::Global:
        return Object{node.text, {}};
      case Kind::Reference:
        unsound("a storage stands where a value should");
      case Kind::Call:
        return call(node, depth);
    }
    return {};
  }

 private:
  List list(const std::vector<std::uint32_t>& items, int depth) {
    List values;
    for (const std::uint32_t item : items) values.push_back(value(item, depth + 1));
    return values;
  }
  Dict dict(const std::vector<std::uint32_t>& items, int depth) {
    Dict values;
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      Value key = value(items[i], depth + 1);
      values.emplace_back(std::move(key), value(items[i + 1], depth + 1));
    }
    return values;
  }

  Value call(const Node& node, int depth) {
    const Node& function = pickle_.at(node.items[0]);
    const Node& arguments = pickle_.at(node.items[1]);
    if (function.kind != Kind::Global || arguments.kind != Kind::Tuple)
      unsound("a call of what is no function");
    const std::string& name = function.text;
    const std::vector<std::uint32_t>& given = arguments.items;
    if (name == "torch._utils._rebuild_tensor_v2" || name == "torch._utils._rebuild_tensor_v3" ||
        name == "torch._utils._rebuild_tensor")
      return tensor(given, name.ends_with("v3"));
    if ((name == "torch._utils._rebuild_parameter" || name == "torch._utils._rebuild_parameter_with_state" ||
         name == "torch._tensor._rebuild_from_type_v2") &&
        !given.empty())
      return name.starts_with("torch._tensor") ? rebuilt(given, depth) : value(given[0], depth + 1);
    if (name == "collections.OrderedDict" || name == "collections.defaultdict")
      return dict(node.contents, depth);
    if (std::find(std::begin(kTransparent), std::end(kTransparent), name) != std::end(kTransparent)) {
      if (!node.contents.empty() || given.empty()) return list(node.contents, depth);
      return value(given[0], depth + 1);
    }
    // TorchScript's classes are attributes by name; so is a namespace of options.
    if (name.starts_with("__torch__.") || name == "argparse.Namespace" || name == "types.SimpleNamespace")
      return Object{name, dict(node.attributes, depth)};
    refuse(name);
  }

  [[noreturn]] static void refuse(const std::string& name) {
    ebb::detail::fail("pytorch: the file holds an instance of ", name,
                      ", which only Python can make. In Python, save what is data: "
                      "torch.save(model.state_dict(), path), and "
                      "plain numbers, strings, lists and dicts beside it.");
  }

  // torch.Tensor with attributes of Python's: (function, type, arguments, state).
  Value rebuilt(const std::vector<std::uint32_t>& given, int depth) {
    if (given.size() < 3) unsound("a tensor lacks its description");
    const Node& function = pickle_.at(given[0]);
    const Node& arguments = pickle_.at(given[2]);
    if (function.kind != Kind::Global || arguments.kind != Kind::Tuple)
      unsound("a tensor is described by no function");
    if (function.text.starts_with("torch._utils._rebuild_parameter") && !arguments.items.empty())
      return value(arguments.items[0], depth + 1);
    if (!function.text.starts_with("torch._utils._rebuild_tensor")) refuse(function.text);
    return tensor(arguments.items, function.text.ends_with("v3"));
  }

  std::int64_t integer(std::uint32_t at) const {
    const Node& node = pickle_.at(at);
    if (node.kind != Kind::Int) unsound("a tensor's size, stride or offset is no integer");
    return node.integer;
  }
  DimVector integers(std::uint32_t at) const {
    const Node* node = &pickle_.at(at);
    if (node->kind == Kind::Call && pickle_.at(node->items[1]).items.size() == 1)  // torch.Size((...))
      node = &pickle_.at(pickle_.at(node->items[1]).items[0]);
    if (node->kind != Kind::Tuple && node->kind != Kind::List) unsound("a tensor's shape is no tuple");
    DimVector values;
    for (const std::uint32_t item : node->items) values.push_back(integer(item));
    return values;
  }

  Value tensor(const std::vector<std::uint32_t>& given, bool names_dtype);

  const Pickle& pickle_;
  Storages& storages_;
  std::size_t count_ = 0;
};

// (storage, offset, sizes, strides, requires_grad, hooks[, dtype or metadata]); the storage is ("storage",
// class, key, location, count[, view]), where a view is (key, offset, count) of a file before 1.6.
Value Converter::tensor(const std::vector<std::uint32_t>& given, bool names_dtype) {
  if (given.size() < 4 || pickle_.at(given[0]).kind != Kind::Reference) unsound("a tensor lacks its storage");
  const Node& id = pickle_.at(pickle_.at(given[0]).items[0]);
  if (id.kind != Kind::Tuple || id.items.size() < 5) unsound("a tensor's storage is not described");
  const std::string& storage_class = pickle_.at(id.items[1]).text;
  const std::string name = storage_class.substr(storage_class.rfind('.') + 1);
  const std::string& key = pickle_.at(id.items[2]).text;
  std::int64_t count = integer(id.items[4]);

  const StorageType* type = storage_named(name);
  if (names_dtype && given.size() > 6) {
    const std::string& dtype = pickle_.at(given[6]).text;  // "torch.uint16"
    type = dtype_named(dtype.substr(dtype.rfind('.') + 1));
    if (type) count /= type->bytes;
    if (!type) return Unsupported{dtype};
  }
  if (!type) return Unsupported{name};
  if (type->type == DType::Undefined) return Unsupported{std::string(type->dtype)};

  const DimVector sizes = integers(given[2]), strides = integers(given[3]);
  std::int64_t offset = integer(given[1]), before = 0;
  if (id.items.size() > 5 && pickle_.at(id.items[5]).kind == Kind::Tuple) {
    const std::vector<std::uint32_t>& view = pickle_.at(id.items[5]).items;
    if (view.size() < 2) unsound("a view of a storage has no offset");
    before = integer(view[1]);
  }
  if (sizes.size() != strides.size() || count < 0 || offset < 0 || before < 0 ||
      __builtin_add_overflow(offset, before, &offset))
    unsound("a tensor's sizes and strides do not fit each other");
  std::int64_t last = offset;
  bool inside = true, empty = false;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    std::int64_t reach = 0;
    inside = inside && sizes[d] >= 0 && strides[d] >= 0 &&
             !__builtin_mul_overflow(std::max<std::int64_t>(sizes[d] - 1, 0), strides[d], &reach) &&
             !__builtin_add_overflow(last, reach, &last);
    empty = empty || sizes[d] == 0;
  }
  if (!inside || (!empty && last >= count)) unsound("a tensor reaches outside its storage");
  if (empty) return Variable(NdArray::empty(sizes, type->type));
  const NdArray elements = storages_.load(key, *type, count);
  return Variable(NdArray(elements.storage(), sizes, strides, offset, type->type));
}

}  // namespace

Value value_of(const Pickle& pickle, Storages& storages) {
  return Converter(pickle, storages).value(pickle.root);
}

}  // namespace ebb::pytorch

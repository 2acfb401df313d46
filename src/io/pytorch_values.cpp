// value_of: converts a pickle's nodes to values.
#include "io/pytorch_values.h"

#include <ebb/core/error.h>

#include <algorithm>
#include <deque>
#include <unordered_map>

namespace ebb::pytorch {
namespace {

using io::Pickle;
using Kind = Pickle::Kind;
using Index = Pickle::Index;

constexpr int kMaxDepth = 100;
constexpr std::uint64_t kMaxValues = 10'000'000;
constexpr std::size_t kMaxDims = 64;  // the limit of PyTorch and NumPy
// A tensor may repeat the elements of its storage, and objects may repeat the bytes of the pickle, at most
// kRepeats times. kAnySize bytes are allowed in addition.
constexpr std::size_t kRepeats = 64, kAnySize = std::size_t{16} << 20;

// Functions that return their only argument unchanged.
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
  Converter(const Pickle& pickle, Storages& storages)
      : pickle_(pickle), storages_(storages), indices_(pickle.size()) {}

  Value root() { return converted(pickle_.root(), 0).value; }

 private:
  // A value, the number of values in it, and its depth. Shared values are counted at each occurrence.
  struct Converted {
    Value value;
    std::uint32_t count = 1;
    int height = 0;
  };

  // Returns the value of a node. It is converted at the first call.
  Converted converted(Index at, int depth) {
    if (depth > kMaxDepth) too_deep();
    if (const std::uint32_t index = indices_[at]; index != 0) {
      if (depth + converted_[index - 1].height > kMaxDepth) too_deep();
      return converted_[index - 1];
    }
    Converted fresh = convert(at, depth);
    if (!costs_nothing(at)) {
      converted_.push_back(fresh);
      indices_[at] = static_cast<std::uint32_t>(converted_.size());
    }
    return fresh;
  }

  // Returns whether the value is None or an empty list or dict. Such a value needs no cache entry.
  bool costs_nothing(Index at) const {
    const Kind kind = pickle_.kind(at);
    return kind == Kind::None || ((kind == Kind::List || kind == Kind::Dict) && pickle_.items(at).empty());
  }

  Converted convert(Index at, int depth) {
    switch (pickle_.kind(at)) {
      case Kind::None:
        return {};
      case Kind::Bool:
        return {pickle_.integer(at) != 0};
      case Kind::Int:
        return {pickle_.integer(at)};
      case Kind::Double:
        return {pickle_.number(at)};
      case Kind::String:
        return {std::string(pickle_.text(at))};
      case Kind::List:
        return list(pickle_.items(at), depth);
      case Kind::Tuple:
        return tuple(pickle_.items(at), depth);
      case Kind::Dict:
        return dict(pickle_.items(at), depth);
      case Kind::Global:
        return {Object{pickle_.name(at), {}}};
      case Kind::Reference:
        unsound("a storage is in the place of a value");
      case Kind::Call:
        return call(at, depth);
    }
    return {};
  }

  [[noreturn]] static void too_deep() {
    unsound("values are more than a hundred levels deep, or contain themselves");
  }

  // Converts an item of the value `all`, and adds the item's count and depth to `all`.
  Value inside(Converted& all, Index at, int depth) {
    Converted one = converted(at, depth + 1);
    if ((all.count += one.count) > kMaxValues) unsound("more than ten million values");
    all.height = std::max(all.height, one.height + 1);
    return std::move(one.value);
  }
  List values(Converted& all, const Pickle::Items& items, int depth) {
    List values;
    values.reserve(items.size());
    for (const Index item : items) values.push_back(inside(all, item, depth));
    return values;
  }
  void add_entries(Dict& entries, Converted& all, const Pickle::Items& items, int depth) {
    entries.reserve(entries.size() + items.size() / 2);
    for (auto at = items.begin(); at != items.end(); ++at) {
      Value key = inside(all, *at, depth);
      entries.emplace_back(std::move(key), inside(all, *++at, depth));
    }
  }
  Converted list(const Pickle::Items& items, int depth) {
    static const Value none{List()};
    Converted all;
    all.value = items.empty() ? none : Value(values(all, items, depth));
    return all;
  }
  Converted tuple(const Pickle::Items& items, int depth) {
    Converted all;
    all.value = Tuple{values(all, items, depth)};
    return all;
  }
  Converted dict(const Pickle::Items& items, int depth) {
    static const Value none{Dict()};
    Converted all;
    Dict entries;
    add_entries(entries, all, items, depth);
    all.value = entries.empty() ? none : Value(std::move(entries));
    return all;
  }
  Converted object(std::string name, Index call, int depth) {
    Converted all;
    Object object{std::move(name), {}};
    spend(object.type.size());
    for (const Index state : pickle_.states(call)) {
      spend(pickle_.items(state).size() * sizeof(Value));
      add_entries(object.attributes, all, pickle_.items(state), depth);
    }
    all.value = std::move(object);
    return all;
  }

  // Limits the memory of objects. Each object has its own copy of names, which the pickle may contain only
  // once.
  void spend(std::size_t bytes) {
    if ((spent_ += bytes) > kAnySize + kRepeats * pickle_.bytes())
      unsound("its objects repeat the same description more than ", kRepeats, " times");
  }

  Converted call(Index at, int depth) {
    const Index function = pickle_.function(at), arguments = pickle_.arguments(at);
    if (pickle_.kind(function) != Kind::Global || pickle_.kind(arguments) != Kind::Tuple)
      unsound("a call of a value that is not a function");
    const std::string name = pickle_.name(function);
    const std::vector<Index> given = pickle_.items(arguments).first(kGiven);
    if (name == "torch._utils._rebuild_tensor_v2" || name == "torch._utils._rebuild_tensor_v3" ||
        name == "torch._utils._rebuild_tensor")
      return tensor(arguments, name.ends_with("v3"));
    if ((name == "torch._utils._rebuild_parameter" || name == "torch._utils._rebuild_parameter_with_state" ||
         name == "torch._tensor._rebuild_from_type_v2") &&
        !given.empty())
      return name.starts_with("torch._tensor") ? rebuilt(given, depth) : converted(given[0], depth + 1);
    if (name == "collections.OrderedDict" || name == "collections.defaultdict")
      return dict(pickle_.contents(at), depth);
    if (std::find(std::begin(kTransparent), std::end(kTransparent), name) != std::end(kTransparent)) {
      if (!pickle_.contents(at).empty() || given.empty()) return list(pickle_.contents(at), depth);
      return converted(given[0], depth + 1);
    }
    // An object of a TorchScript class, an argparse.Namespace or a SimpleNamespace becomes an Object with the
    // names and values of its attributes.
    if (name.starts_with("__torch__.") || name == "argparse.Namespace" || name == "types.SimpleNamespace")
      return object(name, at, depth);
    refuse(name);
  }

  [[noreturn]] static void refuse(const std::string& name) {
    ebb::detail::fail("pytorch: the file holds an instance of ", name,
                      ", which only Python can create. In Python, save only data: "
                      "torch.save(model.state_dict(), path), and "
                      "plain numbers, strings, lists and dicts beside it.");
  }

  // Converts a call of torch._tensor._rebuild_from_type_v2, which makes a tensor with Python attributes.
  // `given` contains its arguments (function, type, arguments, state). The attributes are ignored.
  Converted rebuilt(const std::vector<Index>& given, int depth) {
    if (given.size() < 3) unsound("a tensor lacks its description");
    const Index function = given[0], arguments = given[2];
    if (pickle_.kind(function) != Kind::Global || pickle_.kind(arguments) != Kind::Tuple)
      unsound("the description of a tensor is not a function call");
    const std::string name = pickle_.name(function);
    const Pickle::Items items = pickle_.items(arguments);
    if (name.starts_with("torch._utils._rebuild_parameter") && !items.empty())
      return converted(*items.begin(), depth + 1);
    if (!name.starts_with("torch._utils._rebuild_tensor")) refuse(name);
    return tensor(arguments, name.ends_with("v3"));
  }

  std::int64_t integer(Index at) const {
    if (pickle_.kind(at) != Kind::Int) unsound("a tensor's size, stride or offset is not an integer");
    return pickle_.integer(at);
  }
  DimVector integers(Index at) const {
    if (pickle_.kind(at) == Kind::Call && pickle_.items(pickle_.arguments(at)).size() == 1)
      at = *pickle_.items(pickle_.arguments(at)).begin();  // torch.Size((...))
    if (pickle_.kind(at) != Kind::Tuple && pickle_.kind(at) != Kind::List)
      unsound("a tensor's shape is not a tuple");
    if (pickle_.items(at).size() > kMaxDims) unsound("a tensor of more than ", kMaxDims, " dimensions");
    DimVector values;
    for (const Index item : pickle_.items(at)) values.push_back(integer(item));
    return values;
  }

  // Converts a tensor. Tensors whose arguments are the same node become the same tensor.
  Converted tensor(Index arguments, bool names_dtype) {
    const auto [known, fresh] = tensors_.try_emplace(arguments);
    if (fresh) known->second = described(pickle_.items(arguments).first(kGiven), names_dtype);
    return {known->second};
  }
  Value described(const std::vector<Index>& given, bool names_dtype);
  Value unsupported(std::string dtype) {
    spend(dtype.size());
    return Unsupported{std::move(dtype)};
  }

  static constexpr std::size_t kGiven = 8;  // an upper bound of the number of arguments that are read

  const Pickle& pickle_;
  Storages& storages_;
  std::vector<std::uint32_t> indices_;  // for each node: 1 + the index of its value in converted_, or 0
  std::deque<Converted> converted_;
  std::unordered_map<Index, Value> tensors_;  // the key is the node of the arguments
  std::size_t spent_ = 0;
};

// Converts the description of a tensor: (storage, offset, sizes, strides, requires_grad, hooks[, dtype or
// metadata]). The storage is ("storage", class, key, location, count[, view]), and a view is (key, offset,
// count) in files before PyTorch 1.6.
Value Converter::described(const std::vector<Index>& given, bool names_dtype) {
  if (given.size() < 4 || pickle_.kind(given[0]) != Kind::Reference) unsound("a tensor lacks its storage");
  const std::vector<Index> id = pickle_.items(pickle_.id(given[0])).first(kGiven);
  if (pickle_.kind(pickle_.id(given[0])) != Kind::Tuple || id.size() < 5)
    unsound("a tensor's storage is not described");
  const std::string storage_class = pickle_.name(id[1]);
  const std::string name = storage_class.substr(storage_class.rfind('.') + 1);
  const std::string_view key = pickle_.text(id[2]);
  if (key.size() > kLongestKey) unsound("the key of a storage has ", std::uint64_t{key.size()}, " bytes");
  std::int64_t count = integer(id[4]);

  const StorageType* type = storage_named(name);
  if (names_dtype && given.size() > 6) {
    const std::string dtype = pickle_.name(given[6]);  // "torch.uint16"
    type = dtype_named(dtype.substr(dtype.rfind('.') + 1));
    if (type) count /= type->bytes;
    if (!type) return unsupported(dtype);
  }
  if (!type) return unsupported(name);
  if (type->type == DType::Undefined) return unsupported(std::string(type->dtype));

  const DimVector sizes = integers(given[2]), strides = integers(given[3]);
  std::int64_t offset = integer(given[1]), before = 0;
  if (id.size() > 5 && pickle_.kind(id[5]) == Kind::Tuple) {
    const std::vector<Index> view = pickle_.items(id[5]).first(2);
    if (view.size() < 2) unsound("a view of a storage has no offset");
    before = integer(view[1]);
  }
  if (sizes.size() != strides.size() || count < 0 || offset < 0 || before < 0 ||
      __builtin_add_overflow(offset, before, &offset))
    unsound("a tensor's sizes and strides do not fit each other");
  std::int64_t last = offset;
  std::uint64_t bytes = type->bytes;
  bool inside = true, empty = false, endless = false;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    std::int64_t reach = 0;
    inside = inside && sizes[d] >= 0 && strides[d] >= 0 &&
             !__builtin_mul_overflow(std::max<std::int64_t>(sizes[d] - 1, 0), strides[d], &reach) &&
             !__builtin_add_overflow(last, reach, &last);
    empty = empty || sizes[d] == 0;
    endless = __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(sizes[d]), &bytes) || endless;
  }
  if (!inside || (!empty && last >= count)) unsound("a tensor exceeds its storage");
  if (empty) return Variable(NdArray::empty(sizes, type->type));
  // Limits the number of elements, because a copy of the tensor allocates all of them.
  if (endless || bytes / kRepeats > kAnySize / kRepeats + static_cast<std::uint64_t>(count) * type->bytes)
    unsound("a tensor repeats the elements of its storage more than ", kRepeats, " times");
  const NdArray elements = storages_.load(std::string(key), *type, count);
  return Variable(NdArray(elements.storage(), sizes, strides, offset, type->type));
}

}  // namespace

Value value_of(const Pickle& pickle, Storages& storages) { return Converter(pickle, storages).root(); }

}  // namespace ebb::pytorch

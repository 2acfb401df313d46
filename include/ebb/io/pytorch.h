// PyTorch's files, and the archives of libtorch's torch::save. torch.save writes files (.pt, .pth, .bin) in
// the zip format (since 1.6) or the older format. All of them are pickles. The reader only accepts data and
// never executes code from a file.
#pragma once

#include <ebb/autograd/variable.h>

#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ebb::pytorch {

using NamedTensors = std::vector<std::pair<std::string, Variable>>;

class Value;
using List = std::vector<Value>;
/// A Python dict: pairs of key and value in the order of the file, which is the insertion order.
using Dict = std::vector<std::pair<Value, Value>>;
struct Tuple {
  List items;
};
/// An instance of a class: its name, and its attributes or constructor arguments.
struct Object {
  std::string type;
  Dict attributes;
};
/// A tensor of a dtype that ebb does not have, with the name of that dtype ("complex64").
struct Unsupported {
  std::string dtype;
};

/// A value in a file: None, a bool, an integer, a floating-point number, a string (also bytes), a tensor, or
/// a list, tuple, dict or object of values. Copies share their contents, which are immutable.
class EBB_API Value {
 public:
  using Content = std::variant<std::monostate, bool, std::int64_t, double, std::string, Variable, List, Tuple,
                               Dict, Object, Unsupported>;

  Value() = default;
  Value(bool b) : content_(kept(b)) {}
  Value(int i) : content_(kept(std::int64_t{i})) {}
  Value(std::int64_t i) : content_(kept(i)) {}
  Value(double d) : content_(kept(d)) {}
  Value(const char* text) : content_(kept(std::string(text))) {}
  Value(std::string text) : content_(kept(std::move(text))) {}
  Value(Variable tensor) : content_(kept(std::move(tensor))) {}
  Value(List items) : content_(kept(std::move(items))) {}
  Value(Tuple tuple) : content_(kept(std::move(tuple))) {}
  Value(Dict dict) : content_(kept(std::move(dict))) {}
  Value(Object object) : content_(kept(std::move(object))) {}
  Value(Unsupported tensor) : content_(kept(std::move(tensor))) {}

  bool is_none() const { return !content_; }
  bool is_tensor() const { return std::holds_alternative<Variable>(content()); }
  bool is_dict() const { return std::holds_alternative<Dict>(content()); }

  // Each accessor throws if the value has another type. The error names the type of the value.
  bool as_bool() const;
  std::int64_t as_int() const;
  /// Accepts an integer too.
  double as_double() const;
  const std::string& as_string() const;
  const Variable& as_tensor() const;
  /// Accepts a list or a tuple.
  const List& as_list() const;
  /// Accepts a dict, or an object (its attributes).
  const Dict& as_dict() const;

  /// Returns the value under a key of a dict, or an attribute of an object. If no value has this name, dots
  /// in the name separate nested keys ("model.fc.weight"). If there is no such value either, throws and lists
  /// the most similar keys.
  const Value& at(const std::string& key) const;
  bool contains(const std::string& key) const;
  const Value& at(std::size_t index) const;

  const Content& content() const { return content_ ? *content_ : kNothing; }

 private:
  template <class T>
  static std::shared_ptr<const Content> kept(T&& content) {
    return std::make_shared<const Content>(std::forward<T>(content));
  }
  static const Content kNothing;

  std::shared_ptr<const Content> content_;  // null for None
};

/// Reads a file like torch.load(path, weights_only=True, map_location="cpu"). Tensors that share a storage in
/// the file also share one in the result and keep their strides. Each storage is read once, directly into its
/// final memory; a storage without tensors is not read. A value to which the file refers several times is
/// shared too. The values take at most 128 bytes of memory for each byte that describes them.
///
/// Throws ebb::Error for:
/// - a file that has neither the zip format nor the older format of torch.save;
/// - a corrupt archive (truncated, or with a wrong CRC);
/// - classes and functions that are not data; the error contains their name and advises what to save instead;
/// - sizes and strides that exceed the storage, or repeat its elements over 64 times (beyond 16 MiB);
/// - files of a big-endian machine;
/// - more than 100 levels of nesting or ten million values, where each reference counts.
EBB_API Value read(const std::string& path);
EBB_API Value read(std::istream& stream);
/// Reads a file from bytes in memory.
EBB_API Value parse(const void* bytes, std::size_t size);

/// Returns the tensors of a file under their state_dict names. Keys of nested dicts, lists and objects are
/// joined with dots. If the file is a checkpoint, the value under "state_dict", "model_state_dict", "model",
/// "net" or "module" is used. A tensor with several names is returned under each of them. Tensors of dtypes
/// that ebb does not have are left out. If `unsupported` is given, it receives their names and dtypes. Throws
/// if there is no tensor, and if shared values would produce far more names than the file has bytes.
EBB_API NamedTensors state_dict(const Value& value,
                                std::map<std::string, std::string>* unsupported = nullptr);
EBB_API NamedTensors read_state_dict(const std::string& path,
                                     std::map<std::string, std::string>* unsupported = nullptr);
EBB_API NamedTensors read_state_dict(std::istream& stream,
                                     std::map<std::string, std::string>* unsupported = nullptr);

/// Writes a file like torch.save(value, path), in PyTorch's zip format. torch.load reads it also with
/// weights_only=True. The write is atomic like safetensors::write. Tensors that share memory share it in the
/// file. CUDA tensors are written as CPU tensors.
EBB_API void write(const std::string& path, const Value& value);
EBB_API void write(std::ostream& stream, const Value& value);
/// Writes an OrderedDict of tensors like torch.save(state_dict, path).
EBB_API void write(const std::string& path, const NamedTensors& tensors);
EBB_API void write(std::ostream& stream, const NamedTensors& tensors);

/// Writes a TorchScript archive like libtorch's OutputArchive::save_to; torch::load, InputArchive and
/// torch.jit.load read it. The value is a Dict. Each nested Dict is an archive with that name (a module).
/// Tensors that require grad are parameters, other tensors are buffers, and numbers, strings, tuples, lists
/// and None are attributes. All items of a list must have the same type. Names must not be empty or contain
/// quotes, backslashes or control characters. The write is atomic like write().
EBB_API void write_archive(const std::string& path, const Value& value);
EBB_API void write_archive(std::ostream& stream, const Value& value);
/// Writes tensors with the names of a state_dict. The dots in a name separate the archives.
EBB_API void write_archive(const std::string& path, const NamedTensors& tensors);
EBB_API void write_archive(std::ostream& stream, const NamedTensors& tensors);

}  // namespace ebb::pytorch

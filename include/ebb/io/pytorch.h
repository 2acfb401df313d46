// PyTorch's own files: what torch.save writes (.pt, .pth, .bin), in its zip format (since 1.6) and the one
// before, and the archives of libtorch's torch::save. They are pickles; only what describes data is
// understood, and nothing in a file is ever run.
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
/// In the order of the file, which is that of insertion.
using Dict = std::vector<std::pair<Value, Value>>;
struct Tuple {
  List items;
};
/// An instance of a class: its name, and its attributes or what it was made with.
struct Object {
  std::string type;
  Dict attributes;
};
/// A tensor of a dtype that ebb does not have, with that dtype ("complex64").
struct Unsupported {
  std::string dtype;
};

/// What a file holds: None, a bool, an integer, a floating number, text (also bytes), a tensor, or a list,
/// tuple, dict or object of such. Copies share what they hold, which never changes.
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

  // Each throws, with what the value is, when it is something else.
  bool as_bool() const;
  std::int64_t as_int() const;
  /// Of an integer too.
  double as_double() const;
  const std::string& as_string() const;
  const Variable& as_tensor() const;
  /// Of a list or a tuple.
  const List& as_list() const;
  /// Of a dict, or an object's attributes.
  const Dict& as_dict() const;

  /// The value under a key of a dict, or an attribute of an object; where there is none of that name, dots
  /// lead further in ("model.fc.weight"). Throws with the nearest keys where there is none either.
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

  std::shared_ptr<const Content> content_;  // null of None
};

/// torch.load(path, weights_only=True, map_location="cpu"). Tensors that share a storage in the file share
/// one here, with their strides; each storage is read once, to where it stays. A storage that no tensor
/// refers to is not read. Values that occur in several places of the file are shared here too; what describes
/// them takes at most 128 bytes of memory for each byte of it.
///
/// Errors, all ebb::Error: what is neither format; an archive that is not sound (cut short, a wrong CRC);
/// classes and functions that are not data, by their name, with what to save instead; sizes and strides that
/// lie outside their storage, or repeat its elements more than 64 times (beyond 16 MiB); files of a
/// big-endian machine; more than a hundred levels or ten million values, each counted wherever it occurs.
EBB_API Value read(const std::string& path);
EBB_API Value read(std::istream& stream);
/// The same from bytes in memory.
EBB_API Value parse(const void* bytes, std::size_t size);

/// The tensors of a file under their state_dict names. Nested dicts, lists and objects join their keys by
/// dots; where the file is a checkpoint, what stands under "state_dict", "model_state_dict", "model", "net"
/// or "module" is taken. A tensor of several names appears under each. Tensors of dtypes that ebb does not
/// have are left out, and listed in `unsupported` with the dtype, if it is given. Throws where there is no
/// tensor, and where values that occur in many places would have far more names than the file has bytes.
EBB_API NamedTensors state_dict(const Value& value,
                                std::map<std::string, std::string>* unsupported = nullptr);
EBB_API NamedTensors read_state_dict(const std::string& path,
                                     std::map<std::string, std::string>* unsupported = nullptr);
EBB_API NamedTensors read_state_dict(std::istream& stream,
                                     std::map<std::string, std::string>* unsupported = nullptr);

/// torch.save(value, path): PyTorch's zip format, which torch.load reads also with weights_only=True. Atomic
/// as safetensors::write; tensors that share memory share it in the file. CUDA tensors are written as the
/// CPU's.
EBB_API void write(const std::string& path, const Value& value);
EBB_API void write(std::ostream& stream, const Value& value);
/// torch.save(state_dict, path): an OrderedDict of tensors.
EBB_API void write(const std::string& path, const NamedTensors& tensors);
EBB_API void write(std::ostream& stream, const NamedTensors& tensors);

/// What libtorch's OutputArchive::save_to writes, a TorchScript archive, which torch::load, InputArchive and
/// torch.jit.load read. The value is a Dict: each Dict in it is an archive of that name (a module), tensors
/// that require grad are parameters and others buffers, and numbers, texts, tuples, lists and None are
/// attributes. Lists have items of one type. Names are not empty and have neither quotes nor backslashes, nor
/// control characters. Atomic as write().
EBB_API void write_archive(const std::string& path, const Value& value);
EBB_API void write_archive(std::ostream& stream, const Value& value);
/// Tensors by the names of a state_dict, whose dots separate the archives.
EBB_API void write_archive(const std::string& path, const NamedTensors& tensors);
EBB_API void write_archive(std::ostream& stream, const NamedTensors& tensors);

}  // namespace ebb::pytorch

// Conversion of a pickle's nodes to values of torch.save, and of values to ebb's archives.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/io/pytorch.h>

#include "io/pickle.h"
#include "io/pytorch_format.h"

#include <map>
#include <string>

namespace ebb::pytorch {

/// The maximum length of a storage's key. Writers use numbers as keys.
constexpr std::size_t kLongestKey = 255;

/// The storages of a file, which contain the elements of its tensors.
class Storages {
 public:
  virtual ~Storages() = default;
  /// Returns all elements of the storage with this key as a contiguous one-dimensional array. Each call with
  /// a key returns the same array.
  virtual NdArray load(const std::string& key, const StorageType& type, std::int64_t count) = 0;
};

/// Converts a pickle to a value. Throws for classes and functions that are not data, and for tensors that
/// exceed their storage. A node that the pickle refers to several times becomes one shared value.
Value value_of(const io::Pickle& pickle, Storages& storages);

/// Returns the items of a list or a tuple, or null for other values.
const List* items_of(const Value& value);

/// Returns the key of a dict as part of a name, or an empty string if it is neither a string nor an integer.
std::string text_of(const Value& key);

/// A bound for the memory that the conversion of a value needs. A shared part of a value is named or copied
/// at each occurrence, and a small file can contain millions of occurrences. The bound is 32 MiB plus 16
/// times the memory of the value, which is enough for lists of a hundred thousand labels.
class Expansion {
 public:
  explicit Expansion(const Value& value);
  /// Counts bytes. Throws beyond the bound.
  void add(std::size_t bytes);

 private:
  static constexpr std::size_t kTimes = 16;
  std::size_t left_;
};

template <class... Parts>
[[noreturn]] void unsound(const Parts&... parts) {
  ebb::detail::fail("pytorch: the file is not sound: ", parts..., ". Fetch or write it again.");
}

/// Returns everything in a value that a tensor can represent, with names joined by dots. Numbers become
/// zero-dimensional tensors (Long, Bool, Double). Tuples and lists of numbers become Double vectors, and
/// strings Byte vectors. States of optimizers, of Python (a dict of "state" and "param_groups") and of
/// libtorch, get the names and values of optim::Optimizer::save. If the value is a single tensor, its name is
/// "tensor". Tensors of dtypes that ebb does not have are listed in `unsupported`.
NamedTensors archived(const Value& value, std::map<std::string, std::string>& unsupported);

}  // namespace ebb::pytorch

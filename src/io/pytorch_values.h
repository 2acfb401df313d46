// From a pickle's nodes to values, which torch.save's functions and classes stand for, and from values to
// archives of ebb.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/io/pytorch.h>

#include "io/pickle.h"
#include "io/pytorch_format.h"

#include <map>
#include <string>

namespace ebb::pytorch {

/// The most bytes of a storage's key: writers take numbers.
constexpr std::size_t kLongestKey = 255;

/// Where a file keeps the elements of its tensors.
class Storages {
 public:
  virtual ~Storages() = default;
  /// All elements of the storage under that key: a contiguous array of one dimension, the same each time.
  virtual NdArray load(const std::string& key, const StorageType& type, std::int64_t count) = 0;
};

/// Throws for classes and functions that are not data, and tensors that lie outside their storage. What the
/// pickle refers to from several places is one value, shared by them.
Value value_of(const io::Pickle& pickle, Storages& storages);

/// The elements of a list or a tuple; null for any other value.
const List* items_of(const Value& value);

/// A key of a dict as part of a name; empty where it is neither text nor an integer.
std::string text_of(const Value& key);

/// A bound for what is made of a value: what is shared in it is named, or copied, at each of its places, of
/// which a small file can have millions. 32 MiB, and 16 times the memory of the value itself, are allowed:
/// lists of a hundred thousand labels, of which there are few, come to less.
class Expansion {
 public:
  explicit Expansion(const Value& value);
  /// Throws beyond the bound.
  void add(std::size_t bytes);

 private:
  static constexpr std::size_t kTimes = 16;
  std::size_t left_;
};

template <class... Parts>
[[noreturn]] void unsound(const Parts&... parts) {
  ebb::detail::fail("pytorch: the file is not sound: ", parts..., ". Fetch or write it again.");
}

/// Everything in a value that a tensor can hold, its names joined by dots: tensors; numbers as tensors
/// without dimensions (Long, Bool, Double); tuples and lists of numbers as Double vectors; texts as Byte
/// vectors. The states of optimizers, Python's (a dict of "state" and "param_groups") and libtorch's, have
/// the names and values that optim::Optimizer::save gives them. A single tensor is "tensor". Tensors of
/// dtypes that ebb does not have are listed in `unsupported`.
NamedTensors archived(const Value& value, std::map<std::string, std::string>& unsupported);

}  // namespace ebb::pytorch

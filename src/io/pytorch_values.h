// From a pickle's nodes to values: what torch.save's functions and classes stand for.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/io/pytorch.h>

#include "io/pickle.h"
#include "io/pytorch_format.h"

namespace ebb::pytorch {

/// Where a file keeps the elements of its tensors.
class Storages {
 public:
  virtual ~Storages() = default;
  /// All elements of the storage under that key: a contiguous array of one dimension, the same each time.
  virtual NdArray load(const std::string& key, const StorageType& type, std::int64_t count) = 0;
};

/// Throws for classes and functions that are not data, and tensors that lie outside their storage.
Value value_of(const io::Pickle& pickle, Storages& storages);

/// The elements of a list or a tuple; null for any other value.
const List* items_of(const Value& value);

/// A key of a dict as part of a name; empty where it is neither text nor an integer.
std::string text_of(const Value& key);

template <class... Parts>
[[noreturn]] void unsound(const Parts&... parts) {
  ebb::detail::fail("pytorch: the file is not sound: ", parts..., ". Fetch or write it again.");
}

}  // namespace ebb::pytorch

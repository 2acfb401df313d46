// StorageType: the storage types of PyTorch's files and their dtypes.
#pragma once

#include <ebb/core/dtype.h>

#include <string_view>

namespace ebb::pytorch {

struct StorageType {
  std::string_view storage;  ///< "FloatStorage"
  std::string_view dtype;    ///< "float32"
  DType type;                ///< Undefined if ebb has no such dtype
  unsigned bytes;            ///< the size of an element
};

/// Finds a storage type by the name of its class without the module, or by the name of its dtype. Returns
/// null if it is unknown.
const StorageType* storage_named(std::string_view name);
const StorageType* dtype_named(std::string_view name);
const StorageType& storage_of(DType dtype);

constexpr std::string_view kLegacyMagic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

}  // namespace ebb::pytorch

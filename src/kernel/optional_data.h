// Arrays that may be undefined, as pointers that may be null.
#pragma once

#include <ebb/core/ndarray.h>

namespace ebb {

template <class T>
T* data_or_null(const NdArray& x) {
  return x.defined() ? x.address_as<T>() : nullptr;
}

}  // namespace ebb

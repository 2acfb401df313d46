// Values as modules print them.
#pragma once

#include <ebb/nn/expanding_array.h>

#include <string>

namespace ebb::nn {

/// "3" in one dimension, else "[3, 3]".
template <std::size_t D>
std::string text_of(const ExpandingArray<D>& values) {
  std::string out = D == 1 ? "" : "[";
  for (std::size_t i = 0; i < D; ++i) out += (i ? ", " : "") + std::to_string((*values)[i]);
  return D == 1 ? out : out + "]";
}

inline const char* text_of(bool value) { return value ? "true" : "false"; }

}  // namespace ebb::nn

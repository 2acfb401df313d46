// Tensor values that data/make_text.py computes as well, and a checksum of a tensor.
#pragma once

#include <ebb/ebb.h>

#include "support/compare.h"

#include <cstdint>
#include <string>
#include <vector>

namespace waves {

using ebb::Variable;
using Numbers = std::vector<double>;

inline Variable wave(std::int64_t count, double rate, double start) {
  return ebb::arange(count, ebb::kDouble) * rate + start;
}

inline Variable given(const std::vector<std::int64_t>& sizes, double start) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  const Variable k = wave(count, 1, 0);
  return (k * k * 0.37 + start).sin().reshape(sizes);
}

inline double mark(const Variable& x) {
  return (x.detach().reshape({-1}) * wave(x.numel(), 0.3, 1).cos()).sum().item<double>();
}

/// Converts the model to double and evaluation mode, and fills its parameters.
template <class M>
M prepared(M module) {
  module->to(ebb::kDouble);
  module->eval();
  ebb::NoGradGuard no_grad;
  double start = 1;
  for (const Variable& p : module->parameters()) p.copy_(given(p.sizes().vec(), start++) * 0.3);
  return module;
}

inline Variable tokens(std::int64_t rows, std::int64_t columns, std::int64_t vocab) {
  return (ebb::arange(rows * columns) * 7).remainder(vocab).reshape({rows, columns});
}

/// Compares the first four values and the checksum of the output, and a checksum of each parameter gradient.
template <class M>
void check(M module, const Variable& input, const Numbers& outputs, const Numbers& gradients,
           double tolerance = 1e-7) {
  const Variable y = module(input);
  Numbers got;
  for (std::int64_t i = 0; i < 4; ++i) got.push_back(y.detach().flatten()[i].template item<double>());
  got.push_back(mark(y));
  support::require_close(got, outputs, tolerance / 2, tolerance / 20);
  (y * wave(y.numel(), 0.9, 0).cos().reshape(y.sizes())).sum().backward();
  got.clear();
  for (const Variable& p : module->parameters()) got.push_back(mark(p.grad()));
  support::require_close(got, gradients, tolerance / 2, tolerance / 20);
}

/// FNV-1a with 64 bits of one line for each entry of the state: "conv_proj.bias [768]".
inline std::uint64_t hash_of_names(const ebb::nn::Module& module) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto& item : module.state_dict()) {
    std::string line = item.key() + " [";
    for (std::int64_t d = 0; d < item->dim(); ++d) line += (d ? ", " : "") + std::to_string(item->size(d));
    for (const char c : line + "]\n") hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace waves

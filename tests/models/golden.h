// Result files of PyTorch models, and weights and images that scripts of tests/models/data compute as well.
#pragma once

#include <ebb/ebb.h>

#include "support/files.h"

#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace golden {

/// The norm of a tensor and four of its entries.
using Ends = std::vector<double>;

/// The recorded results of a model.
struct Case {
  Ends eval, train;
  std::vector<std::pair<std::string, Ends>> grads, buffers;
};

inline std::ifstream open_file() {
  std::ifstream file(source_dir() + "/tests/models/data/vision.txt");
  EBB_CHECK(file, "tests/models/data/vision.txt is not there.");
  return file;
}

inline Ends rest(std::istream& line) {
  Ends values;
  for (double value = 0; line >> value;) values.push_back(value);
  return values;
}

inline Ends ends(const ebb::Tensor& tensor) {
  const ebb::Tensor flat = tensor.detach().to(ebb::kDouble).flatten();
  const std::int64_t n = flat.numel();
  Ends out{flat.norm().item<double>()};
  for (const std::int64_t at : {std::int64_t{0}, n / 3, n / 2, n - 1}) out.push_back(flat[at].item<double>());
  return out;
}

/// Whether both agree up to `tolerance` times the norm.
inline bool close(const Ends& got, const Ends& wanted, double tolerance) {
  EBB_CHECK(got.size() == wanted.size() && !wanted.empty(), "a norm and entries were expected");
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!(std::abs(got[i] - wanted[i]) <= tolerance * wanted[0])) return false;
  return true;
}

inline Case read_case(const std::string& name) {
  std::ifstream file = open_file();
  Case found;
  bool inside = false;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string kind, what;
    line >> kind;
    if (kind == "eval" || kind == "train") {
      if (inside) (kind == "eval" ? found.eval : found.train) = rest(line);
      continue;
    }
    line >> what;
    if (kind == "case") {
      if (inside) break;
      inside = what == name;
    } else if (inside && kind == "grad") {
      found.grads.emplace_back(what, rest(line));
    } else if (inside && kind == "buffer") {
      found.buffers.emplace_back(what, rest(line));
    } else if (inside) {
      break;
    }
  }
  EBB_CHECK(!found.grads.empty(), "vision.txt has no case ", name, ".");
  return found;
}

/// The rest of the line that starts with "KIND NAME".
inline std::istringstream read_line(const std::string& kind, const std::string& name) {
  std::ifstream file = open_file();
  const std::string start = kind + " " + name + " ";
  for (std::string text; std::getline(file, text);)
    if (text.starts_with(start)) return std::istringstream(text.substr(start.size()));
  EBB_CHECK(false, "vision.txt has no line \"", start, "\".");
  return {};
}

// Weights and images that make_vision.py computes with the same bits.

/// Values in [-1, 1) in double precision, a different series for each key.
inline ebb::Tensor noise(std::uint32_t key, ebb::IntArrayRef sizes) {
  const ebb::Tensor out = ebb::empty(sizes, ebb::kDouble);
  auto* values = out.data_ptr<double>();
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    std::uint32_t x = static_cast<std::uint32_t>(i) * 0x9E3779B1U + key * 0x85EBCA6BU;
    x ^= x >> 15;
    x *= 0x2C1B3C6DU;
    x ^= x >> 12;
    x *= 0x297A2D39U;
    x ^= x >> 15;
    values[i] = (x >> 8) / 8388608.0 - 1;
  }
  return out;
}

/// Fills parameters and buffers, each with its position in the state as the key: weights of layers scaled by
/// fan-in, normalization layers near 1 and 0.
inline void fill(ebb::nn::Module& net) {
  const ebb::NoGradGuard no_grad;
  std::uint32_t key = 0;
  for (const auto& item : net.state_dict()) {
    const std::string& name = item.key();
    const ebb::Tensor& value = item.value();
    const std::uint32_t own = key++;
    if (name.ends_with("num_batches_tracked")) continue;
    ebb::Tensor x = noise(own, value.sizes());
    if (value.dim() >= 2)
      x *= std::sqrt(6 / static_cast<double>(value.numel() / value.size(0)));
    else if (name.ends_with("weight"))
      x = 1 + 0.2 * x;
    else if (name.ends_with("running_var"))
      x = 1 + 0.5 * x;
    else
      x *= 0.1;
    value.copy_(x);
  }
}

}  // namespace golden

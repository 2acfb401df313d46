// Matrix products in device memory, as in cuBLASLt; sums are accumulated in double.
#pragma once

#include <cstdint>

namespace ebb::ptx {

enum class Element { f64, f32, f16, bf16 };
std::int64_t bytes_of(Element element);

/// Column-major matrices of a batch; strides in elements.
struct Matrices {
  void* data = nullptr;
  Element element = Element::f32;
  std::int64_t rows = 0, columns = 0, leading = 0, stride = 0;
};

enum class Activation { none, relu, gelu_tanh };

/// out = activation(alpha * a b + beta * c + bias)
struct Product {
  Matrices a, b, c, out;
  bool transpose_a = false, transpose_b = false;
  std::int64_t batch = 1;
  double alpha = 1, beta = 0;
  const void* bias = nullptr;  // one element for each row of `out`
  Activation activation = Activation::none;
  void* argument =
      nullptr;  // also stores the argument of the activation; like `out` except for the leading dimension
  std::int64_t argument_leading = 0;
};

/// Computes the product and marks its output as written in GlobalMemory.
void compute(const Product& product);

}  // namespace ebb::ptx

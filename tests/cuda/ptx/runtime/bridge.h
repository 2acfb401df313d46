// The interface between files that include NVIDIA's headers and files that include the emulated ones. Both
// kinds define the same names differently, so no source includes both, and the interface uses types of
// neither. Errors are values of cudaError_t, which are the same in both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

struct CUstream_st;

namespace ebb::ptx {

/// Queues an action on the stream: it runs immediately, when a caller waits for it, or at each launch of the
/// graph in which it is captured.
int enqueue(CUstream_st* stream, std::function<void()> action);
/// Stores the error for cudaGetLastError and returns it.
int set_error(int error);
/// Makes all further calls fail with this error, as after an illegal access of a kernel.
void break_device(int error);

struct DeviceDescription {
  std::string name;
  std::size_t memory_bytes = 0, l2_bytes = 0;
  int major = 0, minor = 0, multiprocessors = 0, bus_bits = 0;
};
/// Returns an error if the device does not exist.
int describe_device(int device, DeviceDescription& description);

/// The driver functions that load and launch run-time compiled kernels; null for other names.
void* find_library_function(const char* name);

// Matrix products in device memory, as in cuBLASLt; sums are accumulated in double.

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

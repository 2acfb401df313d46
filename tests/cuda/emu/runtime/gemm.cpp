// Matrix products and sorting of the emulation, on the CPU.
#include "kernel/cuda/gemm.h"

#include <ebb/core/ndarray.h>
#include <ebb/core/visit.h>

#include "cuda/emu/runtime/api.h"
#include "kernel/cuda/device.h"
#include "kernel/cuda/sort.h"
#include "ops/common/kernels.h"
#include "ops/linalg/kernels.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

// Matrix products of the emulation, on the CPU.

namespace ebb::cuda {
namespace {

// Device memory as a CPU array; it may be accessed inside an action of a stream.
NdArray on_cpu(const BatchedMatrix& m, std::int64_t batch, DType dtype) {
  return NdArray(Storage::adopt(m.data, 0, Device(kCPU), nullptr, nullptr), {batch, m.rows, m.columns},
                 {m.batch_stride, m.row_stride, m.column_stride}, 0, dtype);
}

void activate(NdArray& x, GemmEpilogue::Activation activation) {
  visit_floating(x.dtype(), "linear", [&]<class T> {
    for (std::int64_t i = 0; i < x.sizes()[1]; ++i)
      for (std::int64_t j = 0; j < x.sizes()[2]; ++j) {
        T& element = x.address_as<T>()[i * x.strides()[1] + j * x.strides()[2]];
        const double v = static_cast<double>(static_cast<float>(element));
        const double y =
            activation == GemmEpilogue::Activation::relu
                ? std::max(v, 0.0)
                : v / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (v + 0.044715 * v * v * v)));
        element = static_cast<T>(static_cast<float>(y));
      }
  });
}

// A library may require alignment to 4 bytes.
bool is_taken(DType dtype, const BatchedMatrix& m) {
  return element_size(dtype) != 2 || reinterpret_cast<std::uintptr_t>(m.data) % 4 == 0;
}

}  // namespace

bool library_gemm(Device device, DType dtype, std::int64_t batch, const BatchedMatrix& a,
                  const BatchedMatrix& b, const BatchedMatrix& c, double alpha, double beta) {
  EBB_CHECK(batch > 0 && c.rows > 0 && c.columns > 0 && a.columns > 0 && a.is_plain() && b.is_plain(),
            "matmul: cuBLASLt takes no product of ", c.rows, " x ", a.columns, " and ", a.columns, " x ",
            c.columns, ".");
  if (!is_taken(dtype, a) || !is_taken(dtype, b) || !is_taken(dtype, c)) return false;
  const DeviceScope scope(device);
  emu::enqueue(current_stream(device), [=] {
    NdArray out = on_cpu(c, batch, dtype);
    ProductArgs args;
    args.alpha = alpha;
    args.beta = beta;
    kernels::product(Device(kCPU), out, beta != 0 ? out : NdArray(), on_cpu(a, batch, dtype),
                     on_cpu(b, batch, dtype), args);
  });
  return true;
}

bool gemm_epilogue(Device device, DType dtype, const BatchedMatrix& a, const BatchedMatrix& b,
                   const BatchedMatrix& c, const GemmEpilogue& epilogue) {
  using Activation = GemmEpilogue::Activation;
  if (dtype == kDouble || !is_taken(dtype, a) || !is_taken(dtype, b) || !is_taken(dtype, c))
    return false;  // like cuBLASLt
  const BatchedMatrix& before = epilogue.before;
  EBB_CHECK(!before.data || (epilogue.activation == Activation::gelu_tanh && before.column_stride == 1 &&
                             before.row_stride >= c.columns && before.row_stride % 8 == 0 &&
                             reinterpret_cast<std::uintptr_t>(before.data) % 16 == 0),
            "linear: cuBLASLt writes the argument of GELU alone, to rows of at least ", c.columns,
            " elements that lie a multiple of 8 apart, from a multiple of 16 bytes on.");
  const BatchedMatrix row{const_cast<void*>(epilogue.bias), c.rows, c.columns, 0, 1, 0};
  const DeviceScope scope(device);
  emu::enqueue(current_stream(device), [=, activation = epilogue.activation] {
    NdArray out = on_cpu(c, 1, dtype);
    ProductArgs args;
    args.beta = 1;
    kernels::product(Device(kCPU), out, on_cpu(row, 1, dtype), on_cpu(a, 1, dtype), on_cpu(b, 1, dtype),
                     args);
    if (before.data) {
      NdArray kept = on_cpu(before, 1, dtype);
      kernels::copy(Device(kCPU), kept, out);
    }
    if (activation != Activation::none) activate(out, activation);
  });
  return true;
}

// Sorting of the emulation, on the CPU.

namespace {

/// The compared bits of a key.
std::uint64_t compared(std::uint64_t key, KeyBits bits) {
  const std::uint64_t below = bits.to < 64 ? (std::uint64_t{1} << bits.to) - 1 : ~std::uint64_t{0};
  return (key & below) >> bits.from;
}

}  // namespace

void sort_keys(Device device, std::uint64_t* keys, std::int64_t segments, std::int64_t n, KeyBits bits) {
  const DeviceScope scope(device);
  emu::enqueue(current_stream(device), [=] {
    for (std::int64_t s = 0; s < segments; ++s)
      std::stable_sort(keys + s * n, keys + (s + 1) * n, [=](std::uint64_t a, std::uint64_t b) {
        return compared(a, bits) < compared(b, bits);
      });
  });
}

void sort_pairs(Device device, std::uint64_t* keys, std::int64_t* values, std::int64_t segments,
                std::int64_t n, KeyBits bits) {
  const DeviceScope scope(device);
  emu::enqueue(current_stream(device), [=] {
    std::vector<std::pair<std::uint64_t, std::int64_t>> items(static_cast<std::size_t>(n));
    for (std::int64_t s = 0; s < segments; ++s) {
      for (std::int64_t i = 0; i < n; ++i) items[i] = {keys[s * n + i], values[s * n + i]};
      std::stable_sort(items.begin(), items.end(), [=](const auto& a, const auto& b) {
        return compared(a.first, bits) < compared(b.first, bits);
      });
      for (std::int64_t i = 0; i < n; ++i)
        keys[s * n + i] = items[i].first, values[s * n + i] = items[i].second;
    }
  });
}

}  // namespace ebb::cuda

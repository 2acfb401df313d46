// Elementwise loops on the CPU over arrays with any strides.
#include "kernel/cpu/map.h"

#include "core/parallel_for.h"
#include "kernel/element_types.h"
#include "kernel/elementwise_plan.h"
#include "kernel/strided_dims.h"

#include <algorithm>
#include <cstring>

namespace ebb::cpu {
namespace {

// The number of elements of a buffered row. Together, the rows of three inputs and of the output must fit the
// first-level cache.
constexpr std::int64_t kBuffer = 512;
// Rows that are shorter than this are gathered into longer rows.
constexpr std::int64_t kShortRow = 24;

template <class T>
void gather_as(void* to, const char* from, std::int64_t stride, std::int64_t n) {
  T* out = static_cast<T*>(to);
  for (std::int64_t i = 0; i < n; ++i) std::memcpy(out + i, from + i * stride, sizeof(T));
}

void gather(void* to, const char* from, std::int64_t stride, std::int64_t n, DType dtype) {
  visit_bits(dtype, [&]<class T> { gather_as<T>(to, from, stride, n); });
}

template <class T>
void scatter_as(char* to, std::int64_t stride, const void* from, std::int64_t n) {
  const T* in = static_cast<const T*>(from);
  for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i * stride, in + i, sizeof(T));
}

void scatter(char* to, std::int64_t stride, const void* from, std::int64_t n, DType dtype) {
  visit_bits(dtype, [&]<class T> { scatter_as<T>(to, stride, from, n); });
}

struct alignas(64) Buffer {
  char bytes[kBuffer * 8];
};

// Runs a row function over part of a plan with N operands, the output first.
template <int N>
class MapPart {
 public:
  MapPart(const ElementwisePlan<N>& plan, const NdArray* const (&arrays)[N], Row row, const void* op,
          bool constants)
      : plan_(plan), row_(row), op_(op) {
    for (int i = 0; i < N; ++i) {
      base_[i] = static_cast<char*>(arrays[i]->address());
      dtype_[i] = arrays[i]->dtype();
      size_[i] = element_size(dtype_[i]);
      inner_[i] = plan.dims ? plan.strides[i][0] : 0;
      constant_[i] = i > 0;
      dense_[i] = true;
      std::int64_t behind = size_[i];
      for (int d = 0; d < plan.dims; behind *= plan.sizes[d++]) {
        constant_[i] = constant_[i] && plan.strides[i][d] == 0;
        dense_[i] = dense_[i] && plan.strides[i][d] == behind;
      }
      if (constant_[i]) {
        if (constants)
          mask_ |= 1u << (i - 1);
        else
          gather(buffer_[i].bytes, base_[i], 0, kBuffer, dtype_[i]);
      }
    }
    takes_constants_ = constants;
  }

  void run(std::int64_t begin, std::int64_t end) {
    if (plan_.sizes[0] >= kShortRow)
      rows(begin, end);
    else
      buffered(begin, end);
  }

 private:
  void rows(std::int64_t begin, std::int64_t end) {
    StridedPosition<N, PlanOperands<N>> position({plan_}, begin);
    bool direct = inner_[0] == size_[0];
    for (int i = 1; i < N; ++i)
      direct = direct && (inner_[i] == size_[i] || (inner_[i] == 0 && (takes_constants_ || constant_[i])));
    while (begin < end) {
      std::int64_t n = std::min(end - begin, position.left());
      bool whole = direct;
      for (int i = 1; i < N; ++i) whole = whole && (inner_[i] != 0 || takes_constants_);
      if (!whole) n = std::min(n, kBuffer);
      const auto& offset = position.offsets();
      const void* in[N];
      unsigned mask = 0;
      for (int i = 1; i < N; ++i) {
        in[i - 1] = base_[i] + offset[i];
        if (inner_[i] == size_[i]) continue;
        if (inner_[i] == 0 && takes_constants_) {
          mask |= 1u << (i - 1);
          continue;
        }
        if (!constant_[i]) gather(buffer_[i].bytes, base_[i] + offset[i], inner_[i], n, dtype_[i]);
        in[i - 1] = buffer_[i].bytes;
      }
      char* out = base_[0] + offset[0];
      if (inner_[0] == size_[0]) {
        row_(out, in, mask, n, op_);
      } else {
        row_(buffer_[0].bytes, in, mask, n, op_);
        scatter(out, inner_[0], buffer_[0].bytes, n, dtype_[0]);
      }
      position.advance(n);
      begin += n;
    }
  }

  // Gathers several short rows of each operand into a buffer. Operands that are contiguous in iteration order
  // need no buffer.
  void buffered(std::int64_t begin, std::int64_t end) {
    for (; begin < end; begin += kBuffer) {
      const std::int64_t n = std::min(end - begin, kBuffer);
      const void* in[N];
      for (int i = 1; i < N; ++i) {
        in[i - 1] = buffer_[i].bytes;
        if (constant_[i])
          in[i - 1] = takes_constants_ ? base_[i] : buffer_[i].bytes;
        else if (dense_[i])
          in[i - 1] = base_[i] + begin * size_[i];
        else
          visit_bits(dtype_[i], [&]<class T> {
            each_row(i, begin, n, [&](std::int64_t done, char* row, std::int64_t k) {
              gather_as<T>(buffer_[i].bytes + done * std::int64_t{sizeof(T)}, row, inner_[i], k);
            });
          });
      }
      if (dense_[0]) {
        row_(base_[0] + begin * size_[0], in, mask_, n, op_);
        continue;
      }
      row_(buffer_[0].bytes, in, mask_, n, op_);
      visit_bits(dtype_[0], [&]<class T> {
        each_row(0, begin, n, [&](std::int64_t done, char* row, std::int64_t k) {
          scatter_as<T>(row, inner_[0], buffer_[0].bytes + done * std::int64_t{sizeof(T)}, k);
        });
      });
    }
  }

  // Divides the elements [begin, begin + n) of operand i at the ends of rows. Calls each(before, address, k)
  // for each part: k elements begin at `address`, and `before` of the n elements precede them.
  template <class Each>
  void each_row(int i, std::int64_t begin, std::int64_t n, Each&& each) const {
    const std::int64_t size = plan_.sizes[0];
    StridedPosition<1, PlanOperands<N>> position({plan_, i, 1}, begin / size);
    std::int64_t skipped = begin % size;
    for (std::int64_t done = 0; done < n;) {
      // Iterates over the rows along one dimension with the address in a register.
      const std::int64_t rows = position.left(), step = position.step(0);
      char* row = base_[i] + position.offsets()[0];
      std::int64_t passed = 0;
      if (skipped != 0) {
        const std::int64_t k = std::min(n, size - skipped);
        each(0, row + skipped * inner_[i], k);
        done = k;
        skipped = 0;
        passed = 1;
        row += step;
      }
      for (; passed < rows && n - done >= size; ++passed, row += step, done += size) each(done, row, size);
      if (passed < rows && done < n) {
        each(done, row, n - done);
        return;
      }
      position.advance(passed);
    }
  }

  const ElementwisePlan<N>& plan_;
  Row row_;
  const void* op_;
  char* base_[N];
  DType dtype_[N];
  std::int64_t size_[N];
  std::int64_t inner_[N];
  bool constant_[N];  // true if the operand is constant over the whole iteration
  bool dense_[N];     // true if the operand is contiguous in iteration order
  unsigned mask_ = 0;
  bool takes_constants_ = true;
  Buffer buffer_[N];
};

template <int N>
void map_n(const char* name, NdArray& out, const NdArray* const* in, Row row, const void* op,
           RowTraits traits) {
  const NdArray* arrays[N] = {&out};
  bool direct = out.is_contiguous();
  unsigned mask = 0;
  for (int i = 1; i < N; ++i) {
    const NdArray& x = *in[i - 1];
    arrays[i] = &x;
    if (x.numel() == 1 && out.numel() != 1) {
      mask |= 1u << (i - 1);
      direct = direct && traits.takes_constants;
    } else {
      direct = direct && x.is_contiguous() && x.numel() == out.numel();
    }
  }
  if (out.numel() == 0) return;
  if (direct) {
    parallel_for(0, out.numel(), traits.grain, [&](std::int64_t begin, std::int64_t end) {
      const void* rows[N];
      for (int i = 1; i < N; ++i) {
        const std::int64_t step = (mask >> (i - 1)) & 1u ? 0 : begin * element_size(arrays[i]->dtype());
        rows[i - 1] = static_cast<const char*>(arrays[i]->address()) + step;
      }
      row(static_cast<char*>(out.address()) + begin * element_size(out.dtype()), rows, mask, end - begin, op);
    });
    return;
  }
  const ElementwisePlan<N> plan = plan_elementwise<N>(name, arrays);
  if (plan.dims == 0) {  // a single element
    const void* rows[N];
    for (int i = 1; i < N; ++i) rows[i - 1] = arrays[i]->address();
    return row(out.address(), rows, 0, 1, op);
  }
  parallel_for(0, plan.numel, traits.grain, [&](std::int64_t begin, std::int64_t end) {
    MapPart<N>(plan, arrays, row, op, traits.takes_constants).run(begin, end);
  });
}

}  // namespace

void map(const char* name, NdArray& out, const NdArray* const* in, int inputs, Row row, const void* op,
         RowTraits traits) {
  switch (inputs) {
    case 1:
      return map_n<2>(name, out, in, row, op, traits);
    case 2:
      return map_n<3>(name, out, in, row, op, traits);
    default:
      return map_n<4>(name, out, in, row, op, traits);
  }
}

}  // namespace ebb::cpu

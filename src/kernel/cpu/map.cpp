// Elementwise loops over arrays of any strides on the CPU.
#include "kernel/cpu/map.h"

#include <algorithm>
#include <cstring>

#include "core/parallel_for.h"
#include "kernel/elementwise_plan.h"

namespace ebb::cpu {
namespace {

// Elements of a buffer row: three inputs and the output stay in the first-level cache.
constexpr std::int64_t kBuffer = 512;
// Inner dimensions shorter than this are gathered into longer rows.
constexpr std::int64_t kShortRow = 24;

// Calls `move` with a number of the type that has so many bytes: bits are moved, whatever they mean.
template <class Move>
void as_bits(int size, Move&& move) {
  switch (size) {
    case 1:
      return move(std::uint8_t{});
    case 2:
      return move(std::uint16_t{});
    case 4:
      return move(std::uint32_t{});
    default:
      return move(std::uint64_t{});
  }
}

template <class T>
void gather_as(void* to, const char* from, std::int64_t stride, std::int64_t n) {
  T* out = static_cast<T*>(to);
  for (std::int64_t i = 0; i < n; ++i) std::memcpy(out + i, from + i * stride, sizeof(T));
}

void gather(void* to, const char* from, std::int64_t stride, std::int64_t n, int size) {
  as_bits(size, [&](auto bits) { gather_as<decltype(bits)>(to, from, stride, n); });
}

template <class T>
void scatter_as(char* to, std::int64_t stride, const void* from, std::int64_t n) {
  const T* in = static_cast<const T*>(from);
  for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i * stride, in + i, sizeof(T));
}

void scatter(char* to, std::int64_t stride, const void* from, std::int64_t n, int size) {
  as_bits(size, [&](auto bits) { scatter_as<decltype(bits)>(to, stride, from, n); });
}

struct alignas(64) Buffer {
  char bytes[kBuffer * 8];
};

// One walk over part of a plan: N operands, the output first.
template <int N>
class Walk {
 public:
  Walk(const ElementwisePlan<N>& plan, const NdArray* const (&arrays)[N], Row row, const void* op,
       bool constants)
      : plan_(plan), row_(row), op_(op) {
    for (int i = 0; i < N; ++i) {
      base_[i] = static_cast<char*>(arrays[i]->address());
      size_[i] = static_cast<int>(element_size(arrays[i]->dtype()));
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
          gather(buffer_[i].bytes, base_[i], 0, kBuffer, size_[i]);
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
  void seek(std::int64_t element) {
    plan_.offsets(element, offset_);
    for (int d = 0; d < plan_.dims; ++d) {
      at_[d] = element % plan_.sizes[d];
      element /= plan_.sizes[d];
    }
  }
  // Moves `n` elements on, within the innermost dimension or to its end.
  void advance(std::int64_t n) {
    at_[0] += n;
    for (int i = 0; i < N; ++i) offset_[i] += n * inner_[i];
    for (int d = 0; d + 1 < plan_.dims && at_[d] == plan_.sizes[d]; ++d) {
      at_[d] = 0;
      ++at_[d + 1];
      for (int i = 0; i < N; ++i)
        offset_[i] += plan_.strides[i][d + 1] - plan_.sizes[d] * plan_.strides[i][d];
    }
  }

  void rows(std::int64_t begin, std::int64_t end) {
    seek(begin);
    bool direct = inner_[0] == size_[0];
    for (int i = 1; i < N; ++i)
      direct = direct && (inner_[i] == size_[i] || (inner_[i] == 0 && (takes_constants_ || constant_[i])));
    while (begin < end) {
      std::int64_t n = std::min(end - begin, plan_.sizes[0] - at_[0]);
      bool whole = direct;
      for (int i = 1; i < N; ++i) whole = whole && (inner_[i] != 0 || takes_constants_);
      if (!whole) n = std::min(n, kBuffer);
      const void* in[N];
      unsigned mask = 0;
      for (int i = 1; i < N; ++i) {
        in[i - 1] = base_[i] + offset_[i];
        if (inner_[i] == size_[i]) continue;
        if (inner_[i] == 0 && takes_constants_) {
          mask |= 1u << (i - 1);
          continue;
        }
        if (!constant_[i]) gather(buffer_[i].bytes, base_[i] + offset_[i], inner_[i], n, size_[i]);
        in[i - 1] = buffer_[i].bytes;
      }
      char* out = base_[0] + offset_[0];
      if (inner_[0] == size_[0]) {
        row_(out, in, mask, n, op_);
      } else {
        row_(buffer_[0].bytes, in, mask, n, op_);
        scatter(out, inner_[0], buffer_[0].bytes, n, size_[0]);
      }
      advance(n);
      begin += n;
    }
  }

  // Short rows: several of them make one buffer, but for operands that lie in the order of the walk.
  void buffered(std::int64_t begin, std::int64_t end) {
    for (; begin < end; begin += kBuffer) {
      const std::int64_t n = std::min(end - begin, kBuffer);
      seek(begin);
      const void* in[N];
      for (int i = 1; i < N; ++i) {
        in[i - 1] = buffer_[i].bytes;
        if (constant_[i])
          in[i - 1] = takes_constants_ ? base_[i] : buffer_[i].bytes;
        else if (dense_[i])
          in[i - 1] = base_[i] + begin * size_[i];
        else
          as_bits(size_[i], [&](auto bits) {
            using T = decltype(bits);
            each_row(i, n, [&](std::int64_t done, char* row, std::int64_t k) {
              gather_as<T>(buffer_[i].bytes + done * std::int64_t{sizeof(T)}, row, inner_[i], k);
            });
          });
      }
      if (dense_[0]) {
        row_(base_[0] + begin * size_[0], in, mask_, n, op_);
        continue;
      }
      row_(buffer_[0].bytes, in, mask_, n, op_);
      as_bits(size_[0], [&](auto bits) {
        using T = decltype(bits);
        each_row(0, n, [&](std::int64_t done, char* row, std::int64_t k) {
          scatter_as<T>(row, inner_[0], buffer_[0].bytes + done * std::int64_t{sizeof(T)}, k);
        });
      });
    }
  }

  // Calls `each` with the rows of an operand that the next n elements lie in: how many elements came before,
  // where the row goes on, and how many of them it has. The walk stays where it is.
  template <class Each>
  void each_row(int i, std::int64_t n, Each&& each) const {
    std::int64_t at[kPlanDims];
    std::copy(at_, at_ + plan_.dims, at);
    const std::int64_t *strides = plan_.strides[i], *sizes = plan_.sizes;
    char* row = base_[i] + offset_[i];
    for (std::int64_t done = 0; done < n;) {
      const std::int64_t k = std::min(n - done, sizes[0] - at[0]);
      each(done, row, k);
      done += k;
      if (done == n) return;
      row -= at[0] * strides[0];
      at[0] = 0;
      for (int d = 1; d < plan_.dims; ++d) {
        row += strides[d];
        if (++at[d] < sizes[d]) break;
        row -= sizes[d] * strides[d];
        at[d] = 0;
      }
    }
  }

  const ElementwisePlan<N>& plan_;
  Row row_;
  const void* op_;
  char* base_[N];
  int size_[N];
  std::int64_t inner_[N];
  bool constant_[N];  // over the whole walk
  bool dense_[N];     // in the order of the walk, without gaps
  unsigned mask_ = 0;
  bool takes_constants_ = true;
  std::int64_t offset_[N];
  std::int64_t at_[kPlanDims] = {};
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
  if (plan.dims == 0) {  // one element
    const void* rows[N];
    for (int i = 1; i < N; ++i) rows[i - 1] = arrays[i]->address();
    return row(out.address(), rows, 0, 1, op);
  }
  parallel_for(0, plan.numel, traits.grain, [&](std::int64_t begin, std::int64_t end) {
    Walk<N> walk(plan, arrays, row, op, traits.takes_constants);
    walk.run(begin, end);
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

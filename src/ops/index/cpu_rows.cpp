// The CPU kernels index_offsets, take_rows and put_rows: gather and scatter rows by offset.
#include <ebb/core/visit.h>

#include "kernel/arithmetic.h"
#include "kernel/cpu/walk.h"
#include "ops/index/cpu_wide_sums.h"
#include "ops/index/kernels.h"

#include <cstring>

namespace ebb::cpu {

namespace {

using Run2 = std::array<std::int64_t, 2>;

template <class T>
void move_run(T* to, const T* from, std::int64_t n, std::int64_t to_step, std::int64_t from_step) {
  if (to_step == 1 && from_step == 1 && n >= 16)
    std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
  else if (to_step == 1 && from_step == 0)
    std::fill_n(to, n, *from);
  else
    for (std::int64_t k = 0; k < n; ++k) to[k * to_step] = from[k * from_step];
}

template <class T>
void add_run(T* to, const T* from, std::int64_t n, std::int64_t to_step, std::int64_t from_step) {
  if constexpr (std::is_same_v<T, bool>) {
    for (std::int64_t k = 0; k < n; ++k) to[k * to_step] = to[k * to_step] || from[k * from_step];
  } else if (to_step == 1 && from_step == 1) {
    for (std::int64_t k = 0; k < n; ++k) to[k] = wrapping_add(to[k], from[k]);
  } else {
    for (std::int64_t k = 0; k < n; ++k) to[k * to_step] = wrapping_add(to[k * to_step], from[k * from_step]);
  }
}

// Returns whether copying row by row is fast: a row is one element, one contiguous run, or several contiguous
// runs of at least 8 elements each. The source of a run may be one element, which fills the run.
bool by_rows(const Walk<2>& row) {
  const bool dense = row.stride(0, 0) == 1 && (row.stride(1, 0) == 1 || row.stride(1, 0) == 0);
  return row.is_line() ? row.run_length() == 1 || dense : dense && row.run_length() >= 8;
}

IntArrayRef without_first(IntArrayRef values) { return values.slice(1); }

// Calls write(j) for each j < rows. Each thread has its own range of offsets, and writes the rows j with
// these offsets in the order of j. No two threads therefore write the same row, and float sums do not depend
// on the number of threads. Small inputs are written by one thread.
template <class Write>
void for_owned_rows(const std::int64_t* offset, std::int64_t rows, std::int64_t row_size, Write&& write) {
  if (rows * row_size <= kGrain || row_size < 8) {  // each thread would search all rows
    for (std::int64_t j = 0; j < rows; ++j) write(j);
    return;
  }
  const auto [low, high] = std::minmax_element(offset, offset + rows);
  const std::int64_t range = *high - *low + 1, first = *low;
  const std::int64_t pieces = std::clamp<std::int64_t>(rows * row_size / kGrain, 1, 64);
  parallel_for(0, range, (range + pieces - 1) / pieces, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = 0; j < rows; ++j)
      if (offset[j] - first >= begin && offset[j] - first < end) write(j);
  });
}

}  // namespace

void index_offsets(NdArray& out, ArrayRef<NdArray> indices, IntArrayRef sizes, IntArrayRef strides,
                   const kernels::IndexRules& rules) {
  std::int64_t* const to = out.address_as<std::int64_t>();
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const Walk<2> walk(out.sizes(), {out.strides(), indices[k].strides()});
    const std::int64_t* const from = indices[k].address_as<std::int64_t>();
    const std::int64_t size = sizes[k], stride = strides[k], least = rules.wraps ? -size : 0;
    if (out.numel() == 0) continue;
    walk([&](std::int64_t n, const Run2& at, const Run2& step) {
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t index = from[at[1] + i * step[1]];
        EBB_CHECK_INDEX(index >= least && index < size, rules.op, ": index ", index,
                        " is out of bounds for dimension ", rules.dims.empty() ? 0 : rules.dims[k],
                        " with size ", size, ".");
        const std::int64_t offset = (index < 0 ? index + size : index) * stride;
        std::int64_t& o = to[at[0] + i * step[0]];
        o = k == 0 ? offset : o + offset;
      }
    });
  }
}

void take_rows(NdArray& out, const NdArray& x, const NdArray& offsets) {
  const std::int64_t rows = offsets.numel(), row_size = x.numel(), out_row = out.strides()[0];
  if (rows == 0 || row_size == 0) return;
  const Walk<2> walk(x.sizes(), {without_first(out.strides()), x.strides()});
  const std::int64_t* const offset = offsets.address_as<std::int64_t>();
  visit_bits(out.dtype(), [&]<class T> {
    T* const to = static_cast<T*>(out.address());
    const T* const from = static_cast<const T*>(x.address());
    if (row_size == 1)
      return parallel_for(0, rows, kGrain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t j = begin; j < end; ++j) to[j * out_row] = from[offset[j]];
      });
    if (by_rows(walk)) {
      const std::int64_t grain = std::max<std::int64_t>(kGrain / row_size, 1);
      parallel_for(0, rows, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t j = begin; j < end; ++j) {
          T* const o = to + j * out_row;
          const T* const i = from + offset[j];
          walk.serial([=](std::int64_t n, const Run2& at, const Run2& step) {
            move_run(o + at[0], i + at[1], n, step[0], step[1]);
          });
        }
      });
      return;
    }
    // The elements of a row are far apart in memory, so the inner loop is over the offsets.
    walk.weighted(rows, [=](std::int64_t n, const Run2& at, const Run2& step) {
      for (std::int64_t k = 0; k < n; ++k) {
        T* const o = to + at[0] + k * step[0];
        const T* const i = from + at[1] + k * step[1];
        for (std::int64_t j = 0; j < rows; ++j) o[j * out_row] = i[offset[j]];
      }
    });
  });
}

void put_rows(NdArray& out, const NdArray& offsets, const NdArray& values, bool accumulate) {
  const std::int64_t rows = offsets.numel(), row_size = out.numel(), value_row = values.strides()[0];
  if (rows == 0 || row_size == 0) return;
  const Walk<2> walk(out.sizes(), {out.strides(), without_first(values.strides())});
  const std::int64_t* const offset = offsets.address_as<std::int64_t>();
  const auto all = [&]<class T>(T* to, const T* from, auto&& run, auto&& one) {
    if (row_size == 1) {
      for (std::int64_t j = 0; j < rows; ++j) one(to[offset[j]], from[j * value_row]);
      return;
    }
    if (by_rows(walk)) {
      for_owned_rows(offset, rows, row_size, [&](std::int64_t j) {
        T* const o = to + offset[j];
        const T* const v = from + j * value_row;
        walk.serial([&](std::int64_t n, const Run2& at, const Run2& step) {
          run(o + at[0], v + at[1], n, step[0], step[1]);
        });
      });
      return;
    }
    walk.weighted(rows, [&](std::int64_t n, const Run2& at, const Run2& step) {
      for (std::int64_t k = 0; k < n; ++k) {
        T* const o = to + at[0] + k * step[0];
        const T* const v = from + at[1] + k * step[1];
        for (std::int64_t j = 0; j < rows; ++j) one(o[offset[j]], v[j * value_row]);
      }
    });
  };
  if (!accumulate) {
    visit_bits(out.dtype(), [&]<class T> {
      all(static_cast<T*>(out.address()), static_cast<const T*>(values.address()), &move_run<T>,
          [](T& o, T v) { o = v; });
    });
    return;
  }
  visit_all(out.dtype(), "index_put", [&]<class T> {
    if constexpr (is_half_v<T> || std::is_same_v<T, float>)
      if (is_half_v<T> ? rows > 1 : may_repeat_often(offset, rows))
        return sum_rows(out.address_as<T>(), values.address_as<T>(), offset, rows, value_row, walk, row_size);
    all(out.address_as<T>(), static_cast<const T*>(values.address()), &add_run<T>, [](T& o, T v) {
      if constexpr (std::is_same_v<T, bool>)
        o = o || v;
      else
        o = wrapping_add(o, v);
    });
  });
}

}  // namespace ebb::cpu

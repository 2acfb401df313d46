// Sizes, strides, mask and dropout of attention, for the kernels of both devices.
#pragma once

#include "kernel/grid.h"
#include "ops/attention/kernels.h"

namespace ebb::attention {

struct Sizes {
  std::int64_t batch, heads, shared;  // `shared`: query heads that share one head of key and value
  std::int64_t queries, keys, width, value_width;

  Sizes(const NdArray& query, const NdArray& key, const NdArray& value)
      : batch(query.sizes()[0]),
        heads(query.sizes()[1]),
        shared(heads == 0 || key.sizes()[1] == 0 ? 1 : heads / key.sizes()[1]),
        queries(query.sizes()[2]),
        keys(key.sizes()[2]),
        width(query.sizes()[3]),
        value_width(value.sizes()[3]) {}
  explicit Sizes(const ops::AttentionSaved& call) : Sizes(call.query, call.key, call.value) {}

  EBB_HD std::int64_t key_heads() const { return heads / shared; }
};

/// Returns pointers to the rows of an array (N, H, rows, width).
template <class T>
struct Rows {
  T* data;
  std::int64_t batch_step, head_step, step;

  explicit Rows(const NdArray& x)
      : data(x.address_as<T>()),
        batch_step(x.strides()[0]),
        head_step(x.strides()[1]),
        step(x.strides()[2]) {}
  EBB_HD T* at(std::int64_t n, std::int64_t h, std::int64_t row) const {
    return data + n * batch_step + h * head_step + row * step;
  }
};

enum class MaskKind : std::uint8_t { none, allowed, added_floats, added };

/// The elements of a mask. MaskKind::added is an additive mask in the dtype of the query.
struct Mask {
  const void* data = nullptr;
  std::int64_t steps[4] = {};
  MaskKind kind = MaskKind::none;

  explicit Mask(const NdArray& x) {
    if (!x.defined()) return;
    data = x.address();
    for (std::size_t d = 0; d < 4; ++d) steps[d] = x.strides()[d];
    kind = x.dtype() == kBool    ? MaskKind::allowed
           : x.dtype() == kFloat ? MaskKind::added_floats
                                 : MaskKind::added;
  }
  EBB_HD std::int64_t row(std::int64_t n, std::int64_t h, std::int64_t query) const {
    return n * steps[0] + h * steps[1] + query * steps[2];
  }
};

/// The factors of dropout. Four adjacent keys use one group of four random words.
struct Weights {
  random::Dropout rule;
  std::int64_t groups;  // groups of a row

  Weights(const random::Dropout& r, std::int64_t keys) : rule(r), groups(ceil_div(keys, 4)) {}
  /// Multiplies x by the factors of the keys [4 * group, 4 * group + 4). `row` is the index of the query
  /// among all N H L queries.
  template <class C>
  EBB_HD void drop(std::int64_t row, std::int64_t group, C (&x)[4]) const {
    rule(static_cast<std::uint64_t>(row * groups + group), x);
  }
  /// Returns the factor of one key.
  template <class C>
  EBB_HD C factor(std::int64_t row, std::int64_t key) const {
    C x[4] = {1, 1, 1, 1};
    drop(row, key / 4, x);
    const std::int64_t i = key % 4;
    return i == 0 ? x[0] : i == 1 ? x[1] : i == 2 ? x[2] : x[3];
  }
};

}  // namespace ebb::attention

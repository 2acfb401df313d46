// index and index_put: advanced indexing with a list of tensors.
#include <ebb/ops/creation.h>

#include "ops/common/arrays.h"
#include "ops/common/autocast.h"
#include "ops/common/record.h"
#include "ops/common/views.h"
#include "ops/index/common.h"

#include <algorithm>
#include <memory>

namespace ebb {

namespace {

using autograd::GradList;
// One tensor for each dimension; undefined selects the whole dimension.
using Indices = SmallVector<Variable, 4>;

// Replaces each mask by the positions of its true elements: one index for each dimension of the mask.
Indices expanded(const Variable& x, ArrayRef<optional<Variable>> indices) {
  Indices out;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i] || !indices[i]->defined()) {
      out.emplace_back();
      continue;
    }
    const Variable& index = *indices[i];
    EBB_CHECK_INDEX(
        index.dtype() == kLong || index.dtype() == kInt || index.dtype() == kByte || index.dtype() == kBool,
        "index: tensors used as indices must be long, int, byte or bool tensors, got ", index.dtype(), ".");
    if (index.dtype() == kLong || index.dtype() == kInt) {
      out.push_back(index.to(kLong));
      continue;
    }
    ops::warn_of_byte_mask("index", index);
    const std::int64_t first = static_cast<std::int64_t>(out.size());
    for (std::int64_t d = 0; d < index.dim(); ++d)
      EBB_CHECK_INDEX(first + d < x.dim() && index.sizes()[d] == x.sizes()[first + d],
                      "index: the shape of the mask ", index.sizes(), " at index ", d,
                      " does not match the shape of the indexed tensor ", x.sizes(), " at index ", first + d,
                      ".");
    const Variable places = nonzero(index.detach());
    for (std::int64_t d = 0; d < index.dim(); ++d) out.push_back(select(places, 1, d));
  }
  EBB_CHECK_INDEX(static_cast<std::int64_t>(out.size()) <= x.dim(),
                  "index: too many indices for tensor of dimension ", x.dim(), " (got ",
                  static_cast<std::int64_t>(out.size()), ").");
  while (static_cast<std::int64_t>(out.size()) < x.dim()) out.emplace_back();
  return out;
}

// The memory layout of an indexed access: one offset for each position of the broadcast indices. At each
// offset begins a view with the sizes and strides of `rest`, which has the dimensions that are not indexed.
struct Plan {
  NdArray offsets, rest;
  DimVector index_shape, result_shape;
  std::size_t place = 0;  // the position of index_shape's first dimension in result_shape

  /// Error messages call dimension d of x names[d], if there are names.
  Plan(const char* op, const NdArray& x, const Indices& indices, IntArrayRef names) {
    DimVector dims, sizes, strides, rest_sizes, rest_strides;
    bool adjacent = true;
    for (std::size_t d = 0; d < indices.size(); ++d) {
      const std::int64_t size = x.sizes()[d], stride = x.strides()[d];
      if (!indices[d].defined()) {
        rest_sizes.push_back(size);
        rest_strides.push_back(stride);
        continue;
      }
      if (dims.empty())
        place = d;
      else
        adjacent &= dims.back() + 1 == static_cast<std::int64_t>(d);
      dims.push_back(static_cast<std::int64_t>(d));
      sizes.push_back(size);
      strides.push_back(stride);
    }
    EBB_CHECK_INDEX(!dims.empty(), op, ": at least one tensor with a dimension is needed among the indices.");
    if (!adjacent) place = 0;
    for (const std::int64_t d : dims) index_shape = shared_shape(index_shape, indices[d].sizes());
    SmallVector<NdArray, 4> which;
    for (const std::int64_t d : dims) {
      EBB_CHECK(indices[d].device() == x.device(), op,
                ": indices should be on the device of the indexed tensor (", x.device(), "), got ",
                indices[d].device(), ". Move them with .to(device).");
      which.push_back(indices[d].array().expand(index_shape));
    }
    offsets = NdArray::empty(index_shape, kLong, x.device());
    kernels::IndexRules rules;
    if (!names.empty())
      for (std::int64_t& d : dims) d = names[d];
    rules.dims = dims;
    kernels::index_offsets(x.device(), offsets, which, sizes, strides, rules);
    offsets = offsets.as_strided({offsets.numel()}, {1}, 0);
    rest = x.as_strided(rest_sizes, rest_strides, x.offset());
    result_shape.append(rest_sizes.begin(), rest_sizes.begin() + place);
    result_shape.append(index_shape.begin(), index_shape.end());
    result_shape.append(rest_sizes.begin() + place, rest_sizes.end());
  }

  // Views an array of the result's shape as rows: the index's dimensions are merged into the first one.
  NdArray rows(const NdArray& x) const {
    const std::size_t n = index_shape.size();
    const IntArrayRef sizes = x.sizes(), strides = x.strides();
    const optional<DimVector> merged =
        ops::view_strides(sizes.slice(place, n), strides.slice(place, n), offsets.numel());
    if (!merged) return rows(ops::contiguous_array(x));
    DimVector row_sizes{offsets.numel()}, row_strides{(*merged)[0]};
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      if (d >= place && d < place + n) continue;
      row_sizes.push_back(sizes[d]);
      row_strides.push_back(strides[d]);
    }
    return x.as_strided(row_sizes, row_strides, x.offset());
  }

 private:
  static DimVector shared_shape(IntArrayRef a, IntArrayRef b) {
    const std::size_t n = std::max(a.size(), b.size());
    DimVector out(n, 1);
    for (std::size_t i = 0; i < n; ++i) {
      const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1,
                         y = i < b.size() ? b[b.size() - 1 - i] : 1;
      EBB_CHECK_INDEX(x == y || x == 1 || y == 1,
                      "index: shape mismatch: indexing tensors could not be broadcast ",
                      "together with shapes ", a, ", ", b, ".");
      out[n - 1 - i] = x == 1 ? y : x;
    }
    return out;
  }
};

struct IndexedNode : autograd::Node {
  ops::SavedVariables saved{this};

  std::vector<optional<Variable>> indices() const {
    std::vector<optional<Variable>> out;
    for (const Variable& index : saved.unpack())
      out.push_back(index.defined() ? optional<Variable>(index) : nullopt);
    return out;
  }
};

struct IndexBackward : IndexedNode {
  DimVector sizes;
  std::string name() const override { return "IndexBackward0"; }
  GradList apply(GradList&& grads) override {
    const Variable zeros(ops::zeros_array(sizes, grads[0].dtype(), grads[0].device()));
    return {index_put_(zeros, indices(), grads[0], true)};
  }
};

struct IndexPutBackward : IndexedNode {
  bool accumulate = false;
  std::string name() const override { return "IndexPutBackward0"; }
  GradList apply(GradList&& grads) override {
    GradList out(2);
    const Variable& grad = grads[0];
    if (needs(0))
      out[0] = accumulate
                   ? grad
                   : index_put(grad, indices(), Variable(ops::zeros_array({}, grad.dtype(), grad.device())));
    if (needs(1)) out[1] = index(grad, indices());
    return out;
  }
};

void check_put(const Variable& x, const Variable& values) {
  EBB_CHECK(x.dtype() == values.dtype(), "index_put: requires the source and destination dtypes match, got ",
            x.dtype(), " for the destination and ", values.dtype(),
            " for the source. Convert the source with .to(dtype).");
}

auto put_values(const Indices& indices, const Variable& values, bool accumulate, IntArrayRef names = {}) {
  return [&indices, &values, accumulate, names](NdArray& out) {
    Plan plan("index_put", out, indices, names);
    const IntArrayRef shape = plan.result_shape;
    bool fits = values.sizes().size() <= shape.size();
    for (std::size_t i = 0; fits && i < values.sizes().size(); ++i) {
      const std::int64_t size = values.sizes()[i];
      fits = size == 1 || size == shape[i + shape.size() - values.sizes().size()];
    }
    EBB_CHECK(fits, "index_put: shape mismatch: value tensor of shape ", values.sizes(),
              " cannot be broadcast to indexing result of shape ", shape, ".");
    const NdArray source = values.device() == out.device()
                               ? values.array()
                               : to(Variable(values.array()), out.device(), out.dtype()).array();
    kernels::put_rows(out.device(), plan.rest, plan.offsets, plan.rows(source.expand(shape)), accumulate);
  };
}

auto keep(const Indices& indices, bool accumulate) {
  return [&indices, accumulate](IndexPutBackward& node) {
    node.saved.save(indices);
    node.accumulate = accumulate;
  };
}

}  // namespace

Variable ops::index_part(const Variable& x, ArrayRef<optional<Variable>> indices, IntArrayRef names) {
  const Indices list = expanded(x, indices);
  const Plan plan("index", x.array(), list, names);
  NdArray out = NdArray::empty(plan.result_shape, x.dtype(), x.device());
  NdArray rows = plan.rows(out);
  kernels::take_rows(x.device(), rows, plan.rest, plan.offsets);
  return ops::record<IndexBackward>(
      std::move(out),
      [&](IndexBackward& node) {
        node.saved.save(list);
        node.sizes = DimVector(x.sizes());
      },
      x);
}

Variable index(const Variable& x, ArrayRef<optional<Variable>> indices) {
  return ops::index_part(x, indices, {});
}

Variable index_put(const Variable& x, ArrayRef<optional<Variable>> indices, const Variable& values,
                   bool accumulate) {
  EBB_AUTOCAST(index_put, x, indices, values, accumulate);
  const Indices list = expanded(x, indices);
  check_put(x, values);
  return ops::record_either<IndexPutBackward>({"index_put"}, x, put_values(list, values, accumulate),
                                              keep(list, accumulate), values);
}

Variable& ops::put_part_(const Variable& x, ArrayRef<optional<Variable>> indices, const Variable& values,
                         bool accumulate, IntArrayRef names) {
  const Indices list = expanded(x, indices);
  check_put(x, values);
  return record_inplace<IndexPutBackward>(x, "index_put_", put_values(list, values, accumulate, names),
                                          keep(list, accumulate), values);
}

Variable& index_put_(const Variable& x, ArrayRef<optional<Variable>> indices, const Variable& values,
                     bool accumulate) {
  return ops::put_part_(x, indices, values, accumulate, {});
}

}  // namespace ebb

// embedding, one_hot and embedding_renorm_, which limits the norms of the rows of a table.
#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "core/recorder.h"
#include "ops/common/arrays.h"
#include "ops/common/checks.h"
#include "ops/common/dims.h"
#include "ops/common/kernels.h"
#include "ops/common/record.h"
#include "ops/common/views.h"
#include "ops/index/common.h"

#include <algorithm>

namespace ebb {

namespace {

using autograd::GradList;

struct EmbeddingBackward : autograd::Node {
  autograd::SavedVariable indices{this};
  std::int64_t rows = 0, padding = -1;
  bool by_frequency = false;
  std::string name() const override { return "EmbeddingBackward0"; }
  GradList apply(GradList&& grads) override {
    return {embedding_dense_backward(grads[0], indices.unpack(), rows, padding, by_frequency)};
  }
};

struct EmbeddingDenseBackwardBackward : autograd::Node {
  autograd::SavedVariable indices{this};
  autograd::SavedVariable uses{this};  // uses of each row, if gradients are divided by this number
  std::int64_t rows = 0, padding = -1;
  std::string name() const override { return "EmbeddingDenseBackwardBackward0"; }
  GradList apply(GradList&& grads) override {
    Variable table = grads[0];
    const Variable count = uses.unpack();
    if (count.defined()) table = to(div(table, count), table.dtype());
    if (padding >= 0) {
      NdArray row = NdArray::empty({1}, kLong, table.device());
      kernels::fill(table.device(), row, padding);
      table = index_fill(table, 0, Variable(std::move(row)), 0);
    }
    return {embedding(table, indices.unpack())};
  }
};

NdArray row_offsets(const char* op, const Variable& indices, const NdArray& table) {
  return ops::offsets_along(op, ops::long_array(op, indices), 0, table.sizes()[0], table.strides()[0], false);
}

// Returns a column with the number of uses of each row, at least 1.
NdArray count_uses(const NdArray& offsets, std::int64_t columns, std::int64_t rows, DType dtype) {
  const Device device = offsets.device();
  // The offsets are multiples of the row length, so the uses are counted in the first column of a table of
  // zeros. The table has at least one column.
  NdArray table = ops::zeros_array({rows, std::max<std::int64_t>(columns, 1)}, dtype, device);
  NdArray first = table.as_strided({}, {}, 0);
  const NdArray one = ops::scalar_array(1, dtype, device);
  kernels::put_rows(device, first, offsets, one.expand({offsets.numel()}), true);
  const NdArray count = ops::slice_array(table, 1, 0, 1);
  return clamp_min(Variable(count), 1).array();
}

}  // namespace

Variable embedding(const Variable& weight, const Variable& indices, std::int64_t padding_idx,
                   bool scale_grad_by_freq, bool) {
  EBB_CHECK(weight.dim() == 2, "embedding: 'weight' must be 2-D, got shape ", weight.sizes(), ".");
  ops::common_device("embedding", weight, indices);
  const NdArray& table = weight.array();
  const NdArray offsets = row_offsets("embedding", indices, table);
  DimVector sizes(indices.sizes());
  sizes.push_back(weight.sizes()[1]);
  NdArray out = NdArray::empty(sizes, weight.dtype(), weight.device());
  NdArray rows = out.as_strided({indices.numel(), sizes.back()}, {sizes.back(), 1}, 0);
  kernels::take_rows(weight.device(), rows,
                     table.as_strided({sizes.back()}, {table.strides()[1]}, table.offset()), offsets);
  return ops::record<EmbeddingBackward>(
      std::move(out),
      [&](EmbeddingBackward& node) {
        node.indices.save(indices);
        node.rows = weight.sizes()[0];
        node.padding = padding_idx;
        node.by_frequency = scale_grad_by_freq;
      },
      weight);
}

Variable embedding_dense_backward(const Variable& grad_output, const Variable& indices,
                                  std::int64_t num_weights, std::int64_t padding_idx,
                                  bool scale_grad_by_freq) {
  ops::common_device("embedding_dense_backward", grad_output, indices);
  EBB_CHECK(grad_output.dim() == indices.dim() + 1 &&
                grad_output.sizes().slice(0, static_cast<std::size_t>(indices.dim())) == indices.sizes(),
            "embedding_dense_backward: grad_output must have the shape of indices, ", indices.sizes(),
            ", and one dimension more, got ", grad_output.sizes(), ".");
  const NdArray grad = ops::contiguous_array(grad_output.array());
  const std::int64_t columns = grad.sizes()[grad.dim() - 1];
  const Device device = grad.device();
  NdArray out = ops::zeros_array({num_weights, columns}, grad.dtype(), device);
  const NdArray offsets = row_offsets("embedding_dense_backward", indices, out);
  NdArray row = out.as_strided({columns}, {1}, 0);
  kernels::put_rows(device, row, offsets,
                    grad.as_strided({indices.numel(), columns}, {columns, 1}, grad.offset()), true);
  NdArray uses;
  if (scale_grad_by_freq) {
    uses = count_uses(offsets, columns, num_weights, ops::wide_dtype(grad.dtype()));
    out = ops::cast_array(div(Variable(out), Variable(uses)).array(), grad.dtype());
  }
  if (padding_idx >= 0 && padding_idx < num_weights) {
    NdArray padding = ops::select_array(out, 0, padding_idx);
    kernels::fill(device, padding, 0);
  }
  return ops::record<EmbeddingDenseBackwardBackward>(
      std::move(out),
      [&](EmbeddingDenseBackwardBackward& node) {
        node.indices.save(indices);
        if (uses.defined())
          node.uses.save(Variable(uses));
        else
          node.uses.save(Variable());
        node.rows = num_weights;
        node.padding = padding_idx < num_weights ? padding_idx : -1;
      },
      grad_output);
}

Variable one_hot(const Variable& x, std::int64_t num_classes) {
  EBB_CHECK(x.dtype() == kLong, "one_hot: is only applicable to index tensors of dtype Long, got ", x.dtype(),
            ".");
  EBB_CHECK(num_classes != 0 || x.numel() == 0, "one_hot: num_classes must be positive, got 0.");
  const NdArray classes = ops::contiguous_array(to(x.detach(), Device(DeviceType::CPU), kLong).array());
  detail::host_access(classes);
  const std::int64_t* const c = classes.address_as<std::int64_t>();
  const std::int64_t count = classes.numel();
  EBB_CHECK(count > 0 || num_classes > 0,
            "one_hot: can not infer the total number of classes from an empty tensor.");
  if (count > 0) {
    const auto [least, most] = std::minmax_element(c, c + count);
    EBB_CHECK(*least >= 0, "one_hot: class values must be non-negative, got ", *least, ".");
    EBB_CHECK(num_classes == -1 || *most < num_classes,
              "one_hot: class values must be smaller than num_classes (", num_classes, "), got ", *most,
              ". Pass -1 to have as many classes as the values need.");
    if (num_classes == -1) num_classes = *most + 1;
  }
  DimVector sizes(x.sizes());
  sizes.push_back(num_classes);
  Variable out(ops::zeros_array(sizes, kLong, x.device()));
  if (count > 0) scatter_(out, -1, unsqueeze(x.detach(), -1), 1);
  return out;
}

Variable& embedding_renorm_(const Variable& self, const Variable& indices, double max_norm,
                            double norm_type) {
  const char* op = "embedding_renorm_";
  ops::common_device(op, self, indices);
  EBB_CHECK(self.dim() == 2, op, ": expected a table of 2 dimensions, got shape ", self.sizes(), ".");
  EBB_CHECK(indices.defined() && (indices.dtype() == kLong || indices.dtype() == kInt), op,
            ": expected indices in Long or Int, got ",
            indices.defined() ? to_string(indices.dtype()) : "none", ".");
  NoGradGuard no_grad;
  const Variable used = zeros({self.size(0)}, TensorOptions(kBool).device(self.device()))
                            .index_fill(0, indices.to(kLong).flatten(), true);
  const Variable norms = self.detach().norm(norm_type, 1);
  const Variable scale =
      where(used.logical_and(norms > max_norm), max_norm / (norms + 1e-7), ones_like(norms));
  mul_(self, scale.unsqueeze(1));
  return ops::mutable_self(self);
}

Variable embedding_renorm(const Variable& self, const Variable& indices, double max_norm, double norm_type) {
  const Variable copy = self.detach().clone();
  embedding_renorm_(copy, indices, max_norm, norm_type);
  return copy;
}

}  // namespace ebb

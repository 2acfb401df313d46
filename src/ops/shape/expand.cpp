// expand and its transpose, sum_to_size.
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/record.h"

namespace ebb {

namespace {

using autograd::GradList;

struct ExpandBackward : autograd::Node {
  DimVector sizes;
  std::string name() const override { return "ExpandBackward0"; }
  GradList apply(GradList&& grads) override { return {sum_to_size(grads[0], sizes)}; }
};

}  // namespace

Variable expand(const Variable& x, IntArrayRef size, bool) {
  const std::size_t dims = static_cast<std::size_t>(x.dim());
  EBB_CHECK(size.size() >= dims, "expand: the number of sizes provided (",
            static_cast<std::int64_t>(size.size()),
            ") must be at least the number of dimensions of the tensor (", x.dim(), "); sizes ", size,
            ", tensor ", x.sizes(), ".");
  const std::size_t lead = size.size() - dims;
  DimVector sizes(size), strides(size.size(), 0);
  for (std::size_t i = 0; i < size.size(); ++i) {
    if (i < lead) {
      EBB_CHECK(size[i] >= 0, "expand: the expanded size of the tensor (", size[i],
                ") is not allowed in the leading, non-existing dimension ", static_cast<std::int64_t>(i),
                ".");
      continue;
    }
    const std::int64_t own = x.sizes()[i - lead];
    if (size[i] == -1) sizes[i] = own;
    EBB_CHECK(sizes[i] == own || (own == 1 && sizes[i] >= 0), "expand: the expanded size of the tensor (",
              size[i], ") must match the existing size (", own, ") at non-singleton dimension ",
              static_cast<std::int64_t>(i), ". Target sizes: ", size, ". Tensor sizes: ", x.sizes(), ".");
    if (sizes[i] == own) strides[i] = x.strides()[i - lead];
  }
  return ops::view_of<ExpandBackward>(x, x.array().as_strided(sizes, strides, x.array().offset()),
                                      [&](ExpandBackward& node) { node.sizes = DimVector(x.sizes()); });
}

Variable broadcast_to(const Variable& x, IntArrayRef size) { return expand(x, size); }

std::vector<Variable> broadcast_tensors(TensorList tensors) {
  DimVector shape;
  for (const Variable& x : tensors) shape = broadcast_shapes("broadcast_tensors", shape, x.sizes());
  std::vector<Variable> out;
  out.reserve(tensors.size());
  for (const Variable& x : tensors) out.push_back(expand(x, shape));
  return out;
}

Variable sum_to_size(const Variable& x, IntArrayRef size) {
  if (x.sizes() == size) return x;
  const std::size_t dims = static_cast<std::size_t>(x.dim());
  bool fits = size.size() <= dims;
  const std::size_t lead = fits ? dims - size.size() : 0;
  DimVector reduced;
  for (std::size_t d = 0; d < dims && fits; ++d) {
    if (d < lead || (size[d - lead] == 1 && x.sizes()[d] != 1))
      reduced.push_back(static_cast<std::int64_t>(d));
    else
      fits = size[d - lead] == x.sizes()[d];
  }
  EBB_CHECK(fits, "sum_to_size: size ", size, " is not expandable to the size ", x.sizes(),
            " of the tensor.");
  Variable out = reduced.empty() ? x : sum(x, reduced, /*keepdim=*/true);
  return lead == 0 ? out : view(out, size);
}

}  // namespace ebb

// linear_recurrence, cummax and cummin.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/checks.h"
#include "ops/common/dims.h"
#include "ops/common/record.h"
#include "ops/reduce/kernels.h"

namespace ebb {

namespace ops {
namespace {

struct LinearRecurrenceBackward : autograd::Node {
  autograd::SavedVariable links{this}, result{this};
  std::int64_t dim = 0;
  bool reverse = false;
  std::string name() const override { return "LinearRecurrenceBackward0"; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    const Variable u = linear_recurrence(grads[0], links.unpack(), dim, !reverse);
    Variable for_links;
    if (needs(1)) {
      const Variable y = result.unpack();
      const std::int64_t n = y.size(dim), to = reverse ? 0 : 1;
      for_links = u.narrow(dim, to, n - 1) * y.narrow(dim, 1 - to, n - 1);
    }
    return {u, std::move(for_links)};
  }
};

struct RunningExtremeBackward : autograd::Node {
  autograd::SavedVariable indices{this};
  std::int64_t dim = 0;
  bool largest = true;
  std::string name() const override { return largest ? "CummaxBackward0" : "CumminBackward0"; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    return {zeros(grads[0].sizes(), grads[0].options()).scatter_add_(dim, indices.unpack(), grads[0])};
  }
};

std::tuple<Variable, Variable> running_extreme(const char* op, const Variable& self, std::int64_t dim,
                                               bool largest) {
  const std::int64_t d = wrap_dim(op, dim, self.dim());
  const NdArray in = contiguous_array(self.array());
  NdArray values = NdArray::empty(in.sizes(), in.dtype(), in.device());
  NdArray indices = NdArray::empty(in.sizes(), kLong, in.device());
  kernels::running_extreme(in.device(), values, indices, in, d, largest);
  Variable value(std::move(values)), index(std::move(indices));
  if (const auto node = record_results<RunningExtremeBackward>({&value}, self)) {
    node->dim = d;
    node->largest = largest;
    node->indices.save(index);
  }
  return {std::move(value), std::move(index)};
}

}  // namespace
}  // namespace ops

Variable linear_recurrence(const Variable& x, const Variable& links, std::int64_t dim, bool reverse) {
  const Device device = ops::common_device("linear_recurrence", x, links);
  ops::check_same_dtype("linear_recurrence", x, links);
  const std::int64_t d = wrap_dim("linear_recurrence", dim, x.dim());
  DimVector expected(x.sizes());
  EBB_CHECK(x.dim() > 0 && x.size(d) > 0, "linear_recurrence: expected at least one element along dim ", d,
            ", got shape ", x.sizes(), ".");
  --expected[d];
  EBB_CHECK(links.sizes() == IntArrayRef(expected),
            "linear_recurrence: expected one factor between every two neighbours, of shape ",
            IntArrayRef(expected), ", got ", links.sizes(), ".");
  NdArray out = NdArray::empty(x.sizes(), x.dtype(), device);
  kernels::linear_recurrence(device, out, ops::contiguous_array(x.array()),
                             ops::contiguous_array(links.array()), d, reverse);
  Variable result(std::move(out));
  if (const auto node = ops::record_results<ops::LinearRecurrenceBackward>({&result}, x, links)) {
    node->dim = d;
    node->reverse = reverse;
    node->links.save(links);
    if (node->needs(1)) node->result.save_output(result);
  }
  return result;
}

std::tuple<Variable, Variable> cummax(const Variable& self, std::int64_t dim) {
  return ops::running_extreme("cummax", self, dim, true);
}
std::tuple<Variable, Variable> cummin(const Variable& self, std::int64_t dim) {
  return ops::running_extreme("cummin", self, dim, false);
}

}  // namespace ebb

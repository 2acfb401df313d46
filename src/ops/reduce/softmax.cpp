// softmax, log_softmax and their gradients, which are ops as well.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>

#include "ops/common/arrays.h"
#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/dims.h"
#include "ops/common/record.h"
#include "ops/reduce/softmax_kernels.h"

namespace ebb {

namespace ops {
namespace {

Variable backward(const char* op, const Variable& grad, const Variable& result, std::int64_t dim, bool log,
                  DType input_dtype, bool whole);

struct SoftmaxBackward : autograd::Node {
  autograd::SavedVariable result{this};
  std::int64_t dim = 0;
  bool log = false;
  DType input_dtype = kFloat;

  std::string name() const override { return log ? "LogSoftmaxBackward0" : "SoftmaxBackward0"; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    const char* op = log ? "_log_softmax_backward_data" : "_softmax_backward_data";
    return {backward(op, grads[0], result.unpack(), dim, log, input_dtype, /*whole=*/true)};
  }
};

struct SoftmaxBackwardDataBackward : autograd::Node {
  autograd::SavedVariable grad{this}, result{this};
  std::int64_t dim = 0;
  bool log = false;
  DType input_dtype = kFloat;

  std::string name() const override {
    return log ? "LogSoftmaxBackwardDataBackward0" : "SoftmaxBackwardDataBackward0";
  }
  autograd::GradList apply(autograd::GradList&& grads) override {
    const Variable& v = grads[0];
    const Variable y = result.unpack();
    Variable for_grad, for_result;
    if (log) {
      const Variable p = y.exp();
      if (needs(0)) for_grad = v - (v * p).sum(dim, true);
      if (needs(1)) for_result = -(v * p * grad.unpack().sum(dim, true));
    } else {
      const Variable inner = (v * y).sum(dim, true);
      if (needs(0)) for_grad = (v - inner) * y;
      if (needs(1)) {
        const Variable g = grad.unpack();
        for_result = v * (g - (g * y).sum(dim, true)) - g * inner;
      }
    }
    return {std::move(for_grad), std::move(for_result)};
  }
};

// Computes the result and records the op. If `overwrites` is true, the result may be written to the memory of
// x.
Variable forward(const char* op, const Variable& x, std::int64_t dim, bool log, DType dtype,
                 bool overwrites = false) {
  EBB_CHECK(is_floating(x.dtype()), op, ": expected a floating-point tensor, got ", x,
            ". Convert it with .to(ebb::kFloat) or pass dtype.");
  const std::int64_t d = wrap_dim(op, dim, x.dim());
  const NdArray in = contiguous_array(x.array(), {dtype});
  NdArray out = overwrites ? in : NdArray::empty(in.sizes(), dtype, in.device());
  kernels::softmax(in.device(), out, in, d, log);
  Variable result(std::move(out));
  if (const auto node = record_results<SoftmaxBackward>({&result}, x)) {
    node->dim = d;
    node->log = log;
    node->input_dtype = x.dtype();
    node->result.save_output(result);
  }
  return result;
}

Variable backward(const char* op, const Variable& grad, const Variable& result, std::int64_t dim, bool log,
                  DType input_dtype, bool whole) {
  check_same_dtype(op, grad, result);
  EBB_CHECK(grad.sizes() == result.sizes(), op, ": the gradient has shape ", grad.sizes(),
            ", but the result has ", result.sizes(), ". Pass the gradient of that result.");
  const Device device = common_device(op, grad, result);
  const std::int64_t d = wrap_dim(op, dim, result.dim());
  NdArray out = NdArray::empty(result.sizes(), result.dtype(), device);
  kernels::softmax_backward(device, out, contiguous_array(grad.array()), contiguous_array(result.array()), d,
                            log, whole);
  return record<SoftmaxBackwardDataBackward>(
      cast_array(out, input_dtype),
      [&](SoftmaxBackwardDataBackward& node) {
        if (node.needs(1)) node.grad.save(grad);
        node.result.save(result);
        node.dim = d;
        node.log = log;
        node.input_dtype = input_dtype;
      },
      grad, result);
}

DType result_dtype(const Variable& x, bool half_to_float) {
  return half_to_float && (x.dtype() == kHalf || x.dtype() == kBFloat16) ? kFloat : x.dtype();
}

}  // namespace
}  // namespace ops

Variable softmax(const Variable& self, std::int64_t dim, optional<ScalarType> dtype) {
  EBB_AUTOCAST(softmax, self, dim, dtype);
  if (dtype && *dtype != self.dtype())
    return ops::forward("softmax", self.to(*dtype), dim, false, *dtype, true);
  return ops::forward("softmax", self, dim, false, self.dtype());
}
Variable log_softmax(const Variable& self, std::int64_t dim, optional<ScalarType> dtype) {
  EBB_AUTOCAST(log_softmax, self, dim, dtype);
  if (dtype && *dtype != self.dtype())
    return ops::forward("log_softmax", self.to(*dtype), dim, true, *dtype, true);
  return ops::forward("log_softmax", self, dim, true, self.dtype());
}
Variable _softmax(const Variable& self, std::int64_t dim, bool half_to_float) {
  return ops::forward("_softmax", self, dim, false, ops::result_dtype(self, half_to_float));
}
Variable _log_softmax(const Variable& self, std::int64_t dim, bool half_to_float) {
  return ops::forward("_log_softmax", self, dim, true, ops::result_dtype(self, half_to_float));
}
Variable _softmax_backward_data(const Variable& grad_output, const Variable& output, std::int64_t dim,
                                ScalarType input_dtype) {
  return ops::backward("_softmax_backward_data", grad_output, output, dim, false, input_dtype,
                       /*whole=*/false);
}
Variable _log_softmax_backward_data(const Variable& grad_output, const Variable& output, std::int64_t dim,
                                    ScalarType input_dtype) {
  return ops::backward("_log_softmax_backward_data", grad_output, output, dim, true, input_dtype,
                       /*whole=*/false);
}

}  // namespace ebb

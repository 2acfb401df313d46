// Writes results into the tensors of an _out function.
#include <ebb/autograd/grad_mode.h>
#include <ebb/core/warning.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/out.h>

namespace ebb::detail {
namespace {

void check_out(const char* op, const Variable& out, const Variable& result, bool exact) {
  EBB_CHECK(out.defined(), op, "_out: out is undefined. Pass a tensor, for example ebb::empty({0}).");
  EBB_CHECK(!GradMode::is_enabled() || (!out.requires_grad() && !result.requires_grad()), op,
            "(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad. Call it under a NoGradGuard, or use the result of ",
            op, "().");
  EBB_CHECK(out.device() == result.device(), op, "_out: out is on ", out.device(), ", but the result is on ",
            result.device(), ".");
  const DType to = out.dtype(), from = result.dtype();
  EBB_CHECK(exact ? to == from : can_cast(from, to), op, "_out: result type ", from,
            " can't be cast to the desired output type ", to, ".");
}

void write(const char* op, Variable& out, const Variable& result) {
  if (out.sizes() != result.sizes()) {
    if (out.numel() > 0)
      warn(op, "_out: an output of shape ", out.sizes(), " was resized to ", result.sizes(),
           ". Its old elements are lost. To avoid this warning, call out.resize_({0}) first.");
    out.resize_(result.sizes());
  }
  out.copy_(result);
}

}  // namespace

Variable& write_out(const char* op, Variable& out, const Variable& result, bool exact) {
  check_out(op, out, result, exact);
  write(op, out, result);
  return out;
}

TwoOut write_out(const char* op, Variable& first, Variable& second,
                 const std::tuple<Variable, Variable>& results) {
  check_out(op, first, std::get<0>(results), true);
  check_out(op, second, std::get<1>(results), true);
  write(op, first, std::get<0>(results));
  write(op, second, std::get<1>(results));
  return {first, second};
}

}  // namespace ebb::detail

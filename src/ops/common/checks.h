// Checks that every family's ops share.
#pragma once

#include <ebb/autograd/record.h>
#include <ebb/autograd/variable.h>

#include <functional>

namespace ebb::ops {

/// Throws unless all tensors are defined.
inline void check_defined(const char* op, const Variable& x) {
  EBB_CHECK(x.defined(), op, ": expected a tensor, got an undefined one. Assign it before use.");
}
template <class... More>
void check_defined(const char* op, const Variable& first, const More&... more) {
  check_defined(op, first);
  (check_defined(op, more), ...);
}

/// Throws unless x has `least` dimensions. The message is `demand`, "at least 2 dimensions", and x's shape.
template <class... Demand>
void check_dims(const char* op, const Variable& x, std::int64_t least, const Demand&... demand) {
  EBB_CHECK(x.dim() >= least, op, ": ", demand..., " at least ", least, " dimensions, got shape ", x.sizes(),
            ".");
}

inline void check_device(const char* op, Device device, const Variable& x) {
  EBB_CHECK(!x.defined() || x.device() == device, op, ": expected all tensors on one device, got ", device,
            " and ", x.device(), ". Move one with .to(device).");
}
inline void check_device(const char* op, Device device, const optional<Variable>& x) {
  if (x) check_device(op, device, *x);
}

/// The device of all defined inputs; throws an error that names `op` and both devices when they differ.
template <class... More>
Device common_device(const char* op, const Variable& first, const More&... more) {
  check_defined(op, first);
  const Device device = first.device();
  (check_device(op, device, more), ...);
  return device;
}

/// Throws unless the dtypes agree.
inline void check_same_dtype(const char* op, const Variable& a, const Variable& b) {
  EBB_CHECK(a.dtype() == b.dtype(), op, ": expected both tensors in one dtype, got ", a.dtype(), " and ",
            b.dtype(), ". Convert one with .to(dtype).");
}

/// Has the host look at numbers that an op must not go on with: `check` throws. The device is waited for. A
/// function of ebb::compile makes the check again in every replay, so it must hold what it needs, and no
/// tensors.
void check_values(const char* op, const Variable& x, std::function<void(const NdArray&)> check);
/// Throws `message` if a Bool tensor is false anywhere.
void check_true(const char* op, const Variable& truth, const char* message);

/// The largest finite number of a floating dtype.
double largest_of(DType dtype);
/// Throws unless the dtype can hold the value: an integer, or a floating number, which may be infinite or
/// NaN.
void check_fits(const char* op, const Scalar& value, DType dtype);

}  // namespace ebb::ops

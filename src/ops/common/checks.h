// Argument checks that all families of ops share.
#pragma once

#include <ebb/autograd/record.h>
#include <ebb/autograd/variable.h>

#include <functional>

namespace ebb::ops {

inline void check_defined(const char* op, const Variable& x) {
  EBB_CHECK(x.defined(), op, ": expected a tensor, got an undefined one. Assign it before use.");
}
template <class... More>
void check_defined(const char* op, const Variable& first, const More&... more) {
  check_defined(op, first);
  (check_defined(op, more), ...);
}

/// Throws unless x has at least `least` dimensions. The message is `demand` followed by "at least 2
/// dimensions, got shape ...".
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

/// Returns the device of all defined inputs. Throws an error with `op` and both devices if two devices
/// differ.
template <class... More>
Device common_device(const char* op, const Variable& first, const More&... more) {
  check_defined(op, first);
  const Device device = first.device();
  (check_device(op, device, more), ...);
  return device;
}

inline void check_same_dtype(const char* op, const Variable& a, const Variable& b) {
  EBB_CHECK(a.dtype() == b.dtype(), op, ": expected both tensors in one dtype, got ", a.dtype(), " and ",
            b.dtype(), ". Convert one with .to(dtype).");
}

/// Checks that `value` is at least `least` and at most 2^31, so that sums and products of two such values fit
/// into 64 bits. `value` is one element of `given`, the sizes, strides, paddings or dilations of the caller.
inline void check_window(const char* op, const char* what, std::int64_t value, std::int64_t least,
                         IntArrayRef given) {
  EBB_CHECK(value >= least, op, ": ", what, " must be at least ", least, ", got ", given, ".");
  EBB_CHECK(value <= std::int64_t{1} << 31, op, ": ", what, " must be at most 2^31, got ", given, ".");
}

/// Checks the elements of x on the host before an op uses them: waits for the device and calls
/// check(elements), which throws if they are invalid. A function of ebb::compile repeats the check in each
/// replay. `check` must therefore own the data that it needs and must not hold tensors.
void check_values(const char* op, const Variable& x, std::function<void(const NdArray&)> check);
/// Throws `message` if any element of a Bool tensor is false.
void check_true(const char* op, const Variable& truth, const char* message);

/// Returns the largest finite number of a floating dtype.
double largest_of(DType dtype);
/// Throws unless the dtype can represent the value. A floating dtype can represent infinities and NaN.
void check_fits(const char* op, const Scalar& value, DType dtype);

}  // namespace ebb::ops

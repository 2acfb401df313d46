// Tensor factories. Without a dtype the result has get_default_dtype(), unless stated otherwise.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/ops/creation/tensor_data.h>

#include <concepts>

namespace ebb {

/// Creates a tensor of the given numbers: `tensor(3.5)`, `tensor({1, 2, 3})`, `tensor({{1.0, 2.0}, {3.0,
/// 4.0}})`, `tensor(std::vector<double>{...}, kFloat64)`. Without a dtype, int and int64_t give Long, float
/// and double give the default dtype, and every other type gives its own dtype. Throws for ragged lists and
/// for numbers of different C++ types (torch.tensor).
EBB_API Variable tensor(const detail::TensorData& data, const TensorOptions& options = {});

/// Returns an uninitialized tensor (torch.empty).
EBB_API Variable empty(IntArrayRef sizes, const TensorOptions& options = {},
                       optional<MemoryFormat> memory_format = nullopt);
/// Returns an uninitialized tensor with the given strides, in elements (torch.empty_strided).
EBB_API Variable empty_strided(IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options = {});
/// Returns an uninitialized dense tensor. Dimension physical_layout[0] is outermost in memory
/// (torch.empty_permuted).
EBB_API Variable empty_permuted(IntArrayRef sizes, IntArrayRef physical_layout,
                                const TensorOptions& options = {});
EBB_API Variable zeros(IntArrayRef sizes, const TensorOptions& options = {});
EBB_API Variable ones(IntArrayRef sizes, const TensorOptions& options = {});
/// Fills with `value`. Without a dtype, a bool gives Bool, an integer gives Long, and a float gives the
/// default dtype (torch.full).
EBB_API Variable full(IntArrayRef sizes, const Scalar& value, const TensorOptions& options = {});
/// Returns a 0-d tensor (torch.scalar_tensor).
EBB_API Variable scalar_tensor(const Scalar& value, const TensorOptions& options = {});

/// Returns a tensor with x's shape. dtype, device and memory order are those of x unless the arguments set
/// them. requires_grad is not taken from x.
EBB_API Variable empty_like(const Variable& x, const TensorOptions& options = {},
                            optional<MemoryFormat> memory_format = nullopt);
EBB_API Variable zeros_like(const Variable& x, const TensorOptions& options = {},
                            optional<MemoryFormat> memory_format = nullopt);
EBB_API Variable ones_like(const Variable& x, const TensorOptions& options = {},
                           optional<MemoryFormat> memory_format = nullopt);
EBB_API Variable full_like(const Variable& x, const Scalar& value, const TensorOptions& options = {},
                           optional<MemoryFormat> memory_format = nullopt);

/// Returns start, start + step, ... up to but excluding end: ceil((end - start) / step) elements. Long if all
/// arguments are integers. Throws for a step of 0 or of the wrong sign (torch.arange).
EBB_API Variable arange(const Scalar& start, const Scalar& end, const Scalar& step,
                        const TensorOptions& options = {});
EBB_API Variable arange(const Scalar& start, const Scalar& end, const TensorOptions& options = {});
EBB_API Variable arange(const Scalar& end, const TensorOptions& options = {});
/// Returns start, start + step, ... up to and including end, in the default dtype (torch.range).
EBB_API Variable range(const Scalar& start, const Scalar& end, const Scalar& step,
                       const TensorOptions& options = {});
EBB_API Variable range(const Scalar& start, const Scalar& end, const TensorOptions& options = {});
/// Returns `steps` evenly spaced values from start to end, both included (torch.linspace).
EBB_API Variable linspace(const Scalar& start, const Scalar& end, std::int64_t steps,
                          const TensorOptions& options = {});
/// Returns base to the power of linspace(start, end, steps) (torch.logspace).
EBB_API Variable logspace(const Scalar& start, const Scalar& end, std::int64_t steps, double base = 10.0,
                          const TensorOptions& options = {});
/// Overloads of linspace and logspace whose ends are 0-d tensors. The host reads their values.
EBB_API Variable linspace(const Variable& start, const Variable& end, std::int64_t steps,
                          const TensorOptions& options = {});
EBB_API Variable linspace(const Variable& start, const Scalar& end, std::int64_t steps,
                          const TensorOptions& options = {});
EBB_API Variable linspace(const Scalar& start, const Variable& end, std::int64_t steps,
                          const TensorOptions& options = {});
EBB_API Variable logspace(const Variable& start, const Variable& end, std::int64_t steps, double base = 10.0,
                          const TensorOptions& options = {});
EBB_API Variable logspace(const Variable& start, const Scalar& end, std::int64_t steps, double base = 10.0,
                          const TensorOptions& options = {});
EBB_API Variable logspace(const Scalar& start, const Variable& end, std::int64_t steps, double base = 10.0,
                          const TensorOptions& options = {});

/// Returns ones on the diagonal and zeros elsewhere: n by n, or n by m (torch.eye).
EBB_API Variable eye(std::int64_t n, const TensorOptions& options = {});
EBB_API Variable eye(std::int64_t n, std::int64_t m, const TensorOptions& options = {});
/// Returns the row and column indices, [2, k], of the lower (upper) triangle of a matrix with `rows` rows and
/// `columns` columns. `offset` shifts the diagonal (torch.tril_indices, torch.triu_indices).
EBB_API Variable tril_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset = 0,
                              const TensorOptions& options = kLong);
EBB_API Variable triu_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset = 0,
                              const TensorOptions& options = kLong);

/// Wraps memory that the caller keeps alive. Strides, and the offset of the first element from `data`, are in
/// elements. The memory is on `target_device` if given, and otherwise on the device of the options
/// (torch::from_blob).
EBB_API Variable from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {},
                           optional<Device> target_device = nullopt);
EBB_API Variable from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                           const TensorOptions& options = {}, optional<Device> target_device = nullopt);
EBB_API Variable from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, std::int64_t storage_offset,
                           const TensorOptions& options = {}, optional<Device> target_device = nullopt);

namespace detail {
/// The owner of the memory of a from_blob. `free` releases the memory; it may be null.
struct BlobOwner {
  void (*free)(void* context, void* data) = nullptr;
  void* context = nullptr;
};
EBB_API Variable from_blob(void* data, IntArrayRef sizes, optional<IntArrayRef> strides,
                           std::int64_t storage_offset, const TensorOptions& options,
                           optional<Device> target_device, BlobOwner owner);

template <class D>
BlobOwner blob_owner(const D& deleter) {
  return {[](void* context, void* blob) {
            D* owned = static_cast<D*>(context);
            (*owned)(blob);
            delete owned;
          },
          new D(deleter)};
}
}  // namespace detail

/// Returns a tensor on the memory at `data`. `deleter(data)` runs when no tensor uses the memory any more.
template <class D>
  requires std::invocable<D&, void*>
Variable from_blob(void* data, IntArrayRef sizes, const D& deleter, const TensorOptions& options = {},
                   optional<Device> target_device = nullopt) {
  return detail::from_blob(data, sizes, nullopt, 0, options, target_device, detail::blob_owner(deleter));
}
template <class D>
  requires std::invocable<D&, void*>
Variable from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const D& deleter,
                   const TensorOptions& options = {}, optional<Device> target_device = nullopt) {
  return detail::from_blob(data, sizes, strides, 0, options, target_device, detail::blob_owner(deleter));
}
template <class D>
  requires std::invocable<D&, void*>
Variable from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, std::int64_t storage_offset,
                   const D& deleter, const TensorOptions& options = {},
                   optional<Device> target_device = nullopt) {
  return detail::from_blob(data, sizes, strides, storage_offset, options, target_device,
                           detail::blob_owner(deleter));
}

}  // namespace ebb

// Variable: the tensor that remembers how it was made.
#pragma once

#include <ebb/autograd/accessor.h>
#include <ebb/autograd/variable_impl.h>
#include <ebb/core/array_ref.h>
#include <ebb/core/call_site.h>
#include <ebb/core/dtype.h>
#include <ebb/core/options.h>
#include <ebb/core/scalar.h>
#include <ebb/methods/elementwise.h>
#include <ebb/methods/index.h>
#include <ebb/methods/reduce.h>
#include <ebb/methods/shape.h>

#include <iosfwd>
#include <string>
#include <utility>

namespace ebb {

class DeprecatedTypeProperties;

/// A multi-dimensional array that records, as ops run on it, how to compute derivatives. A handle one pointer
/// wide: copies refer to the same tensor. The methods that are ops are declared in ebb/methods/ and
/// documented with the functions of the same names in ebb/ops/.
class EBB_API Variable : public ops::ElementwiseMethods,
                         public ops::IndexMethods,
                         public ops::ReduceMethods,
                         public ops::ShapeMethods {
 public:
  using Relocatable = Variable;  // see SmallVector

  /// Undefined: refers to no tensor.
  Variable() = default;
  Variable(const Variable&) = default;
  Variable(Variable&&) noexcept = default;
  /// Wraps an array as a leaf.
  explicit Variable(NdArray data, bool requires_grad = false);
  explicit Variable(Ref<VariableImpl> impl) : impl_(std::move(impl)) {}

  Variable& operator=(const Variable& other) & {
    impl_ = other.impl_;
    return *this;
  }
  Variable& operator=(Variable&& other) & noexcept {
    impl_ = std::move(other.impl_);
    return *this;
  }
  /// Assigning to a temporary writes into the tensor it views: `x[0] = y`, `x.index({Slice(1)}) = 3`.
  Variable& operator=(const Variable& other) &&;
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): writing elements may throw
  Variable& operator=(Variable&& other) &&;
  Variable& operator=(const Scalar& value) &&;

  // Shape and storage.
  bool defined() const { return static_cast<bool>(impl_); }
  std::int64_t dim() const { return checked().data.dim(); }
  std::int64_t ndimension() const { return dim(); }
  IntArrayRef sizes() const { return checked().data.sizes(); }
  IntArrayRef strides() const { return checked().data.strides(); }
  std::int64_t size(std::int64_t dim) const;
  std::int64_t stride(std::int64_t dim) const;
  /// The number of elements; 0 for an undefined tensor.
  std::int64_t numel() const { return impl_ ? impl_->data.numel() : 0; }
  std::size_t nbytes() const { return static_cast<std::size_t>(numel() * element_size()); }
  std::int64_t element_size() const { return ebb::element_size(scalar_type()); }
  std::size_t itemsize() const { return static_cast<std::size_t>(element_size()); }
  std::int64_t storage_offset() const { return checked().data.offset(); }
  TypeMeta dtype() const { return TypeMeta(scalar_type()); }
  DType scalar_type() const { return checked().data.dtype(); }
  /// The dtype and the device, as older programs for libtorch ask for them; ebb::torch completes the type.
  DeprecatedTypeProperties type() const;
  Device device() const { return checked().data.device(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_cpu() const { return device().is_cpu(); }
  std::int64_t get_device() const { return device().index(); }
  Layout layout() const { return Layout::Strided; }
  /// dtype and device, for making tensors of the same kind.
  TensorOptions options() const { return TensorOptions(scalar_type()).device(device()); }
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
  bool is_non_overlapping_and_dense() const { return checked().data.is_dense(); }
  bool is_floating_point() const { return is_floating(scalar_type()); }
  bool is_complex() const { return false; }
  bool is_signed() const { return dtype() != kByte && dtype() != kBool; }
  /// The address of the first element; T must be the element type.
  template <class T>
  T* data_ptr() const {
    check_element_type(dtype_of<T>(), "data_ptr");
    return checked().data.data_as<T>();
  }
  void* data_ptr() const { return checked().data.data(); }
  template <class T>
  const T* const_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  /// N-dimensional indexing without checks: `auto a = x.accessor<float, 2>(); a[i][j]`. The tensor must be on
  /// the CPU.
  template <class T, std::size_t N>
  TensorAccessor<T, N> accessor() const& {
    check_element_type(dtype_of<T>(), "accessor");
    check_accessor_dims(static_cast<std::int64_t>(N));
    return TensorAccessor<T, N>(checked().data.data_as<T>(), sizes().data(), strides().data());
  }
  template <class T, std::size_t N>
  TensorAccessor<T, N> accessor() && = delete;
  /// The same to pass to a kernel by value, for tensors of any device. With Index = std::int32_t the sizes
  /// and strides are of 32 bits, which is an error for tensors beyond 2^31 - 1 elements.
  template <class T, std::size_t N, template <class> class PtrTraits = DefaultPtrTraits,
            class Index = std::int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, Index> generic_packed_accessor() const& {
    check_element_type(dtype_of<T>(), "packed_accessor");
    check_packed(static_cast<std::int64_t>(N), sizeof(Index) == 4);
    return GenericPackedTensorAccessor<T, N, PtrTraits, Index>(checked().data.data_as<T>(), sizes().data(),
                                                               strides().data());
  }
  template <class T, std::size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, PtrTraits> packed_accessor32() const& {
    return generic_packed_accessor<T, N, PtrTraits, std::int32_t>();
  }
  template <class T, std::size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, PtrTraits> packed_accessor64() const& {
    return generic_packed_accessor<T, N, PtrTraits, std::int64_t>();
  }
  template <class T, std::size_t N, template <class> class PtrTraits = DefaultPtrTraits,
            class Index = std::int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, Index> packed_accessor() const& {
    return generic_packed_accessor<T, N, PtrTraits, Index>();
  }
  /// The value of a tensor of one element.
  Scalar item() const;
  template <class T>
  T item() const {
    return item().to<T>();
  }
  /// Whether the one element is not zero; an error unless there is exactly one.
  bool is_nonzero() const;
  bool is_same(const Variable& other) const { return impl_ == other.impl_; }
  bool is_alias_of(const Variable& other) const {
    return array().storage()->is_alias_of(*other.array().storage());
  }
  std::size_t use_count() const { return impl_ ? impl_->use_count() : 0; }
  void reset() { impl_.reset(); }
  std::string toString() const;

  // Autograd.
  bool requires_grad() const;
  /// Makes a leaf record (floating dtypes only); an error for a tensor computed by a recorded op.
  const Variable& set_requires_grad(bool requires_grad) const;
  Variable& requires_grad_(bool requires_grad = true) const;
  bool is_leaf() const { return !grad_fn(); }
  /// The node that computed this tensor; null for leaves.
  const Ref<autograd::Node>& grad_fn() const;
  std::uint32_t output_nr() const { return grad_fn(), impl_->output_nr; }
  /// d(root)/d(this) as accumulated by backward(); undefined before the first.
  const Variable& grad() const;
  Variable& mutable_grad() const;
  /// Walks the graph in reverse from this tensor and adds gradients to the leaves. `gradient` (the seed) may
  /// be left out for tensors of one element. See ebb::autograd::backward. Errors name the call's line.
  void backward(const Variable& gradient = {}, optional<bool> retain_graph = nullopt,
                bool create_graph = false, optional<ArrayRef<Variable>> inputs = nullopt,
                CallSite called = CallSite::current()) const;
  /// Keeps .grad() of a non-leaf tensor too.
  void retain_grad() const;
  bool retains_grad() const;
  /// Calls `hook(grad)` whenever the gradient with respect to this tensor is computed. A hook returning a
  /// Variable replaces the gradient (unless undefined); one returning void only looks. Returns a handle for
  /// remove_hook.
  template <class Hook>
  unsigned register_hook(Hook&& hook) const;
  void remove_hook(unsigned handle) const;
  /// The same data cut off from the graph; shares storage and version counter.
  Variable detach() const;
  Variable& detach_() const;
  /// The same data cut off from the graph, with a version counter of its own history: writes go unnoticed by
  /// backward.
  Variable data() const;
  /// The older name of data_ptr<T>().
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  Variable variable_data() const { return data(); }
  Variable tensor_data() const { return data(); }
  /// Replaces the data of this tensor by that of another, keeping its place in the graph. Writes to the other
  /// go unnoticed by backward.
  void set_data(const Variable& data) const;
  void set_data(Variable&& data) const;
  /// Counts the in-place writes to the storage.
  std::int64_t _version() const { return checked().version(); }
  std::int64_t version() const { return _version(); }
  bool is_view() const;
  /// The tensor this one is a view of.
  const Variable& _base() const;
  bool is_inference() const { return checked().inference; }

  // For ops.
  const NdArray& array() const { return checked().data; }
  VariableImpl* impl() const { return impl_.get(); }
  /// What identifies the tensor, in optimizers' states for one.
  VariableImpl* unsafeGetTensorImpl() const { return impl_.get(); }
  /// Gives the handle's reference up; the handle becomes undefined.
  Ref<VariableImpl> release_impl() && { return std::move(impl_); }

 private:
  VariableImpl& checked() const {
    if (!impl_) [[unlikely]]
      undefined_error();
    return *impl_;
  }
  [[noreturn]] static void undefined_error();
  void check_element_type(DType dtype, const char* method) const;
  void check_accessor_dims(std::int64_t dims) const;
  void check_packed(std::int64_t dims, bool narrow) const;

  Ref<VariableImpl> impl_;
};

using TensorList = ArrayRef<Variable>;
using variable_list = std::vector<Variable>;

/// Prints as PyTorch does: `tensor([1., 2., 3.], requires_grad=True)`.
EBB_API std::ostream& operator<<(std::ostream& out, const Variable& x);
EBB_API std::string to_string(const Variable& x);
/// Names dtype, device and shape, for error messages: "Float[2, 3] on cpu".
EBB_API void append_text(std::string& out, const Variable& x);

namespace autograd {
// libtorch's names for them in this namespace.
using ebb::Variable;
using ebb::variable_list;
using tensor_list = variable_list;
}  // namespace autograd

inline std::int64_t numel(const Variable& x) { return x.numel(); }
inline std::int64_t size(const Variable& x, std::int64_t dim) { return x.size(dim); }
inline std::int64_t stride(const Variable& x, std::int64_t dim) { return x.stride(dim); }
inline bool is_nonzero(const Variable& x) { return x.is_nonzero(); }
inline bool is_floating_point(const Variable& x) { return x.is_floating_point(); }
inline bool is_signed(const Variable& x) { return x.is_signed(); }

}  // namespace ebb

#include <ebb/autograd/hooks.h>

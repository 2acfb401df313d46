// Variable: a tensor that records the ops that compute it.
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

/// A multi-dimensional array that records the ops on it, so that derivatives can be computed. It is a handle
/// of one pointer: copies refer to the same tensor. The op methods are declared in ebb/methods/ and
/// documented with the functions of the same names in ebb/ops/.
class EBB_API Variable : public ops::ElementwiseMethods,
                         public ops::IndexMethods,
                         public ops::ReduceMethods,
                         public ops::ShapeMethods {
 public:
  using Relocatable = Variable;  // see SmallVector

  /// Creates an undefined handle, which refers to no tensor.
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
  /// An assignment to a temporary view writes into the viewed tensor: `x[0] = y`, `x.index({Slice(1)}) = 3`.
  Variable& operator=(const Variable& other) &&;
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): writing elements may throw
  Variable& operator=(Variable&& other) &&;
  Variable& operator=(const Scalar& value) &&;

  // Shape and storage. The short queries are always inlined, because ops call them often.
  bool defined() const { return static_cast<bool>(impl_); }
  [[gnu::always_inline]] std::int64_t dim() const { return queried().dim(); }
  std::int64_t ndimension() const { return dim(); }
  [[gnu::always_inline]] IntArrayRef sizes() const { return queried().sizes(); }
  [[gnu::always_inline]] IntArrayRef strides() const { return queried().strides(); }
  std::int64_t size(std::int64_t dim) const;
  std::int64_t stride(std::int64_t dim) const;
  /// The number of elements; 0 for an undefined tensor.
  [[gnu::always_inline]] std::int64_t numel() const { return impl_ ? queried().numel() : 0; }
  std::size_t nbytes() const { return static_cast<std::size_t>(numel() * element_size()); }
  std::int64_t element_size() const { return ebb::element_size(scalar_type()); }
  std::size_t itemsize() const { return static_cast<std::size_t>(element_size()); }
  std::int64_t storage_offset() const;
  TypeMeta dtype() const { return TypeMeta(scalar_type()); }
  [[gnu::always_inline]] DType scalar_type() const { return queried().dtype(); }
  /// The dtype and the device in one object, for older libtorch programs. ebb::torch defines the class.
  DeprecatedTypeProperties type() const;
  [[gnu::always_inline]] Device device() const { return queried().device(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_cpu() const { return device().is_cpu(); }
  std::int64_t get_device() const { return device().index(); }
  Layout layout() const { return Layout::Strided; }
  /// Returns the dtype and device, with which a tensor of the same kind can be created.
  TensorOptions options() const { return TensorOptions(scalar_type()).device(device()); }
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
  bool is_non_overlapping_and_dense() const { return queried().is_dense(); }
  bool is_floating_point() const { return is_floating(scalar_type()); }
  bool is_complex() const { return false; }
  bool is_signed() const { return dtype() != kByte && dtype() != kBool; }
  /// Returns the address of the first element. T must be the element type.
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
  /// Returns an accessor for N-dimensional indexing without checks: `auto a = x.accessor<float, 2>();
  /// a[i][j]`. The tensor must be on the CPU.
  template <class T, std::size_t N>
  TensorAccessor<T, N> accessor() const& {
    check_element_type(dtype_of<T>(), "accessor");
    check_accessor_dims(static_cast<std::int64_t>(N));
    return TensorAccessor<T, N>(checked().data.data_as<T>(), sizes().data(), strides().data());
  }
  template <class T, std::size_t N>
  TensorAccessor<T, N> accessor() && = delete;
  /// Returns an accessor that kernels take by value, for a tensor on any device. With Index = std::int32_t
  /// sizes and strides have 32 bits; a tensor with more than 2^31 - 1 elements is then an error.
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
  /// Returns the value of a tensor with one element.
  Scalar item() const;
  template <class T>
  T item() const {
    return item().to<T>();
  }
  /// Returns whether the single element is not zero. Throws unless there is exactly one element.
  bool is_nonzero() const;
  bool is_same(const Variable& other) const {
    report_comparison(other);
    return impl_ == other.impl_;
  }
  bool is_alias_of(const Variable& other) const {
    report_comparison(other);
    return array().storage()->is_alias_of(*other.array().storage());
  }
  std::size_t use_count() const { return impl_ ? impl_->use_count() : 0; }
  void reset() { impl_.reset(); }
  std::string toString() const;

  // Autograd.
  bool requires_grad() const;
  /// Sets whether ops on this leaf are recorded (floating dtypes only). Throws for a tensor computed by a
  /// recorded op.
  const Variable& set_requires_grad(bool requires_grad) const;
  Variable& requires_grad_(bool requires_grad = true) const;
  bool is_leaf() const { return !grad_fn(); }
  /// Returns the node that computed this tensor; null for a leaf.
  const Ref<autograd::Node>& grad_fn() const;
  std::uint32_t output_nr() const { return grad_fn(), impl_->output_nr; }
  /// Returns d(root)/d(this), accumulated by backward(); undefined before the first backward().
  const Variable& grad() const;
  Variable& mutable_grad() const;
  /// Computes gradients through the graph, backwards from this tensor, and adds them to the leaves.
  /// `gradient` (the seed) is optional for a tensor of one element. See ebb::autograd::backward. Errors
  /// contain the file and line of the call.
  void backward(const Variable& gradient = {}, optional<bool> retain_graph = nullopt,
                bool create_graph = false, optional<ArrayRef<Variable>> inputs = nullopt,
                CallSite called = CallSite::current()) const;
  /// Makes backward() store .grad() for this tensor even if it is not a leaf.
  void retain_grad() const;
  bool retains_grad() const;
  /// Registers `hook(grad)`, which runs each time the gradient of this tensor is computed. If the hook
  /// returns a defined Variable, that Variable replaces the gradient; a hook that returns void only reads the
  /// gradient. Returns a handle for remove_hook.
  template <class Hook>
  unsigned register_hook(Hook&& hook) const;
  void remove_hook(unsigned handle) const;
  /// Returns a tensor on the same storage without graph history. Both share the version counter.
  Variable detach() const;
  Variable& detach_() const;
  /// Returns a tensor on the same bytes without graph history and with a new version counter. Backward does
  /// not detect writes through the returned tensor.
  Variable data() const;
  /// The older name of data_ptr<T>().
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  Variable variable_data() const { return data(); }
  Variable tensor_data() const { return data(); }
  /// Replaces the data of this tensor with the data of the argument and keeps its position in the graph.
  /// Backward does not detect later writes to the argument. A node that saved this tensor as an input uses
  /// the new data of a leaf, and throws if they have another dtype, device or shape, or if the tensor is no
  /// leaf. A node that saved it as an output uses the old data, and a node that saved its own result, too,
  /// uses that result.
  void set_data(const Variable& data) const;
  void set_data(Variable&& data) const;
  /// Returns the number of in-place writes to the storage.
  std::int64_t _version() const;
  std::int64_t version() const { return _version(); }
  bool is_view() const;
  /// Returns the tensor that this one is a view of.
  const Variable& _base() const;
  bool is_inference() const { return queried(), checked().inference; }

  // Access to the parts of a tensor, for ops.
  const NdArray& array() const { return checked().data; }
  VariableImpl* impl() const { return impl_.get(); }
  /// Returns a pointer that identifies the tensor, for example as a key of optimizer state.
  VariableImpl* unsafeGetTensorImpl() const { return impl_.get(); }
  /// Moves the reference out of the handle, which becomes undefined.
  Ref<VariableImpl> release_impl() && { return std::move(impl_); }

 private:
  VariableImpl& checked() const {
    if (!impl_) [[unlikely]]
      undefined_error();
    return *impl_;
  }
  /// Returns the array. Reports a query of the tensor's properties, on which a tape depends, to the recorder.
  [[gnu::always_inline]] const NdArray& queried() const {
    if (detail::recordings.load(std::memory_order_relaxed) != 0) [[unlikely]]
      note_query();
    return checked().data;
  }
  void report_comparison(const Variable& other) const {
    if (detail::recordings.load(std::memory_order_relaxed) != 0) [[unlikely]]
      note_comparison(other);
  }
  void note_comparison(const Variable& other) const;
  void note_query() const;
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
/// Appends dtype, shape and device, for error messages: "Float[2, 3] on cpu".
EBB_API void append_text(std::string& out, const Variable& x);

namespace autograd {
// libtorch has these names in this namespace too.
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

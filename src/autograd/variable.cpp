// Variable: identity, history, data and conversions to C++ values.
#include <ebb/autograd/backward.h>
#include <ebb/autograd/variable.h>
#include <ebb/core/allocator.h>
#include <ebb/core/warning.h>

#include "autograd/meta.h"
#include "autograd/tensor_state.h"
#include "autograd/thread_state.h"
#include "core/backend.h"
#include "core/recorder.h"

#include <cstring>

namespace ebb {

using namespace autograd;

VariableImpl::~VariableImpl() {
  if (detail::may_be_read(born) && data.defined()) [[unlikely]]
    detail::tensor_gone({this, born}, *data.storage());
  drop_retained_grad(*this);
  delete meta;
}

void* VariableImpl::operator new(std::size_t bytes) {
  void* const block = detail::pool_allocate(bytes);
  if (detail::recorder()) [[unlikely]] {
    try {
      detail::tensor_created(block);
    } catch (...) {
      detail::pool_free(block, bytes);
      throw;
    }
  }
  return block;
}
void VariableImpl::operator delete(void* block, std::size_t bytes) noexcept {
  if (detail::recordings.load(std::memory_order_relaxed) != 0) [[unlikely]]
    detail::tensor_destroyed(block);
  detail::pool_free(block, bytes);
}

Variable::Variable(NdArray data, bool requires_grad)
    : impl_(VariableImpl::of([&]() -> NdArray { return std::move(data); })) {
  if (requires_grad) set_requires_grad(true);
}

Variable& Variable::operator=(const Variable& other) && {
  copy_(other);
  return *this;
}
// NOLINTNEXTLINE(performance-noexcept-move-constructor): writing elements may throw
Variable& Variable::operator=(Variable&& other) && {
  copy_(other);
  return *this;
}
Variable& Variable::operator=(const Scalar& value) && {
  fill_(value);
  return *this;
}

void Variable::undefined_error() {
  detail::fail("the tensor is undefined: it was default-constructed, moved from, or is an absent gradient. ",
               "Assign it before use, or test it with defined().");
}

namespace {
std::size_t existing_dim(const char* op, std::int64_t d, std::int64_t dims) {
  EBB_CHECK_INDEX(dims > 0, op, ": dimension ", d, " was requested, but the tensor has no dimensions.");
  return static_cast<std::size_t>(wrap_dim(op, d, dims));
}
}  // namespace

std::int64_t Variable::size(std::int64_t d) const { return sizes()[existing_dim("size", d, dim())]; }
std::int64_t Variable::stride(std::int64_t d) const { return strides()[existing_dim("stride", d, dim())]; }

bool Variable::is_contiguous(MemoryFormat format) const {
  const NdArray& a = queried();
  if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) return a.is_contiguous();
  const std::int64_t wanted_dims = format == MemoryFormat::ChannelsLast ? 4 : 5;
  if (a.dim() != wanted_dims) return false;
  const DimVector wanted = channels_last_strides(a.sizes());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (a.sizes()[i] != 1 && a.strides()[i] != wanted[i]) return false;
  return true;
}

void Variable::check_element_type(DType wanted, const char* method) const {
  EBB_CHECK(wanted == dtype(), method, ": expected scalar type ", wanted, " but found ", dtype(),
            ". Request the tensor's own type, or convert it with .to(dtype).");
  detail::host_access(array());
}

void Variable::check_accessor_dims(std::int64_t dims) const {
  EBB_CHECK(dims == dim(), "accessor: expected ", dim(), " dims for a tensor of shape ", sizes(), ", got ",
            dims, ".");
  EBB_CHECK(device().is_cpu(), "accessor: the tensor is on ", device(),
            "; move it with .to(Device::CPU) first.");
}

void Variable::check_packed(std::int64_t dims, bool narrow) const {
  EBB_CHECK(dims == dim(), "packed_accessor: expected ", dim(), " dims for a tensor of shape ", sizes(),
            ", got ", dims, ".");
  EBB_CHECK(!narrow || numel() <= INT32_MAX, "packed_accessor32: a tensor of shape ", sizes(),
            " has more elements than 32-bit indices can address. Use packed_accessor64.");
}

bool Variable::is_nonzero() const {
  EBB_CHECK(numel() == 1, "Boolean value of a Tensor with ", numel(),
            " values is ambiguous; use any() or all().");
  return !item().equal(0);
}

Scalar Variable::item() const {
  EBB_CHECK(numel() == 1, "item: a Tensor with ", numel(), " elements cannot be converted to Scalar; shape ",
            sizes(), ". Index one element first.");
  detail::host_access(array());
  alignas(8) char bytes[8] = {};
  const auto size = static_cast<std::size_t>(element_size());
  if (device().is_cpu())
    std::memcpy(bytes, data_ptr(), size);
  else
    detail::backend(device().type()).copy(bytes, Device::CPU, data_ptr(), device(), size, true);
  const auto read = [&]<class T>(T value) {
    std::memcpy(&value, bytes, sizeof(T));
    return Scalar(value);
  };
  switch (scalar_type()) {
    case kByte:
      return read(std::uint8_t{});
    case kChar:
      return read(std::int8_t{});
    case kShort:
      return read(std::int16_t{});
    case kInt:
      return read(std::int32_t{});
    case kLong:
      return read(std::int64_t{});
    case kHalf:
      return read(Half{});
    case kBFloat16:
      return read(BFloat16{});
    case kFloat:
      return read(float{});
    case kBool:
      return Scalar(bytes[0] != 0);
    default:
      return read(double{});
  }
}

void Variable::note_query() const {
  if (detail::Recorder* const recorder = impl_ ? detail::current_recorder() : nullptr)
    recorder->queries(*this);
}

bool autograd::requires_grad_of(const Variable& x) {
  const VariableImpl& impl = *x.impl();
  if (impl.requires_grad || impl.grad_fn) return true;
  // A view shares its base's data. It therefore requires grad if its base does, even if the view was created
  // without recording.
  return impl.meta && impl.meta->base.defined() && requires_grad_of(impl.meta->base);
}

bool Variable::requires_grad() const {
  queried();
  return requires_grad_of(*this);
}

const Variable& Variable::set_requires_grad(bool value) const {
  VariableImpl& impl = checked();
  EBB_CHECK(!value || is_floating(dtype()),
            "only Tensors of floating point dtype can require gradients, got ", dtype(),
            ". Convert with .to(kFloat) first.");
  EBB_CHECK(!value || !impl.inference || InferenceMode::is_enabled(),
            "Setting requires_grad=True on an inference tensor outside InferenceMode is not allowed; clone() "
            "it first.");
  queried();
  const Ref<Node>& node = current_grad_fn(*this);
  EBB_CHECK(value || !node,
            "you can only change requires_grad flags of leaf variables. To use a computed tensor in a "
            "subgraph that ",
            "needs no gradient, take x.detach().");
  if (!node && impl.requires_grad != value) {
    const StateChange change(*this);
    impl.requires_grad = value;
  }
  return *this;
}

Variable& Variable::requires_grad_(bool value) const {
  return const_cast<Variable&>(set_requires_grad(value));
}

const Ref<Node>& Variable::grad_fn() const {
  queried();
  return current_grad_fn(*this);
}

const Variable& Variable::grad() const {
  static const Variable none;
  const VariableImpl& impl = checked();
  if (detail::Recorder* const recorder = detail::recorder()) [[unlikely]]
    recorder->uses_gradient(*this, false);
  if (impl.grad_fn && !(impl.meta && (impl.meta->retains_grad || impl.meta->grad.defined())))
    warn(
        "grad(): the tensor is not a leaf, and backward() leaves its gradient undefined. Call retain_grad() "
        "on the tensor before backward(), or read the gradient of the leaf from which it was computed.");
  return impl.meta ? impl.meta->grad : none;
}

Variable& Variable::mutable_grad() const {
  checked();
  if (detail::Recorder* const recorder = detail::recorder()) [[unlikely]]
    recorder->uses_gradient(*this, true);
  return meta_of(*this).grad;
}

void Variable::backward(const Variable& gradient, optional<bool> retain_graph, bool create_graph,
                        optional<ArrayRef<Variable>> inputs, CallSite called) const {
  checked();
  EBB_CHECK(!inputs || !inputs->empty(),
            "backward: 'inputs' argument cannot be empty; omit it to compute the gradients of all leaves.");
  autograd::backward({*this}, gradient.defined() ? variable_list{gradient} : variable_list{}, retain_graph,
                     create_graph, inputs ? inputs->vec() : variable_list{}, called);
}

Variable Variable::detach() const {
  // The result shares this tensor's storage and version counter, so that writes to it are counted as writes
  // to this tensor.
  Variable out(queried());
  out.impl_->inference = impl_->inference;
  return out;
}

Variable& Variable::detach_() const {
  VariableImpl& impl = checked();
  note_query();  // a replay must notice if a later call would throw
  EBB_CHECK(
      !is_tracked_view(*this),
      "detach_: cannot detach views in place, as the base would keep the history. Use detach() instead.");
  const StateChange change(*this);
  impl.grad_fn.reset();
  impl.output_nr = 0;
  impl.requires_grad = false;
  return const_cast<Variable&>(*this);
}

namespace {

NdArray on_storage(Ref<Storage> storage, const NdArray& a) {
  return NdArray(std::move(storage), DimVector(a.sizes()), DimVector(a.strides()), a.offset(), a.dtype());
}

NdArray with_own_versions(const NdArray& a, std::uint32_t version) {
  return on_storage(Storage::alias(a.storage(), version), a);
}

}  // namespace

Variable Variable::data() const {
  Variable out(with_own_versions(queried(), 0));
  out.impl_->inference = impl_->inference;
  return out;
}

void Variable::set_data(const Variable& data) const { set_data(Variable(data)); }

void Variable::set_data(Variable&& data) const {
  VariableImpl& impl = checked();
  EBB_CHECK(data.defined(), "set_data: the new data is undefined.");
  EBB_CHECK(!requires_grad() || is_floating(data.dtype()),
            "set_data: a tensor that requires grad needs a floating dtype, got ", data.dtype(), ".");
  detail::not_replayed("set_data() gives a tensor other memory");
  // The version counter continues, so that a node that saved the tensor finds the version that it expects. On
  // the same bytes, the tensor also keeps its storage, because views and detach() share the counter. A view
  // that returns to the bytes of its base shares the counter of the base again. If other tensors use the new
  // memory, they keep their own counter.
  NdArray array = std::move(data).release_impl()->data;
  if (const Ref<Storage>& storage = impl.data.storage(); array.storage() != storage) {
    if (array.storage()->has_same_owner(*storage))
      array = on_storage(storage, array);
    else if (const Ref<Storage>& base = is_tracked_view(*this) ? impl.meta->base.array().storage() : storage;
             array.storage()->has_same_owner(*base))
      array = on_storage(base, array);
    else if (array.storage()->use_count() > 1)
      array = with_own_versions(array, impl.version());
    else
      array.storage()->set_version(impl.version());
  }
  replace_array(*this, std::move(array), is_leaf() ? Saved::follows : Saved::lost);
}

std::int64_t Variable::_version() const {
  detail::not_replayed("the host reads the version counter of a tensor");
  return checked().version();
}

std::int64_t Variable::storage_offset() const {
  const NdArray& x = checked().data;
  if (detail::Recorder* const recorder = detail::recorder()) [[unlikely]] {
    recorder->queries(*this);
    recorder->reaches(x, 0, false);  // replays then require an argument to begin at this offset
  }
  return x.offset();
}

void Variable::note_comparison(const Variable& other) const {
  if (detail::Recorder* const recorder = impl_ && other.impl_ ? detail::current_recorder() : nullptr)
    recorder->compares(*this, other);
}

bool Variable::is_view() const {
  queried();
  return is_tracked_view(*this);
}

const Variable& Variable::_base() const {
  EBB_CHECK(is_view(), "_base: the tensor is not a view; test it with is_view().");
  detail::not_replayed("the host reads the base of a view");
  return impl_->meta->base;
}

}  // namespace ebb

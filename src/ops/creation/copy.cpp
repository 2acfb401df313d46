// clone, contiguous, to, copy_, pin_memory and record_stream.
#include <ebb/autograd/record.h>
#include <ebb/cuda/stream.h>
#include <ebb/ops/creation.h>

#include "ops/common/arrays.h"
#include "ops/common/layout.h"
#include "ops/common/record.h"

namespace ebb {
namespace {

using autograd::GradList;

struct CloneBackward : autograd::Node {
  std::string name() const override { return "CloneBackward0"; }
  GradList apply(GradList&& grads) override { return {std::move(grads[0])}; }
};

struct ToCopyBackward : autograd::Node {
  DType dtype = DType::Undefined;
  Device device;
  std::string name() const override { return "ToCopyBackward0"; }
  GradList apply(GradList&& grads) override { return {to(grads[0], device, dtype)}; }
};

// As in torch, the name has no number at its end. In torch only the names of generated nodes have one.
struct CopyBackwards : autograd::Node {
  DType dtype = DType::Undefined;
  Device device;
  std::string name() const override { return "CopyBackwards"; }
  GradList apply(GradList&& grads) override {
    GradList out(2);
    if (needs(0)) out[0] = zeros_like(grads[0]);
    if (needs(1)) out[1] = to(grads[0], device, dtype);
    return out;
  }
};

Variable to_copy(const Variable& x, Device device, DType dtype, bool non_blocking,
                 optional<MemoryFormat> format) {
  EBB_CHECK(dtype != DType::Undefined, "to: undefined dtype; name one, as in x.to(kFloat32).");
  // A copy to the CPU is only non-blocking if the destination is in pinned memory.
  const bool pinned = non_blocking && device.is_cpu() && x.is_cuda();
  NdArray data =
      pinned ? NdArray::empty_strided(x.sizes(), ops::strides_like(x.array(), format), dtype, device, true)
             : ops::empty_array_like(x.array(), dtype, device, format);
  ops::copy_array(data, x.array(), non_blocking);
  Variable out(std::move(data));
  if (is_floating(dtype))
    if (const auto node = ops::record_results<ToCopyBackward>({&out}, x)) {
      node->dtype = x.dtype();
      node->device = x.device();
    }
  return out;
}

Variable convert(const Variable& x, Device device, DType dtype, bool non_blocking, bool copy,
                 optional<MemoryFormat> format) {
  device = device == x.device() ? device : ops::resolve_device(device);
  if (!copy && dtype == x.dtype() && device == x.device() &&
      ops::has_format(x.array(), format.value_or(MemoryFormat::Preserve)))
    return x;
  return to_copy(x, device, dtype, non_blocking, format);
}

// The bytes of a tensor as an interval [begin, end).
struct Span {
  const char* begin;
  const char* end;
  explicit Span(const NdArray& x) : begin(x.address_as<const char>()) {
    std::int64_t last = 0;
    for (std::size_t d = 0; d < x.sizes().size(); ++d) last += (x.sizes()[d] - 1) * x.strides()[d];
    end = begin + (last + 1) * element_size(x.dtype());
  }
  bool overlaps(const Span& other) const { return begin < other.end && other.begin < end; }
};

// Returns whether both arrays have the same elements at the same addresses.
bool same_memory(const NdArray& a, const NdArray& b) {
  if (a.address() != b.address() || a.dtype() != b.dtype()) return false;
  for (std::size_t d = 0; d < a.sizes().size(); ++d)
    if (a.sizes()[d] != 1 && a.strides()[d] != b.strides()[d]) return false;
  return true;
}

// Copies src's elements to self's memory. Throws if self and src are dense and overlap. If they overlap and
// one of them is not dense (for example, interleaved views of one storage), all elements of src are read
// before any element of self is written.
void write(const Variable& self, const NdArray& src, bool non_blocking) {
  NdArray out = self.array();
  if (out.numel() == 0 || same_memory(out, src)) return;
  if (out.storage()->is_alias_of(*src.storage()) && Span(out).overlaps(Span(src))) {
    EBB_CHECK(!out.is_dense() || !src.is_dense(), "copy_: source and destination overlap in memory (shapes ",
              src.sizes(), " and ", out.sizes(), "). Copy from src.clone() instead.");
    NdArray apart = NdArray::empty(src.sizes(), src.dtype(), src.device());
    ops::copy_array(apart, src);
    return ops::copy_array(out, apart);
  }
  ops::copy_array(out, src, non_blocking);
}

}  // namespace

Variable clone(const Variable& x, optional<MemoryFormat> memory_format) {
  NdArray data = ops::empty_array_like(x.array(), x.dtype(), x.device(), memory_format);
  ops::copy_array(data, x.array());
  Variable out(std::move(data));
  ops::record_results<CloneBackward>({&out}, x);
  return out;
}

Variable contiguous(const Variable& x, MemoryFormat memory_format) {
  EBB_CHECK(memory_format != MemoryFormat::Preserve,
            "contiguous: MemoryFormat::Preserve names no order. Use MemoryFormat::Contiguous or a "
            "channels-last format.");
  if (ops::has_format(x.array(), memory_format)) return x;
  return clone(x, memory_format);
}

Variable to(const Variable& x, const TensorOptions& options, bool non_blocking, bool copy,
            optional<MemoryFormat> memory_format) {
  EBB_CHECK(!options.requires_grad(),
            "to: the options set requires_grad, which is not supported. Call requires_grad_() on the result "
            "instead.");
  EBB_CHECK(!memory_format || !options.has_memory_format(),
            "to: the memory format is given twice, in the options and as an argument. Give it once.");
  return convert(x, options.device_or(x.device()), options.dtype_or(x.dtype()), non_blocking, copy,
                 memory_format ? memory_format : options.memory_format_opt());
}
Variable to(const Variable& x, DType dtype, bool non_blocking, bool copy,
            optional<MemoryFormat> memory_format) {
  return convert(x, x.device(), dtype, non_blocking, copy, memory_format);
}
Variable to(const Variable& x, Device device, DType dtype, bool non_blocking, bool copy,
            optional<MemoryFormat> memory_format) {
  return convert(x, device, dtype, non_blocking, copy, memory_format);
}
Variable to(const Variable& x, const Variable& other, bool non_blocking, bool copy,
            optional<MemoryFormat> memory_format) {
  return convert(x, other.device(), other.dtype(), non_blocking, copy, memory_format);
}

bool ops::ShapeMethods::is_pinned() const { return ops::self(this).array().storage()->is_pinned(); }

Variable ops::ShapeMethods::pin_memory() const {
  const auto& self = ops::self(this);
  if (is_pinned()) return self;
  EBB_CHECK(self.is_cpu(), "pin_memory: only CPU tensors can be pinned, but this one is on ", self.device(),
            ". Call .cpu() first.");
  NdArray data = NdArray::empty_strided(self.sizes(), ops::strides_like(self.array(), nullopt), self.dtype(),
                                        Device(kCPU), true);
  ops::copy_array(data, self.array());
  Variable out(std::move(data));
  ops::record_results<CloneBackward>({&out}, self);
  return out;
}

void ops::ShapeMethods::record_stream(const cuda::Stream& stream) const {
  const auto& self = ops::self(this);
  EBB_CHECK(self.is_cuda() || is_pinned(), "record_stream: the tensor is on ", self.device(),
            " in pageable memory, which streams do not use. Pin it, or move it to a CUDA device.");
  self.array().storage()->used_on(stream.device(), stream.handle());
}

Variable& copy_(const Variable& self, const Variable& src, bool non_blocking) {
  EBB_CHECK(self.defined() && src.defined(),
            "copy_: expected two tensors, got an undefined one. Assign it before use.");
  if (self.impl() == src.impl()) return ops::mutable_self(self);
  autograd::check_inplace(self, "copy_");
  const IntArrayRef sizes = self.sizes();
  const bool same_shape = src.sizes() == sizes;
  EBB_CHECK(same_shape || broadcast_shapes("copy_", sizes, src.sizes()) == DimVector(sizes),
            "copy_: a source of shape ", src.sizes(), " does not broadcast to the destination's shape ",
            sizes, ".");
  const auto fill = [&](CopyBackwards& n) {
    n.dtype = src.dtype();
    n.device = src.device();
  };
  const Ref<CopyBackwards> node =
      is_floating(self.dtype()) ? ops::node_of<CopyBackwards>(fill, self, src) : Ref<CopyBackwards>();
  write(self, same_shape ? src.array() : src.array().expand(sizes), non_blocking);
  autograd::bump_version(self);
  autograd::rebase_history(self, node);
  return ops::mutable_self(self);
}

}  // namespace ebb

// resize_, set_ and other methods on the storage of a tensor.
#include <ebb/autograd/grad_mode.h>
#include <ebb/core/maybe_owned.h>
#include <ebb/core/storage_handle.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/shape.h>

#include "core/recorder.h"
#include "ops/common/arrays.h"
#include "ops/common/kernels.h"
#include "ops/common/record.h"

#include <cstdio>
#include <string>

namespace ebb {
namespace {

// Returns row-major strides, or the strides of a memory format. Checks that the format fits the number of
// dimensions.
DimVector strides_in(const char* op, IntArrayRef size, optional<MemoryFormat> format) {
  const MemoryFormat wanted = format.value_or(MemoryFormat::Contiguous);
  EBB_CHECK(wanted != MemoryFormat::Preserve, op, ": there is no memory format to preserve; name one.");
  if (wanted == MemoryFormat::Contiguous) return contiguous_strides(size);
  const std::size_t dims = wanted == MemoryFormat::ChannelsLast ? 4 : 5;
  EBB_CHECK(size.size() == dims, op, ": this channels-last format needs ", static_cast<std::int64_t>(dims),
            " dimensions, got shape ", size, ".");
  return channels_last_strides(size);
}

Variable& show(const Variable& x, NdArray array) {
  EBB_CHECK(!x.requires_grad() || !GradMode::is_enabled(),
            "set_: the tensor requires grad, and its graph would not match other memory. Call it on "
            "x.detach(), or under a NoGradGuard.");
  EBB_CHECK(array.dtype() == x.dtype(), "set_: source is of dtype ", array.dtype(), ", but the tensor is of ",
            x.dtype(), ".");
  EBB_CHECK(array.device() == x.device(), "set_: source is on ", array.device(), ", but the tensor is on ",
            x.device(), ".");
  autograd::replace_array(x, std::move(array), autograd::Saved::lost);
  return ops::mutable_self(x);
}

}  // namespace

Variable& resize_(const Variable& x, IntArrayRef size, optional<MemoryFormat> memory_format) {
  EBB_CHECK(!x.requires_grad(), "resize_: cannot resize variables that require grad.");
  const DimVector strides = strides_in("resize_", size, memory_format);
  const NdArray& old = x.array();
  NdArray resized;
  const std::int64_t needed = (checked_numel(size) + old.offset()) * x.element_size();
  if (static_cast<std::size_t>(needed) <= old.storage()->bytes()) {
    resized = old.as_strided(size, strides, old.offset());
  } else {
    resized = NdArray::empty_strided(size, strides, x.dtype(), x.device());
    const std::int64_t kept = std::min(old.numel(), resized.numel());
    const NdArray source = ops::contiguous_array(old);
    NdArray target = resized.as_strided({kept}, {1}, 0);
    kernels::copy(x.device(), target, source.as_strided({kept}, {1}, source.offset()));
  }
  const bool same = resized.storage() == old.storage() && resized.sizes() == old.sizes() &&
                    resized.strides() == old.strides();
  if (!same) autograd::replace_array(x, std::move(resized), autograd::Saved::lost);
  return ops::mutable_self(x);
}

Variable resize_as(const Variable& x, const Variable& other, optional<MemoryFormat> memory_format) {
  NoGradGuard no_grad;
  const Variable out = x.detach().clone();
  return out.resize_as_(other, memory_format);
}

namespace ops {

StorageHandle ShapeMethods::storage() const {
  const Variable& x = self(this);
  if (detail::Recorder* const recorder = detail::recorder()) [[unlikely]]
    recorder->queries_memory(x);
  return StorageHandle(x.array().storage());
}
bool ShapeMethods::has_storage() const { return self(this).defined(); }

bool ShapeMethods::is_set_to(const Variable& other) const {
  const NdArray &a = self(this).array(), &b = other.array();
  return self(this).is_alias_of(other) && a.storage() == b.storage() && a.offset() == b.offset() &&
         a.dtype() == b.dtype() && a.sizes() == b.sizes() && a.strides() == b.strides();
}

Variable& ShapeMethods::set_(const Variable& source) const { return show(self(this), source.array()); }

Variable& ShapeMethods::set_(const StorageHandle& source) const {
  EBB_CHECK(source, "set_: the storage is null.");
  const Variable& x = self(this);
  return set_(source, 0, static_cast<std::int64_t>(source.nbytes()) / x.element_size());
}

Variable& ShapeMethods::set_(const StorageHandle& source, std::int64_t storage_offset, IntArrayRef size,
                             IntArrayRef stride) const {
  const Variable& x = self(this);
  EBB_CHECK(source, "set_: the storage is null.");
  checked_numel(size);
  const DimVector strides = stride.empty() ? contiguous_strides(size) : DimVector(stride);
  const std::int64_t bytes = checked_extent("set_", size, strides, storage_offset) * x.element_size();
  EBB_CHECK(static_cast<std::size_t>(bytes) <= source.nbytes(), "set_: sizes ", size, ", strides ",
            IntArrayRef(strides), " and offset ", storage_offset, " take ", bytes,
            " bytes, but the storage has ", std::uint64_t{source.nbytes()}, ".");
  return show(x, NdArray(source.ref(), DimVector(size), strides, storage_offset, x.scalar_type()));
}

Variable& ShapeMethods::set_() const {
  const Variable& x = self(this);
  return show(x, NdArray::empty({0}, x.scalar_type(), x.device()));
}

MemoryFormat ShapeMethods::suggest_memory_format() const {
  const Variable& x = self(this);
  // A tensor may match both formats, for example with one channel. It then counts as row-major.
  if (x.is_contiguous()) return MemoryFormat::Contiguous;
  for (const MemoryFormat format : {MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d})
    if (x.is_contiguous(format)) return format;
  return MemoryFormat::Contiguous;
}

MaybeOwned<Variable> ShapeMethods::expect_contiguous() const {
  const Variable& x = self(this);
  return x.is_contiguous() ? MaybeOwned<Variable>::borrowed(x) : MaybeOwned<Variable>::owned(x.contiguous());
}

void ShapeMethods::print() const {
  detail::not_replayed("it prints a tensor");
  const Variable& x = self(this);
  std::string text = "[UndefinedTensor]";
  if (x.defined()) {
    text.assign(1, '[').append(x.toString()).append(1, ' ');
    append_text(text, x.sizes());
    text += "]";
  }
  std::fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace ops
}  // namespace ebb

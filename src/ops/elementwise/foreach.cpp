// ebb::foreach: in-place ops on many tensors, grouped by dtype and device.
#include "ops/elementwise/foreach.h"

#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/shape.h>

#include "ops/elementwise/foreach_kernels.h"

namespace ebb::foreach {

namespace {

/// Tensors of the same dtype and device. The first array of an entry is the tensor or, if this is not dense,
/// its copy. Dense elements fill one interval of memory, in any order of dimensions.
struct Group {
  Device device;
  DType dtype = DType::Undefined;
  std::vector<TensorEntry> entries;
  std::vector<NdArray> copies;  // owns copies of tensors that are not dense, and second arrays
};

// Returns x with the strides of `like`.
NdArray with_strides_of(const NdArray& like, const Variable& x) {
  if (x.array().strides() == like.strides()) return x.array();
  Variable copy(NdArray::empty_strided(like.sizes(), like.strides(), x.dtype(), x.device()));
  copy.copy_(x.detach());
  return copy.array();
}

// Groups the tensors by dtype and device. `second_tensors` contains the second array of each entry.
std::vector<Group> grouped(const char* op, const std::vector<Variable>& tensors,
                           const std::vector<Variable>* second_tensors = nullptr) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Variable& tensor = tensors[i];
    EBB_CHECK(is_floating(tensor.dtype()), op, ": expected gradients of a floating dtype, got ", tensor, ".");
    Group* group = nullptr;
    for (Group& each : groups)
      if (each.device == tensor.device() && each.dtype == tensor.dtype()) group = &each;
    if (!group) group = &groups.emplace_back(Group{tensor.device(), tensor.dtype(), {}, {}});
    NdArray array = tensor.array();
    if (!array.is_dense()) group->copies.push_back(array = tensor.detach().contiguous().array());
    TensorEntry& entry = group->entries.emplace_back();
    entry = {{array.address()}, array.numel()};
    ebb::detail::will_access(array);
    if (!second_tensors) continue;
    const NdArray& second = group->copies.emplace_back(with_strides_of(array, (*second_tensors)[i]));
    entry.at[1] = second.address();
    ebb::detail::will_access(second);
  }
  return groups;
}

/// Runs change(group) on each group of the tensors, and writes back the tensors that had to be copied.
template <class Change>
void change_all(const char* op, const std::vector<Variable>& tensors, const Change& change,
                const std::vector<Variable>* second_tensors = nullptr) {
  NoGradGuard no_grad;
  std::vector<Variable> work, strided;
  for (const Variable& tensor : tensors) {
    const bool dense = tensor.array().is_dense();
    work.push_back(dense ? tensor : tensor.detach().contiguous());
    if (!dense) strided.push_back(work.back());
  }
  for (const Group& group : grouped(op, work, second_tensors)) change(group);
  auto copy = strided.begin();
  for (const Variable& tensor : tensors) {
    if (tensor.array().is_dense())
      autograd::bump_version(tensor);
    else
      tensor.detach().copy_(*copy++);
  }
}

}  // namespace

Variable norm(const std::vector<Variable>& tensors, double p) {
  NoGradGuard no_grad;
  std::vector<Variable> norms;
  for (const Group& group : grouped("norm", tensors)) {
    NdArray out = NdArray::empty({}, group.dtype == kDouble ? kDouble : kFloat, group.device);
    kernels::list_norm(group.device, out, EntryList{group.device, group.dtype, group.entries}, p);
    norms.emplace_back(out);
  }
  if (norms.size() == 1) return norms[0];
  bool wide = false;
  for (const Variable& each : norms) wide = wide || each.dtype() == kDouble;
  for (Variable& each : norms) each = each.to(norms[0].device(), wide ? kDouble : kFloat);
  return norm({stack(norms)}, p);
}

void scale_to_norm_(const std::vector<Variable>& tensors, const Variable& norm, double max_norm) {
  change_all("clip_grad_norm_", tensors, [&](const Group& group) {
    const Variable here = norm.detach().to(group.device, group.dtype == kDouble ? kDouble : kFloat);
    kernels::list_scale_to_norm(group.device, EntryList{group.device, group.dtype, group.entries},
                                here.array(), max_norm);
  });
}

void clamp_(const std::vector<Variable>& tensors, double low, double high) {
  change_all("clip_grad_value_", tensors, [&](const Group& group) {
    kernels::list_clamp(group.device, EntryList{group.device, group.dtype, group.entries}, low, high);
  });
}

void zero_(const std::vector<Variable>& tensors) {
  change_all("zero_grad", tensors, [&](const Group& group) {
    kernels::list_zero(group.device, EntryList{group.device, group.dtype, group.entries});
  });
}

void lerp_(const std::vector<Variable>& tensors, const std::vector<Variable>& ends, double weight) {
  const auto lerp = [&](const Group& group) {
    kernels::list_lerp(group.device, EntryList{group.device, group.dtype, group.entries}, weight);
  };
  change_all("lerp_", tensors, lerp, &ends);
}

void unscale_(const std::vector<Variable>& tensors, Variable& found_inf, const Variable& inverse_scale) {
  NdArray found = found_inf.array();
  change_all("unscale_", tensors, [&](const Group& group) {
    kernels::list_unscale(group.device, EntryList{group.device, group.dtype, group.entries}, found,
                          inverse_scale.array());
  });
}

}  // namespace ebb::foreach

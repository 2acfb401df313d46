// Keys of calls, as bytes.
#include "compile/call_key.h"

#include <ebb/autograd/autocast_setting.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/core/deterministic.h>

#include "autograd/meta.h"
#include "autograd/tensor_state.h"
#include "core/fingerprint.h"

namespace ebb::compiling {
namespace {

template <class T>
void append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// The first tensor of which `same` is true.
template <class Same>
std::size_t first_of(const std::vector<Variable>& tensors, const Same& same) {
  std::size_t at = 0;
  while (!(tensors[at].defined() && same(tensors[at]))) ++at;
  return at;
}

void append_tensor(std::string& key, const Variable& x, const std::vector<Variable>& tensors) {
  append(key, x.scalar_type());
  append(key, x.device().type());
  append(key, x.device().index());
  append(key, x.requires_grad());
  append(key, x.is_inference());
  append(key, x.dim());
  for (const std::int64_t size : x.sizes()) append(key, size);
  for (const std::int64_t stride : x.strides()) append(key, stride);
  const std::size_t aliased = first_of(tensors, [&](const Variable& other) { return other.is_alias_of(x); });
  append(key, aliased);
  append(key, x.storage_offset() - tensors[aliased].storage_offset());
  append(key, first_of(tensors, [&](const Variable& other) { return other.is_same(x); }));
  const autograd::AutogradMeta* const meta = autograd::meta_or_null(x);
  const bool is_view = meta && meta->base.defined();
  append(key, is_view);
  if (is_view) append(key, meta->kind);
  const std::size_t hooks = meta ? meta->hooks.size() : 0;
  append(key, hooks);
  for (std::size_t i = 0; i < hooks; ++i) append(key, meta->hooks[i].serial);
}

void append_modes(std::string& key) {
  append(key, GradMode::is_enabled());
  append(key, InferenceMode::is_enabled());
  append(key, are_deterministic_algorithms_enabled());
  append(key, detail::settings_fingerprint() ^ detail::changes_of_tensors());
  const autograd::AutocastSetting autocast = autograd::AutocastSetting::now();
  append(key, autocast.devices);
  for (const DType each : autocast.dtypes) append(key, each);
  append(key, get_default_dtype());
}

}  // namespace

std::string key_of_modes() {
  std::string key;
  append_modes(key);
  return key;
}

void key_of_call(const std::vector<Variable>& tensors, const std::string& numbers, std::string& key) {
  for (const Variable& x : tensors)
    if (x.defined()) detail::forget_changes(autograd::aged(*x.impl()));
  key.clear();
  append_modes(key);
  key += numbers;
  for (const Variable& x : tensors) {
    append(key, x.defined());
    if (x.defined()) append_tensor(key, x, tensors);
  }
}

}  // namespace ebb::compiling

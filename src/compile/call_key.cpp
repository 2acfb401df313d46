// Keys of calls, as bytes.
#include "compile/call_key.h"

#include <ebb/autograd/autocast_setting.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/core/deterministic.h>

#include <cstring>

#include "autograd/meta.h"
#include "autograd/tensor_state.h"
#include "core/fingerprint.h"

namespace ebb::compiling {
namespace {

// Writes the bytes of numbers one after the other: appending each to a string would take longer than a small
// replay.
class Writer {
 public:
  /// `most` bytes at most will be written to the text, over what it holds.
  Writer(std::string& text, std::size_t most) : text_(text) {
    text_.resize(most);
    at_ = text_.data();
  }
  template <class T>
  void put(const T& value) {
    std::memcpy(at_, &value, sizeof(value));
    at_ += sizeof(value);
  }
  void put(const std::string& bytes) {
    std::memcpy(at_, bytes.data(), bytes.size());
    at_ += bytes.size();
  }
  void end() { text_.resize(static_cast<std::size_t>(at_ - text_.data())); }

 private:
  std::string& text_;
  char* at_;
};

// Bytes of the modes, and of a tensor without its extents and hooks.
constexpr std::size_t kModes = 64, kTensor = 96;

// The first tensor of which `same` is true.
template <class Same>
std::size_t first_of(const std::vector<Variable>& tensors, const Same& same) {
  std::size_t at = 0;
  while (!(tensors[at].defined() && same(tensors[at]))) ++at;
  return at;
}

std::size_t most_bytes(const Variable& x) {
  if (!x.defined()) return kTensor;
  const autograd::AutogradMeta* const meta = autograd::meta_or_null(x);
  const std::size_t numbers = 2 * x.sizes().size() + (meta ? meta->hooks.size() : 0);
  return kTensor + numbers * sizeof(std::uint64_t);
}

void write_tensor(Writer& key, const Variable& x, const std::vector<Variable>& tensors) {
  key.put(x.scalar_type());
  key.put(x.device().type());
  key.put(x.device().index());
  key.put(x.requires_grad());
  key.put(x.is_inference());
  key.put(x.dim());
  for (const std::int64_t size : x.sizes()) key.put(size);
  for (const std::int64_t stride : x.strides()) key.put(stride);
  const std::size_t aliased = first_of(tensors, [&](const Variable& other) { return other.is_alias_of(x); });
  key.put(aliased);
  key.put(x.storage_offset() - tensors[aliased].storage_offset());
  key.put(first_of(tensors, [&](const Variable& other) { return other.is_same(x); }));
  const autograd::AutogradMeta* const meta = autograd::meta_or_null(x);
  const bool is_view = meta && meta->base.defined();
  key.put(is_view);
  if (is_view) key.put(meta->kind);
  const std::size_t hooks = meta ? meta->hooks.size() : 0;
  key.put(hooks);
  for (std::size_t i = 0; i < hooks; ++i) key.put(meta->hooks[i].serial);
}

void write_modes(Writer& key) {
  key.put(GradMode::is_enabled());
  key.put(InferenceMode::is_enabled());
  key.put(are_deterministic_algorithms_enabled());
  key.put(detail::settings_fingerprint() ^ detail::changes_of_tensors());
  const autograd::AutocastSetting autocast = autograd::AutocastSetting::now();
  key.put(autocast.devices);
  for (const DType each : autocast.dtypes) key.put(each);
  key.put(get_default_dtype());
}

}  // namespace

std::string key_of_modes() {
  std::string text;
  Writer key(text, kModes);
  write_modes(key);
  key.end();
  return text;
}

void key_of_call(const std::vector<Variable>& tensors, const std::string& numbers, std::string& text) {
  std::size_t most = kModes + numbers.size();
  for (const Variable& x : tensors) {
    most += most_bytes(x);
    if (x.defined()) detail::forget_changes(autograd::aged(*x.impl()));
  }
  Writer key(text, most);
  write_modes(key);
  key.put(numbers);
  for (const Variable& x : tensors) {
    key.put(x.defined());
    if (x.defined()) write_tensor(key, x, tensors);
  }
  key.end();
}

}  // namespace ebb::compiling

#include <ebb/autograd/grad_mode.h>
#include <ebb/io/safetensors.h>
#include <ebb/nn/archive.h>
#include <ebb/ops/copy.h>

#include <algorithm>

#include "core/near_names.h"

namespace ebb::serialize {
namespace {

std::vector<std::string> names_of(const safetensors::NamedTensors& tensors) {
  std::vector<std::string> names;
  for (const auto& item : tensors) names.push_back(item.first);
  return names;
}

}  // namespace

void OutputArchive::write(const std::string& key, const Variable& tensor, bool) {
  tensors_.emplace_back(key, tensor.detach());
}
void OutputArchive::write(const std::string& key, const OutputArchive& nested) {
  for (const auto& [name, tensor] : nested.tensors_) tensors_.emplace_back(key + "." + name, tensor);
}
void OutputArchive::save_to(const std::string& path) const { safetensors::write(path, tensors_); }
void OutputArchive::save_to(std::ostream& stream) const { safetensors::write(stream, tensors_); }

void InputArchive::load_from(const std::string& path) { tensors_ = safetensors::read(path).tensors; }
void InputArchive::load_from(std::istream& stream) { tensors_ = safetensors::read(stream).tensors; }

bool InputArchive::try_read(const std::string& key, Variable& tensor, bool) {
  const auto found =
      std::find_if(tensors_.begin(), tensors_.end(), [&](const auto& item) { return item.first == key; });
  if (found == tensors_.end()) return false;
  NoGradGuard no_grad;
  if (tensor.defined())
    tensor.set_data(found->second.to(tensor.device(), found->second.dtype(), false, /*copy=*/true));
  else
    tensor = found->second.clone();
  return true;
}
void InputArchive::read(const std::string& key, Variable& tensor, bool is_buffer) {
  EBB_CHECK(try_read(key, tensor, is_buffer), "InputArchive: there is no tensor \"", key, "\"",
            ebb::detail::near_names(key, names_of(tensors_)), ".");
}

bool InputArchive::try_read(const std::string& key, InputArchive& nested) {
  const std::string prefix = key + ".";
  std::vector<std::pair<std::string, Variable>> inside;
  for (const auto& [name, tensor] : tensors_)
    if (name.starts_with(prefix)) inside.emplace_back(name.substr(prefix.size()), tensor);
  if (inside.empty()) return false;
  nested.tensors_ = std::move(inside);
  return true;
}
void InputArchive::read(const std::string& key, InputArchive& nested) {
  EBB_CHECK(try_read(key, nested), "InputArchive: there is no archive \"", key, "\"",
            ebb::detail::near_names(key, keys()), ".");
}

std::vector<std::string> InputArchive::keys() const {
  std::vector<std::string> keys;
  for (const auto& item : tensors_) {
    std::string key = item.first.substr(0, item.first.find('.'));
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace ebb::serialize

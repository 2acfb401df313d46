// Archives: trees of named tensors, written as safetensors and read from files of other formats too.
#include <ebb/archive.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/io/safetensors.h>
#include <ebb/ops/copy.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "core/messages.h"
#include "io/any_file.h"
#include "io/safetensors_format.h"
#include "io/tied.h"

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
void OutputArchive::save_to(const std::string& path) const {
  const safetensors::Contents contents = safetensors::each_once(tensors_);
  safetensors::write(path, contents.tensors, contents.metadata);
}
void OutputArchive::save_to(std::ostream& stream) const {
  const safetensors::Contents contents = safetensors::each_once(tensors_);
  safetensors::write(stream, contents.tensors, contents.metadata);
}

void InputArchive::load_from(const std::string& path, optional<Device> device) {
  safetensors::File file = io::read_any(path);
  device_ = device;
  take(safetensors::every_name(std::move(file.tensors), file.metadata), std::move(file.unsupported));
}
void InputArchive::load_from(std::istream& stream, optional<Device> device) {
  safetensors::File file = io::read_any(stream);
  device_ = device;
  take(safetensors::every_name(std::move(file.tensors), file.metadata), std::move(file.unsupported));
}

void InputArchive::take(Tensors tensors, std::map<std::string, std::string> unsupported) {
  tensors_ = std::move(tensors);
  unsupported_ = std::move(unsupported);
  by_name_.resize(tensors_.size());
  std::iota(by_name_.begin(), by_name_.end(), std::size_t{0});
  std::sort(by_name_.begin(), by_name_.end(),
            [&](std::size_t a, std::size_t b) { return tensors_[a].first < tensors_[b].first; });
}

std::vector<std::size_t>::const_iterator InputArchive::first_not_before(const std::string& name) const {
  return std::lower_bound(by_name_.begin(), by_name_.end(), name,
                          [&](std::size_t i, const std::string& n) { return tensors_[i].first < n; });
}

bool InputArchive::try_read(const std::string& key, Variable& tensor, bool) {
  if (const auto found = unsupported_.find(key); found != unsupported_.end())
    ebb::detail::fail("InputArchive: tensor \"", key, "\"", safetensors::unsupported_text(found->second));
  const auto at = first_not_before(key);
  if (at == by_name_.end() || tensors_[*at].first != key) return false;
  const Variable& found = tensors_[*at].second;
  NoGradGuard no_grad;
  const Device device = device_.value_or(tensor.defined() ? tensor.device() : found.device());
  const Variable copy = found.to(device, found.dtype(), false, /*copy=*/true);
  if (tensor.defined())
    tensor.set_data(copy);
  else
    tensor = copy;
  return true;
}
void InputArchive::read(const std::string& key, Variable& tensor, bool is_buffer) {
  EBB_CHECK(try_read(key, tensor, is_buffer), "InputArchive: there is no tensor \"", key, "\"",
            ebb::detail::near_names(key, names_of(tensors_)), ".");
}

bool InputArchive::try_read(const std::string& key, InputArchive& nested) {
  const std::string prefix = key + ".";
  std::vector<std::size_t> positions;
  for (auto at = first_not_before(prefix); at != by_name_.end() && tensors_[*at].first.starts_with(prefix);
       ++at)
    positions.push_back(*at);
  std::sort(positions.begin(), positions.end());  // in the order of the file
  Tensors inside;
  for (const std::size_t i : positions)
    inside.emplace_back(tensors_[i].first.substr(prefix.size()), tensors_[i].second);
  std::map<std::string, std::string> unsupported;
  for (auto at = unsupported_.lower_bound(prefix); at != unsupported_.end() && at->first.starts_with(prefix);
       ++at)
    unsupported.emplace(at->first.substr(prefix.size()), at->second);
  if (inside.empty() && unsupported.empty()) return false;
  nested.take(std::move(inside), std::move(unsupported));
  nested.device_ = device_;
  return true;
}
void InputArchive::read(const std::string& key, InputArchive& nested) {
  EBB_CHECK(try_read(key, nested), "InputArchive: there is no archive \"", key, "\"",
            ebb::detail::near_names(key, keys()), ".");
}

std::vector<std::string> InputArchive::keys() const {
  std::vector<std::string> keys;
  std::unordered_set<std::string> seen;
  const auto add = [&](const std::string& name) {
    std::string key = name.substr(0, name.find('.'));
    if (seen.insert(key).second) keys.push_back(std::move(key));
  };
  for (const auto& item : tensors_) add(item.first);
  for (const auto& item : unsupported_) add(item.first);
  return keys;
}

}  // namespace ebb::serialize

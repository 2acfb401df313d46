// Shared tensors: tensors with several names, which a file contains once.
#include "io/shared_tensors.h"

#include <algorithm>
#include <unordered_map>

namespace ebb::safetensors {

bool shared(const Variable& a, const Variable& b) {
  return a.is_same(b) || (a.numel() > 0 && a.is_alias_of(b) && a.array().address() == b.array().address() &&
                          a.dtype() == b.dtype() && a.sizes() == b.sizes() && a.strides() == b.strides());
}

Contents each_once(const NamedTensors& tensors, Metadata metadata) {
  Contents contents{{}, std::move(metadata)};
  std::unordered_multimap<const void*, std::size_t> at;
  for (const auto& [name, tensor] : tensors) {
    const void* const data = tensor.array().address();
    const auto [first, last] = at.equal_range(data);
    const auto same = std::find_if(first, last, [&, &each = tensor](const auto& other) {
      return shared(contents.tensors[other.second].second, each);
    });
    if (same != last) {
      contents.metadata[name] = contents.tensors[same->second].first;
    } else {
      at.emplace(data, contents.tensors.size());
      contents.tensors.emplace_back(name, tensor);
    }
  }
  return contents;
}

NamedTensors every_name(NamedTensors tensors, const Metadata& metadata) {
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < tensors.size(); ++i) index.emplace(tensors[i].first, i);
  for (const auto& [name, first] : metadata) {
    const auto found = index.find(first);
    if (found != index.end() && !index.contains(name))
      tensors.emplace_back(name, tensors[found->second].second);
  }
  return tensors;
}

}  // namespace ebb::safetensors

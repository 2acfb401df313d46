// Tags for options with named choices.
#pragma once

#include <ebb/nn/enums.h>

#include <c10/util/variant.h>
#include <torch/csrc/namespaces.h>

#include <string>

namespace ebb::enumtype {

/// Returns the name of the tag in a variant, for example "kMean".
template <class... Tags>
std::string get_enum_name(const std::variant<Tags...>& tags) {
  return std::visit([](const auto& tag) { return std::string(tag.name); }, tags);
}

}  // namespace ebb::enumtype

// Serialization of optimizers, and its macros for user-defined optimizers.
#pragma once

#include <ebb/serialize.h>

#include <torch/csrc/namespaces.h>
#include <torch/types.h>

#include <deque>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ebb::optim {
namespace arguments {

/// Writes an option or a state value: a number, a string, a tensor, a list of numbers or tensors, or an
/// optional of these. An empty optional and an undefined tensor are left out.
template <class T>
void write_value(serialize::OutputArchive& archive, const std::string& name, const T& value) {
  if constexpr (requires { value.has_value(); }) {
    if (value.has_value()) write_value(archive, name, *value);
  } else if constexpr (std::is_base_of_v<Variable, T>) {
    if (value.defined()) archive.write(name, value, /*is_buffer=*/true);
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    archive.write(name, std::apply(
                            [](const auto&... each) {
                              return autograd::SavedValue(std::vector<double>{static_cast<double>(each)...});
                            },
                            value));
  } else if constexpr (std::is_same_v<T, std::deque<Variable>> || std::is_same_v<T, std::vector<Variable>>) {
    serialize::OutputArchive all;
    for (std::size_t i = 0; i < value.size(); ++i) all.write(std::to_string(i), value[i]);
    archive.write(name, all);
  } else {
    archive.write(name, autograd::SavedValue(value));
  }
}

/// Reads the option or state value `name` into `value`. Returns false, and changes nothing, if the archive
/// does not contain it.
template <class T>
bool read_value(serialize::InputArchive& archive, const std::string& name, T& value) {
  if constexpr (requires { value.has_value(); }) {
    typename T::value_type found{};
    if (!read_value(archive, name, found)) return false;
    value = std::move(found);
    return true;
  } else if constexpr (std::is_base_of_v<Variable, T>) {
    return archive.try_read(name, value, /*is_buffer=*/true);
  } else if constexpr (std::is_same_v<T, std::deque<Variable>> || std::is_same_v<T, std::vector<Variable>>) {
    serialize::InputArchive all;
    if (!archive.try_read(name, all)) return false;
    value.clear();
    for (Variable each; all.try_read(std::to_string(value.size()), each); each = {}) value.push_back(each);
    return true;
  } else {
    autograd::SavedValue found;
    if (!archive.try_read(name, found)) return false;
    if constexpr (requires { std::tuple_size<T>::value; }) {
      std::size_t i = 0;
      std::apply([&](auto&... each) { ((each = found.toDoubleVector().at(i++)), ...); }, value);
    } else if constexpr (std::is_same_v<T, bool>) {
      value = found.toBool();
    } else if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(found.toInt());
    } else if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(found.toDouble());
    } else if constexpr (std::is_same_v<T, std::vector<double>>) {
      value = found.toDoubleVector();
    } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
      value = found.toIntVector();
    } else {
      value = found.toStringRef();
    }
    return true;
  }
}

}  // namespace arguments

/// Writes and reads the options of all groups and the states, which have type State.
template <class State, class Options>
void serialize(serialize::OutputArchive& archive, const Optimizer& optimizer) {
  optimizer.Optimizer::save(archive);
}
template <class State, class Options>
void serialize(serialize::InputArchive& archive, Optimizer& optimizer) {
  optimizer.load(archive, [] { return std::make_unique<State>(); });
}

}  // namespace ebb::optim

#define _TORCH_OPTIM_SERIALIZE_TORCH_ARG(name) ::ebb::optim::arguments::write_value(archive, #name, name())
#define _TORCH_OPTIM_SERIALIZE_TORCH_ARG_DEQUE(name) _TORCH_OPTIM_SERIALIZE_TORCH_ARG(name)
#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(T, name)                                                     \
  do {                                                                                                  \
    T value_of_##name{};                                                                                \
    if (::ebb::optim::arguments::read_value<T>(archive, #name, value_of_##name)) name(value_of_##name); \
  } while (false)
#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_OPTIONAL(T, name)              \
  do {                                                                    \
    ::ebb::optional<T> value_of_##name;                                   \
    ::ebb::optim::arguments::read_value(archive, #name, value_of_##name); \
    name(value_of_##name);                                                \
  } while (false)
#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_DEQUE(T, name) _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(T, name)
#define _TORCH_OPTIM_SERIALIZE_WITH_TEMPLATE_ARG(Name) \
  ::ebb::optim::serialize<Name##ParamState, Name##Options>(archive, self)

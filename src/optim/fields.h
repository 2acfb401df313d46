// Conversion of the fields of options and states to tensors of a file.
#pragma once

#include <ebb/archive.h>
#include <ebb/ops/creation.h>

#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace ebb::optim {

template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<optional<T>> = true;

/// Converts an element of a tuple to a double. NaN represents an absent element.
inline double as_number(double x) { return x; }
inline double as_number(const optional<double>& x) {
  return x.value_or(std::numeric_limits<double>::quiet_NaN());
}
inline void from_number(double& to, double x) { to = x; }
inline void from_number(optional<double>& to, double x) {
  to = std::isnan(x) ? optional<double>() : optional<double>(x);
}

/// Converts a field to a tensor. Integers, bools and floating numbers become zero-dimensional Long, Bool and
/// Double tensors. Tuples become Double vectors, and strings Byte vectors. Absent fields become undefined
/// tensors.
template <class T>
Variable field_tensor(const T& field) {
  if constexpr (std::is_same_v<T, Variable>) {
    return field;
  } else if constexpr (is_optional<T>) {
    return field ? field_tensor(*field) : Variable();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return tensor(std::vector<std::uint8_t>(field.begin(), field.end()));
  } else if constexpr (std::is_arithmetic_v<T>) {
    return scalar_tensor(field, TensorOptions(std::is_floating_point_v<T> ? kDouble : dtype_of<T>()));
  } else {
    return tensor(std::apply([](const auto&... x) { return std::vector<double>{as_number(x)...}; }, field),
                  kDouble);
  }
}

/// Sets a field from a tensor. Throws if the tensor's shape does not fit the field.
template <class T>
void set_field(const std::string& name, T& field, const Variable& value) {
  if constexpr (std::is_same_v<T, Variable>) {
    field = value;
  } else if constexpr (is_optional<T>) {
    set_field(name, field.emplace(), value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    EBB_CHECK(value.dim() == 1 && value.dtype() == kByte, "optimizer: '", name, "' should be a text, got ",
              value, ".");
    const Variable bytes = value.cpu().contiguous();
    const auto* const text = bytes.data_ptr<std::uint8_t>();
    field.assign(text, text + bytes.numel());
  } else if constexpr (std::is_arithmetic_v<T>) {
    field = value.item<T>();
  } else {
    constexpr auto count = static_cast<std::int64_t>(std::tuple_size_v<T>);
    EBB_CHECK(value.dim() == 1 && value.numel() == count, "optimizer: '", name, "' should have ", count,
              " numbers, got ", value, ".");
    const Variable numbers = value.to(kDouble).cpu().contiguous();
    const double* at = numbers.data_ptr<double>();
    std::apply([&](auto&... x) { (from_number(x, *at++), ...); }, field);
  }
}

/// Returns whether the fields are equal. Tensors are equal if both are undefined, or if their sizes and
/// values are equal.
template <class T>
bool same_field(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, Variable>)
    return a.defined() == b.defined() && (!a.defined() || a.equal(b));
  else
    return a == b;
}

template <class T>
void write_field(serialize::OutputArchive& archive, const char* name, const T& field) {
  const Variable value = field_tensor(field);
  if (value.defined()) archive.write(name, value);
}

}  // namespace ebb::optim

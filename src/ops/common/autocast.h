// Autocast at the entry of an op: each function on the lists calls EBB_AUTOCAST in its first line.
#pragma once

#include <ebb/autograd/variable.h>

#include "autograd/thread_state.h"
#include "ops/common/autocast_lists.h"

#include <initializer_list>
#include <type_traits>
#include <vector>

namespace ebb::ops {

/// The cast rules of an op on the lists. The name must be a literal; a name that is not on the lists does not
/// compile.
struct ListedOp {
  consteval ListedOp(const char* name) : ListedOp(*find_cast_entry(name)) {}
  std::string_view name;
  CastRule cuda, cpu;

 private:
  explicit consteval ListedOp(const CastEntry& entry) : name(entry.op), cuda(entry.cuda), cpu(entry.cpu) {}
};

template <class T>
concept WithoutTensors = !std::is_convertible_v<const T&, TensorList>;

/// Return the tensors of an argument that select the casts of an op. The device of the first one selects the
/// rule; the rule `widest` depends on the dtypes of all of them. An optional tensor, for example a bias, is
/// cast but selects nothing.
inline TensorList deciding_tensors(const Variable& x) { return x; }
inline TensorList deciding_tensors(TensorList list) { return list; }
template <WithoutTensors T>
TensorList deciding_tensors(const T&) {
  return {};
}

/// The casts of one call. The object converts to false if there is nothing to cast. During its lifetime
/// autocast is off, so that the ops that the call runs do not cast their inputs again.
class Autocast {
 public:
  Autocast() = default;
  Autocast(const ListedOp& op, std::initializer_list<TensorList> inputs);
  ~Autocast() {
    if (target_ != DType::Undefined) autograd::thread_state.autocast.devices = devices_;
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;
  explicit operator bool() const { return target_ != DType::Undefined; }

  /// Returns an argument in the form in which the op takes it. Tensors are cast, a missing dtype becomes the
  /// dtype of the result, and everything else is unchanged.
  Variable operator()(const Variable& x) const;
  optional<Variable> operator()(const optional<Variable>& x) const;
  std::vector<Variable> operator()(TensorList list) const;
  optional<ScalarType> operator()(const optional<ScalarType>& dtype) const {
    return dtype ? dtype : result_dtype_;
  }
  template <WithoutTensors T>
  const T& operator()(const T& other) const {
    return other;
  }

 private:
  bool concerns(const Variable& x) const;

  optional<ScalarType> result_dtype_;
  bool casts_tensors_ = true;
  DType target_ = DType::Undefined;
  DeviceType device_ = kCPU;
  std::uint8_t devices_ = 0;
};

/// Returns the casts of a call of `op` with these arguments.
template <class... Arguments>
[[gnu::always_inline]] inline Autocast autocast(ListedOp op, const Arguments&... arguments) {
  if (autograd::thread_state.autocast.devices == 0) [[likely]]
    return {};
  return Autocast(op, {deciding_tensors(arguments)...});
}

/// Frees the cached casts of weights.
void clear_cast_cache();

}  // namespace ebb::ops

/// Calls `function` again with cast arguments if autocast applies. `op` is a literal, the name on the lists.
#define EBB_AUTOCAST_AS(op, function, ...)                                  \
  if (const auto cast = ::ebb::ops::autocast(op, __VA_ARGS__)) [[unlikely]] \
  return [&](const auto&... arguments) { return function(cast(arguments)...); }(__VA_ARGS__)

/// EBB_AUTOCAST_AS for a function that is listed under its own name.
#define EBB_AUTOCAST(function, ...) EBB_AUTOCAST_AS(#function, function, __VA_ARGS__)

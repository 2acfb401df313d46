// Autocast at the entry of an op: one line, EBB_AUTOCAST, in each function that is on the lists.
#pragma once

#include <ebb/autograd/variable.h>

#include "autograd/thread_state.h"
#include "ops/common/autocast_lists.h"

#include <initializer_list>
#include <type_traits>
#include <vector>

namespace ebb::ops {

/// The rules of an op that is on the lists, whose name is a literal; one that is not does not compile.
struct ListedOp {
  consteval ListedOp(const char* name) : ListedOp(*find_cast_entry(name)) {}
  std::string_view name;
  CastRule cuda, cpu;

 private:
  explicit consteval ListedOp(const CastEntry& entry) : name(entry.op), cuda(entry.cuda), cpu(entry.cpu) {}
};

template <class T>
concept WithoutTensors = !std::is_convertible_v<const T&, TensorList>;

/// The tensors among the arguments of an op that decide about its casts: the first one's device asks for
/// them, and `widest` looks at all of them. An optional tensor, a bias say, is cast but decides nothing.
inline TensorList deciding_tensors(const Variable& x) { return x; }
inline TensorList deciding_tensors(TensorList list) { return list; }
template <WithoutTensors T>
TensorList deciding_tensors(const T&) {
  return {};
}

/// The casts of one call. While it lives autocast is off, so that what the op is made of takes its inputs as
/// they are. False where there is nothing to do.
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

  /// An argument as the op takes it: tensors cast, or the dtype of the result set, all else unchanged.
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

/// The casts of a call of `op` with these arguments.
template <class... Arguments>
[[gnu::always_inline]] inline Autocast autocast(ListedOp op, const Arguments&... arguments) {
  if (autograd::thread_state.autocast.devices == 0) [[likely]]
    return {};
  return Autocast(op, {deciding_tensors(arguments)...});
}

/// Frees the casts of weights that are kept.
void clear_cast_cache();

}  // namespace ebb::ops

/// Calls `function` again with its arguments cast where autocast asks for that. `op`, a literal, is the name
/// on the lists.
#define EBB_AUTOCAST_AS(op, function, ...)                                  \
  if (const auto cast = ::ebb::ops::autocast(op, __VA_ARGS__)) [[unlikely]] \
  return [&](const auto&... arguments) { return function(cast(arguments)...); }(__VA_ARGS__)

/// The same of a function that is listed by its own name.
#define EBB_AUTOCAST(function, ...) EBB_AUTOCAST_AS(#function, function, __VA_ARGS__)

// Where an op meets autocast: one line at the entry of each op on the lists,
//   if (const auto cast = autocast("mm", self, mat2)) [[unlikely]] return mm(cast(self), cast(mat2));
#pragma once

#include <ebb/autograd/variable.h>

#include <initializer_list>
#include <vector>

#include "autograd/thread_state.h"
#include "ops/common/autocast_lists.h"

namespace ebb::ops {

/// The rules of an op that is on the lists; a name that is not does not compile.
struct ListedOp {
  consteval ListedOp(const char* name) : ListedOp(*find_cast_entry(name)) {}
  std::string_view name;
  CastRule cuda, cpu;

 private:
  explicit consteval ListedOp(const CastEntry& entry) : name(entry.op), cuda(entry.cuda), cpu(entry.cpu) {}
};

/// What one call of an op has to cast. While it lives autocast is off, so that what the op is made of takes
/// its inputs as they are. False where there is nothing to do.
class Autocast {
 public:
  Autocast() = default;
  Autocast(const ListedOp& op, std::initializer_list<const Variable*> inputs);
  Autocast(const ListedOp& op, TensorList inputs);
  ~Autocast() {
    if (target_ != DType::Undefined) autograd::thread_state.autocast.devices = devices_;
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;
  explicit operator bool() const { return target_ != DType::Undefined; }

  Variable operator()(const Variable& x) const;
  optional<Variable> operator()(const optional<Variable>& x) const;
  std::vector<Variable> operator()(TensorList list) const;
  /// The dtype argument of a sum or the like of x.
  optional<ScalarType> dtype(const Variable& x, optional<ScalarType> given) const;

 private:
  template <class Each>
  void begin(const ListedOp& op, const Each& each_input);
  bool concerns(const Variable& x) const;

  DType target_ = DType::Undefined;
  DeviceType device_ = kCPU;
  std::uint8_t devices_ = 0;
};

template <class... Inputs>
[[gnu::always_inline]] inline Autocast autocast(ListedOp op, const Inputs&... inputs) {
  if (autograd::thread_state.autocast.devices == 0) [[likely]]
    return {};
  return Autocast(op, {&inputs...});
}
[[gnu::always_inline]] inline Autocast autocast(ListedOp op, const TensorList& inputs) {
  if (autograd::thread_state.autocast.devices == 0) [[likely]]
    return {};
  return Autocast(op, inputs);
}

/// Frees the casts of weights that are kept.
void clear_cast_cache();

}  // namespace ebb::ops

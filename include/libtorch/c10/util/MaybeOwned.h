// c10::MaybeOwned: a value, or a reference to somebody else's.
#pragma once

#include <torch/csrc/namespaces.h>

#include <optional>
#include <utility>

namespace c10 {

template <class T>
class MaybeOwned {
 public:
  /// The value must outlive the result.
  static MaybeOwned borrowed(const T& value) { return MaybeOwned(&value); }
  static MaybeOwned owned(T value) { return MaybeOwned(std::move(value)); }
  template <class... Args>
  static MaybeOwned owned(std::in_place_t, Args&&... args) {
    return MaybeOwned(T(std::forward<Args>(args)...));
  }

  const T& operator*() const { return owned_ ? *owned_ : *borrowed_; }
  const T* operator->() const { return &**this; }

 private:
  explicit MaybeOwned(const T* borrowed) : borrowed_(borrowed) {}
  explicit MaybeOwned(T&& owned) : owned_(std::move(owned)) {}

  const T* borrowed_ = nullptr;
  std::optional<T> owned_;
};

}  // namespace c10

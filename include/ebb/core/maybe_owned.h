// MaybeOwned: an owned or a borrowed value.
#pragma once

#include <optional>
#include <utility>

namespace ebb {

/// Points to a T that it owns, or to a T that outlives it. It avoids a copy if none is needed (torch:
/// c10::MaybeOwned).
template <class T>
class MaybeOwned {
 public:
  static MaybeOwned borrowed(const T& value) {
    MaybeOwned r;
    r.borrowed_ = &value;
    return r;
  }
  static MaybeOwned owned(T value) {
    MaybeOwned r;
    r.owned_.emplace(std::move(value));
    return r;
  }
  bool is_owned() const { return owned_.has_value(); }
  const T& operator*() const& { return owned_ ? *owned_ : *borrowed_; }
  const T* operator->() const& { return &**this; }

 private:
  MaybeOwned() = default;

  std::optional<T> owned_;
  const T* borrowed_ = nullptr;
};

}  // namespace ebb

// c10::make_scope_exit: calls a function at the end of a scope.
#pragma once

#include <torch/csrc/namespaces.h>

#include <utility>

namespace c10 {

template <class Callable>
class scope_exit {
 public:
  explicit scope_exit(Callable callable) : callable_(std::move(callable)) {}
  scope_exit(scope_exit&& other) noexcept
      : callable_(std::move(other.callable_)), engaged_(std::exchange(other.engaged_, false)) {}
  scope_exit& operator=(scope_exit&&) = delete;
  ~scope_exit() {
    if (engaged_) callable_();
  }
  void release() noexcept { engaged_ = false; }

 private:
  Callable callable_;
  bool engaged_ = true;
};

template <class Callable>
scope_exit<Callable> make_scope_exit(Callable callable) {
  return scope_exit<Callable>(std::move(callable));
}

}  // namespace c10

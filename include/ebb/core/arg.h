// EBB_ARG: an option of an options class.
#pragma once

/// Declares an option with its chaining setter and its getters, and, as the last words of the declaration,
/// the private member that holds it, so that a default can follow (libtorch's TORCH_ARG):
///     class ELUOptions {
///       EBB_ARG(double, alpha) = 1.0;
///       EBB_ARG(bool, inplace) = false;
///     };
///     auto options = ELUOptions().alpha(0.5).inplace(true);
///     options.alpha() *= 2;
#define EBB_ARG(T, name)                                                                           \
 public:                                                                                           \
  auto name(T value) -> decltype(*this) { return this->name##_ = static_cast<T&&>(value), *this; } \
  const T& name() const noexcept { return this->name##_; }                                         \
  T& name() noexcept { return this->name##_; }                                                     \
                                                                                                   \
 private:                                                                                          \
  T name##_ /* NOLINT */

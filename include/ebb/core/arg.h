// EBB_ARG: declares an option of an options class.
#pragma once

/// Declares an option with a chaining setter, getters and a private member (libtorch's TORCH_ARG). The member
/// comes last in the declaration, so that a default value can follow:
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

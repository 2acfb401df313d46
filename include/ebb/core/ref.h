// Ref: an intrusive reference-counted pointer, one pointer wide, without a control block.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace ebb {

/// Base of reference-counted objects. T provides `static void destroy(T*) noexcept`, which is called when the
/// last reference is released. If `Upgradable` is true, a thread may also find the object by a raw pointer
/// under a lock, and take a reference with try_add_ref.
template <class T, bool Upgradable = false>
class RefCounted {
 public:
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  void add_ref() const noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() const noexcept {
    // A sole owner needs no atomic read-modify-write: no other thread can access the object.
    if ((!Upgradable && refs_.load(std::memory_order_acquire) == 1) ||
        refs_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      T::destroy(static_cast<T*>(const_cast<RefCounted*>(this)));
  }
  /// Takes another reference, unless the object is already being destroyed.
  bool try_add_ref() const noexcept
    requires Upgradable
  {
    std::uint32_t n = refs_.load(std::memory_order_relaxed);
    while (n != 0)
      if (refs_.compare_exchange_weak(n, n + 1, std::memory_order_acq_rel)) return true;
    return false;
  }
  std::uint32_t use_count() const noexcept { return refs_.load(std::memory_order_acquire); }

 protected:
  RefCounted() = default;
  ~RefCounted() = default;
  mutable std::atomic<std::uint32_t> refs_{1};
};

/// Shared ownership of a RefCounted T.
template <class T>
class Ref {
 public:
  using Relocatable = Ref;  // see SmallVector

  constexpr Ref() = default;
  constexpr Ref(std::nullptr_t) {}
  Ref(const Ref& other) noexcept : p_(other.p_) {
    if (p_) p_->add_ref();
  }
  Ref(Ref&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
  template <class U>
    requires std::convertible_to<U*, T*>
  Ref(const Ref<U>& other) noexcept : p_(other.get()) {
    if (p_) p_->add_ref();
  }
  template <class U>
    requires std::convertible_to<U*, T*>
  Ref(Ref<U>&& other) noexcept : p_(other.detach()) {}
  Ref& operator=(const Ref& other) noexcept {
    Ref(other).swap(*this);
    return *this;
  }
  Ref& operator=(Ref&& other) noexcept {
    Ref(std::move(other)).swap(*this);
    return *this;
  }
  ~Ref() {
    if (p_) p_->release();
  }

  /// Takes over a reference that the caller owns.
  static Ref adopt(T* p) noexcept {
    Ref r;
    r.p_ = p;
    return r;
  }
  /// Adds a reference.
  static Ref share(T* p) noexcept {
    if (p) p->add_ref();
    return adopt(p);
  }
  /// Returns the pointer and passes its reference to the caller.
  [[nodiscard]] T* detach() noexcept { return std::exchange(p_, nullptr); }
  void reset() noexcept { Ref().swap(*this); }
  void swap(Ref& other) noexcept { std::swap(p_, other.p_); }

  T* get() const noexcept { return p_; }
  T* operator->() const noexcept { return p_; }
  T& operator*() const noexcept { return *p_; }
  explicit operator bool() const noexcept { return p_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) noexcept { return a.p_ == b.p_; }
  friend bool operator==(const Ref& a, std::nullptr_t) noexcept { return a.p_ == nullptr; }
  /// Converts for code that stores a std::shared_ptr: `std::shared_ptr<Node> f = x.grad_fn();`.
  operator std::shared_ptr<T>() const {
    if (!p_) return nullptr;
    return std::shared_ptr<T>(p_, [kept = *this](T*) {});
  }
  friend bool operator==(const Ref& a, const std::shared_ptr<T>& b) noexcept { return a.p_ == b.get(); }

 private:
  T* p_ = nullptr;
};

}  // namespace ebb

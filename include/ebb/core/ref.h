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
/// last reference is released. A thread may also find a findable object by a raw pointer under a lock, and
/// take a reference with try_add_ref.
template <class T>
class RefCounted {
 public:
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  void add_ref() const noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() const noexcept {
    // A sole owner needs no atomic read-modify-write, because no other thread can access the object. A
    // findable object never has this count.
    if (refs_.load(std::memory_order_acquire) == 1 || release_shared())
      T::destroy(static_cast<T*>(const_cast<RefCounted*>(this)));
  }
  /// Takes another reference to a findable object, unless the object is already being destroyed.
  bool try_add_ref() const noexcept {
    std::uint32_t n = refs_.load(std::memory_order_relaxed);
    while (n != kFindable)
      if (refs_.compare_exchange_weak(n, n + 1, std::memory_order_acq_rel)) return true;
    return false;
  }
  std::uint32_t use_count() const noexcept { return refs_.load(std::memory_order_acquire) & ~kFindable; }

 protected:
  RefCounted() = default;
  ~RefCounted() = default;
  /// Makes the object findable. Called by its constructor.
  void make_findable() noexcept { refs_.store(kFindable + 1, std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t kFindable = std::uint32_t{1} << 31;  // a bit of the count

  bool release_shared() const noexcept {
    return (refs_.fetch_sub(1, std::memory_order_acq_rel) & ~kFindable) == 1;
  }

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

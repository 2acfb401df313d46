// SmallVector: a vector that stores its first N elements inline. Shapes and gradient lists need no heap.
#pragma once

#include <ebb/core/array_ref.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace ebb {

/// True if an object may be moved by copying its bytes, without running the destructor of the old object. A
/// class that is not trivially copyable, such as Ref, declares this property with a member type: `using
/// Relocatable = Ref;`.
template <class T>
inline constexpr bool is_relocatable = std::is_trivially_copyable_v<T>;
template <class T>
  requires std::same_as<typename T::Relocatable, T>
inline constexpr bool is_relocatable<T> = true;

template <class T, unsigned N>
class SmallVector {
  static constexpr bool kTrivial = std::is_trivially_copyable_v<T>;

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() noexcept {}  // NOLINT(modernize-use-equals-default): with = default, {} would zero the buffer
  explicit SmallVector(std::size_t size) { resize(size); }
  SmallVector(std::size_t size, const T& value) { assign(size, value); }
  SmallVector(std::initializer_list<T> values) { append(values.begin(), values.end()); }
  SmallVector(ArrayRef<T> values) { append(values.begin(), values.end()); }
  SmallVector(const T* first, const T* last) { append(first, last); }
  SmallVector(const SmallVector& other) {
    if constexpr (kTrivial) {
      if (!other.on_heap()) {  // copies all inline bytes: a fixed size needs no call
        std::memcpy(inline_, other.inline_, sizeof(inline_));
        size_ = other.size_;
        return;
      }
    }
    append(other.begin(), other.end());
  }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) {
      clear();
      append(other.begin(), other.end());
    }
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      std::destroy_at(this);
      std::construct_at(this, std::move(other));
    }
    return *this;
  }
  ~SmallVector() {
    if (on_heap() || (!kTrivial && size_ != 0)) destroy();
  }

  T* data() { return on_heap() ? heap_ : inline_data(); }
  const T* data() const { return on_heap() ? heap_ : inline_data(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  /// Accepts any integer type, because dims are std::int64_t.
  template <std::integral I>
  T& operator[](I i) {
    return data()[i];
  }
  template <std::integral I>
  const T& operator[](I i) const {
    return data()[i];
  }
  T& front() { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  const T& front() const { return data()[0]; }
  const T& back() const { return data()[size_ - 1]; }

  void clear() {
    if constexpr (!kTrivial) std::destroy_n(data(), size_);
    size_ = 0;
  }
  void reserve(std::size_t capacity) {
    if (capacity > capacity_) grow(capacity);
  }
  void resize(std::size_t size) {
    reserve(size);
    T* d = data();
    if (size > size_)
      std::uninitialized_value_construct_n(d + size_, size - size_);
    else if constexpr (!kTrivial)
      std::destroy_n(d + size, size_ - size);
    size_ = static_cast<std::uint32_t>(size);
  }
  /// Leaves new elements uninitialised; the caller writes them.
  void resize_for_overwrite(std::size_t size) {
    static_assert(kTrivial);
    reserve(size);
    size_ = static_cast<std::uint32_t>(size);
  }
  void assign(std::size_t size, const T& value) {
    const T copy = value;
    clear();
    reserve(size);
    std::uninitialized_fill_n(data(), size, copy);
    size_ = static_cast<std::uint32_t>(size);
  }
  void append(const T* first, const T* last) {
    const std::size_t count = static_cast<std::size_t>(last - first);
    reserve(size_ + count);
    std::uninitialized_copy_n(first, count, data() + size_);
    size_ += static_cast<std::uint32_t>(count);
  }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) grow(size_ + 1);
    return *::new (static_cast<void*>(data() + size_++)) T(std::forward<Args>(args)...);
  }
  void push_back(const T& value) {
    T copy(value);  // value may be an element of this vector
    emplace_back(std::move(copy));
  }
  void push_back(T&& value) { emplace_back(std::move(value)); }
  void pop_back() {
    --size_;
    if constexpr (!kTrivial) data()[size_].~T();
  }
  void insert(const T* position, T value) {
    const std::size_t at = static_cast<std::size_t>(position - data());
    emplace_back(std::move(value));
    for (std::size_t i = size_ - 1; i > at; --i) std::swap(data()[i], data()[i - 1]);
  }
  void erase(const T* position) {
    for (std::size_t i = static_cast<std::size_t>(position - data()); i + 1 < size_; ++i)
      data()[i] = std::move(data()[i + 1]);
    pop_back();
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return ArrayRef<T>(a) == ArrayRef<T>(b);
  }

 private:
  bool on_heap() const { return capacity_ > N; }
  T* inline_data() { return reinterpret_cast<T*>(inline_); }
  const T* inline_data() const { return reinterpret_cast<const T*>(inline_); }

  void grow(std::size_t wanted) {
    const std::size_t capacity = wanted > capacity_ * 2u ? wanted : capacity_ * 2u;
    T* fresh = std::allocator<T>().allocate(capacity);
    if constexpr (is_relocatable<T>) {
      std::memcpy(static_cast<void*>(fresh), data(), size_ * sizeof(T));
    } else {
      std::uninitialized_move_n(data(), size_, fresh);
      std::destroy_n(data(), size_);
    }
    if (on_heap()) std::allocator<T>().deallocate(heap_, capacity_);
    heap_ = fresh;
    capacity_ = static_cast<std::uint32_t>(capacity);
  }
  void take(SmallVector& other) noexcept {
    size_ = other.size_;
    capacity_ = other.capacity_;
    if (other.on_heap()) {
      heap_ = other.heap_;
      other.capacity_ = N;
    } else if constexpr (is_relocatable<T>) {
      std::memcpy(inline_, other.inline_, sizeof(inline_));
    } else {
      std::uninitialized_move_n(other.inline_data(), size_, inline_data());
      std::destroy_n(other.inline_data(), size_);
    }
    other.size_ = 0;
  }

  // Out of line, because most vectors are empty or trivial when they are destroyed.
  [[gnu::noinline]] void destroy() {
    if constexpr (!kTrivial) std::destroy_n(data(), size_);
    if (on_heap()) std::allocator<T>().deallocate(heap_, capacity_);
  }

  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = N;
  union {
    alignas(T) unsigned char inline_[N * sizeof(T)];
    T* heap_;
  };
};

/// Sizes or strides. Up to six dimensions need no heap.
using DimVector = SmallVector<std::int64_t, 6>;

}  // namespace ebb

// A read-only view of consecutive values: the argument type for sizes, dims and lists of tensors.
#pragma once

#include <ebb/core/error.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <utility>
#include <vector>

namespace ebb {

using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;

/// A borrowed view (torch: at::ArrayRef). A braced list or a temporary is only valid until the end of the
/// call.
template <class T>
class ArrayRef {
 public:
  using value_type = T;
  using iterator = const T*;
  using const_iterator = const T*;
  using size_type = std::size_t;

  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
  constexpr ArrayRef(const T* data, std::size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* begin, const T* end)
      : data_(begin), size_(static_cast<std::size_t>(end - begin)) {}
  // The elements of a braced list exist until the end of the full expression. Calls the constructor above,
  // because GCC warns about a member that is set to list.begin().
  constexpr ArrayRef(std::initializer_list<T> list) : ArrayRef(list.begin(), list.size()) {}
  template <std::size_t N>
  constexpr ArrayRef(const T (&values)[N]) : data_(values), size_(N) {}
  /// Views any contiguous container: std::vector, std::array, ebb's inline vectors.
  template <class C>
    requires requires(const C& c) {
      { c.data() } -> std::convertible_to<const T*>;
      { c.size() } -> std::convertible_to<std::size_t>;
    }
  constexpr ArrayRef(const C& values) : data_(values.data()), size_(values.size()) {}

  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr const T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T& operator[](std::size_t i) const { return data_[i]; }
  /// Accepts any integer type, because dims are std::int64_t.
  template <std::integral I>
  constexpr const T& operator[](I i) const {
    return data_[i];
  }
  constexpr const T& at(std::size_t i) const {
    EBB_CHECK_INDEX(i < size_, "ArrayRef::at: index ", std::uint64_t{i}, " is out of range for size ",
                    std::uint64_t{size_});
    return data_[i];
  }
  constexpr const T& front() const { return data_[0]; }
  constexpr const T& back() const { return data_[size_ - 1]; }
  constexpr ArrayRef slice(std::size_t start, std::size_t count) const { return {data_ + start, count}; }
  constexpr ArrayRef slice(std::size_t start) const { return {data_ + start, size_ - start}; }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }
  bool equals(ArrayRef other) const { return *this == other; }

  friend constexpr bool operator==(ArrayRef a, ArrayRef b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i)
      if (!(a.data_[i] == b.data_[i])) return false;
    return true;
  }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

using IntArrayRef = ArrayRef<std::int64_t>;

/// An IntArrayRef that may be absent: `x.sum({0, 1})`, `x.sum(0)`, `x.sum(nullopt)` (torch:
/// OptionalIntArrayRef).
class OptionalIntArrayRef {
 public:
  constexpr OptionalIntArrayRef() = default;
  constexpr OptionalIntArrayRef(nullopt_t) {}
  constexpr OptionalIntArrayRef(IntArrayRef values) : values_(values), has_(true) {}
  constexpr OptionalIntArrayRef(const std::int64_t& one) : values_(one), has_(true) {}
  constexpr OptionalIntArrayRef(std::initializer_list<std::int64_t> list) : values_(list), has_(true) {}
  template <class C>
    requires(std::is_constructible_v<IntArrayRef, const C&> &&
             !std::is_arithmetic_v<C>)  // a reference to an int's temporary copy would dangle
  constexpr OptionalIntArrayRef(const C& values) : values_(values), has_(true) {}

  constexpr bool has_value() const { return has_; }
  constexpr explicit operator bool() const { return has_; }
  constexpr IntArrayRef value() const { return values_; }
  constexpr IntArrayRef operator*() const { return values_; }
  constexpr const IntArrayRef* operator->() const { return &values_; }

 private:
  IntArrayRef values_;
  bool has_ = false;
};

/// Formats values as shapes are formatted in messages and streams: "[2, 3]".
EBB_API void append_text(std::string& out, IntArrayRef values);
EBB_API std::ostream& operator<<(std::ostream& out, IntArrayRef values);

}  // namespace ebb

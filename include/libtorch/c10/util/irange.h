// c10::irange: ranges of integers for loops.
#pragma once

#include <torch/csrc/namespaces.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <type_traits>

namespace c10 {

/// The integers in [begin, end); empty if end <= begin.
template <class Integer>
class integer_range {
 public:
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Integer;
    using difference_type = std::ptrdiff_t;
    using pointer = const Integer*;
    using reference = Integer;

    constexpr iterator() = default;
    constexpr explicit iterator(Integer value) : value_(value) {}
    constexpr Integer operator*() const { return value_; }
    constexpr const Integer* operator->() const { return &value_; }
    constexpr iterator& operator++() { return ++value_, *this; }
    constexpr iterator operator++(int) { return iterator(value_++); }
    friend constexpr bool operator==(iterator a, iterator b) { return a.value_ == b.value_; }

   private:
    Integer value_{};
  };

  constexpr integer_range(Integer begin, Integer end) : begin_(begin), end_(std::max(begin, end)) {}
  constexpr iterator begin() const { return begin_; }
  constexpr iterator end() const { return end_; }

 private:
  iterator begin_, end_;
};

/// Use as `for (const auto i : c10::irange(n))`. The integers have the type of `end`.
template <class Integer>
  requires std::is_integral_v<Integer>
constexpr integer_range<Integer> irange(Integer end) {
  return {Integer{}, end};
}

template <class First, class Integer>
  requires(std::is_integral_v<First> && std::is_integral_v<Integer>)
constexpr integer_range<Integer> irange(First begin, Integer end) {
  return {static_cast<Integer>(begin), end};
}

}  // namespace c10

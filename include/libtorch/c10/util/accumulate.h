// c10::sum_integers, multiply_integers and others: sums and products of integers.
#pragma once

#include <torch/csrc/namespaces.h>

#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>

namespace c10 {

template <class Iterator>
std::int64_t sum_integers(Iterator begin, Iterator end) {
  return std::accumulate(begin, end, std::int64_t{0});
}
template <class Container>
std::int64_t sum_integers(const Container& values) {
  return sum_integers(std::begin(values), std::end(values));
}
template <class Iterator>
std::int64_t multiply_integers(Iterator begin, Iterator end) {
  return std::accumulate(begin, end, std::int64_t{1}, std::multiplies<>());
}
template <class Container>
std::int64_t multiply_integers(const Container& values) {
  return multiply_integers(std::begin(values), std::end(values));
}

}  // namespace c10

// pinned(): copies batches to page-locked memory, so that copies to a GPU overlap with its computation.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/data/example.h>

#include <type_traits>
#include <utility>
#include <vector>

namespace ebb::data {

/// Returns a copy of x in pinned memory. Returns x itself if it is pinned or on a GPU, or if there is no
/// CUDA.
EBB_API Variable pinned(Variable x);

template <class Data, class Target>
Example<Data, Target> pinned(Example<Data, Target> example);
template <class T>
std::vector<T> pinned(std::vector<T> batch);
template <class A, class B>
std::pair<A, B> pinned(std::pair<A, B> both);

/// Returns values of other types unchanged, because no tensors are found in them.
template <class T>
  requires(!std::is_convertible_v<T, Variable>)
T pinned(T other) {
  return other;
}

template <class Data, class Target>
Example<Data, Target> pinned(Example<Data, Target> example) {
  example.data = pinned(std::move(example.data));
  if constexpr (!std::is_void_v<Target>) example.target = pinned(std::move(example.target));
  return example;
}
template <class T>
std::vector<T> pinned(std::vector<T> batch) {
  for (T& each : batch) each = pinned(std::move(each));
  return batch;
}
template <class A, class B>
std::pair<A, B> pinned(std::pair<A, B> both) {
  return {pinned(std::move(both.first)), pinned(std::move(both.second))};
}

}  // namespace ebb::data

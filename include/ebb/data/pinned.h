// Batches in page-locked memory, from which copies to a GPU overlap with what it computes.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/data/example.h>

#include <type_traits>
#include <utility>
#include <vector>

namespace ebb::data {

/// x in pinned memory; x itself if it is there, or on a GPU, or there is no CUDA.
EBB_API Variable pinned(Variable x);

template <class Data, class Target>
Example<Data, Target> pinned(Example<Data, Target> example);
template <class T>
std::vector<T> pinned(std::vector<T> batch);
template <class A, class B>
std::pair<A, B> pinned(std::pair<A, B> both);

/// What holds no tensors that are known to is left as it is.
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

// UnstackedExamples: a batch as a list of examples, without Stack.
#pragma once

#include <ebb/data/example.h>
#include <ebb/data/pinned.h>

#include <utility>
#include <vector>

namespace ebb::data {

/// The type of `batch.target` in an unstacked batch. Each use of it is a compile error that says that the
/// dataset must be mapped with Stack.
class MapTheDatasetWithStack {
 public:
  template <class T>
  operator T() const {
    return missing<T>();
  }
  template <class... To>
  Variable to(const To&...) const {
    return missing<Variable, To...>();
  }

 private:
  template <class T, class...>
  static T missing() {
    static_assert(sizeof(T) == 0,
                  "This batch is a std::vector of examples. To join their tensors, map the dataset with "
                  "Stack: dataset.map(data::transforms::Stack<>()).");
    __builtin_unreachable();
  }
};

/// The batch of a dataset without Stack: a std::vector of examples.
template <class Data, class Target>
class UnstackedExamples : public std::vector<Example<Data, Target>> {
 public:
  UnstackedExamples() = default;
  UnstackedExamples(std::vector<Example<Data, Target>> examples)
      : std::vector<Example<Data, Target>>(std::move(examples)) {}

  // `batch.data.to(device)` names this member, so the compiler's error says that the batch is unstacked.
  Example<Data, Target>* data() { return std::vector<Example<Data, Target>>::data(); }
  const Example<Data, Target>* data() const { return std::vector<Example<Data, Target>>::data(); }

  static constexpr MapTheDatasetWithStack target{};
};

template <class Data, class Target>
UnstackedExamples<Data, Target> pinned(UnstackedExamples<Data, Target> examples) {
  return pinned(static_cast<std::vector<Example<Data, Target>>&&>(examples));
}

namespace detail {
template <class Batch>
struct DeliveredBatch {
  using type = Batch;
};
template <class Data, class Target>
struct DeliveredBatch<std::vector<Example<Data, Target>>> {
  using type = UnstackedExamples<Data, Target>;
};
}  // namespace detail

}  // namespace ebb::data

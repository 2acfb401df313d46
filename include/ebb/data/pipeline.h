// Pipeline: chains of lambdas over samples: from(dataset).map(f).filter(p).shuffle(n).batch(b).prefetch(k).
#pragma once

#include <ebb/core/error.h>
#include <ebb/core/options.h>
#include <ebb/data/iterator.h>
#include <ebb/data/read_ahead.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace ebb::data {

namespace detail {
/// Random indices. The seed is drawn from the default generator, so that manual_seed() makes them
/// reproducible.
class EBB_API RandomIndices {
 public:
  RandomIndices();
  /// Returns a random index in [0, count).
  std::size_t below(std::size_t count);

 private:
  std::uint64_t state_;
};
}  // namespace detail

/// A lazy sequence of values. Each begin() starts an epoch. A pipeline contains its dataset and may be
/// copied. Two simultaneous epochs share the dataset and the lambdas. The lambdas must therefore change
/// neither the dataset nor their own state.
template <class T>
class Pipeline {
 public:
  using ValueType = T;
  /// Returns the next value, or nothing at the end.
  using Next = std::function<std::optional<T>()>;
  /// `start` returns a Next for each epoch.
  explicit Pipeline(std::function<Next()> start) : start_(std::move(start)) {}

  Iterator<T> begin() const { return Iterator<T>(start_()); }
  Iterator<T> end() const { return {}; }

  /// Applies f to each value.
  template <class F>
  auto map(F f) const {
    using Out = std::decay_t<std::invoke_result_t<F&, T>>;
    return Pipeline<Out>([start = start_, f = std::move(f)] {
      return [next = start(), f]() mutable -> std::optional<Out> {
        std::optional<T> value = next();
        if (!value) return std::nullopt;
        return f(std::move(*value));
      };
    });
  }

  /// Drops values for which `keep` returns false.
  template <class Predicate>
  Pipeline filter(Predicate keep) const {
    return Pipeline([start = start_, keep = std::move(keep)] {
      return [next = start(), keep]() mutable -> std::optional<T> {
        for (;;) {
          std::optional<T> value = next();
          if (!value || keep(std::as_const(*value))) return value;
        }
      };
    });
  }

  /// Returns values in random order, drawn from a buffer of the next `count` values. The order is completely
  /// random if there are at most `count` values. The seed is drawn from the default generator at the start of
  /// the epoch.
  Pipeline shuffle(std::size_t count) const {
    EBB_CHECK(count > 0, "Pipeline::shuffle: expected a count of at least 1, got 0.");
    return Pipeline([start = start_, count] {
      return [next = start(), count, waiting = std::vector<T>(), ended = false,
              indices = detail::RandomIndices()]() mutable -> std::optional<T> {
        while (!ended && waiting.size() < count)
          if (std::optional<T> value = next())
            waiting.push_back(std::move(*value));
          else
            ended = true;
        if (waiting.empty()) return std::nullopt;
        std::swap(waiting[indices.below(waiting.size())], waiting.back());
        std::optional<T> value = std::move(waiting.back());
        waiting.pop_back();
        return value;
      };
    });
  }

  /// Groups values into lists of `size` values. The last list may be shorter; with drop_last a shorter last
  /// list is dropped.
  Pipeline<std::vector<T>> batch(std::size_t size, bool drop_last = false) const {
    EBB_CHECK(size > 0, "Pipeline::batch: expected a size of at least 1, got 0.");
    return Pipeline<std::vector<T>>([start = start_, size, drop_last] {
      return [next = start(), size, drop_last]() mutable -> std::optional<std::vector<T>> {
        std::vector<T> list;
        while (list.size() < size)
          if (std::optional<T> value = next())
            list.push_back(std::move(*value));
          else
            break;
        if (list.empty() || (drop_last && list.size() < size)) return std::nullopt;
        return list;
      };
    });
  }

  /// Returns the first `count` values.
  Pipeline take(std::size_t count) const {
    return Pipeline([start = start_, count] {
      return [next = start(), left = count]() mutable -> std::optional<T> {
        if (left == 0) return std::nullopt;
        --left;
        return next();
      };
    });
  }

  /// Computes up to `count` values ahead on a separate thread, which runs all steps before this one. An error
  /// of these steps is thrown in the loop, in place of the value.
  Pipeline prefetch(std::size_t count) const {
    EBB_CHECK(count > 0, "Pipeline::prefetch: expected a count of at least 1, got 0.");
    return Pipeline([start = start_, count] {
      return [ahead = std::make_shared<detail::ReadAhead<T>>(start(), count)] { return ahead->take(); };
    });
  }

 private:
  std::function<Next()> start_;
};

namespace datasets {

/// Returns a pipeline of the samples 0, 1, 2, ... of a dataset. `dataset.map(f)` with a lambda is short
/// for `from(dataset).map(f)`; filter, shuffle and prefetch likewise.
template <class DatasetType>
Pipeline<typename DatasetType::ExampleType> from(DatasetType dataset) {
  using T = typename DatasetType::ExampleType;
  EBB_CHECK(dataset.size().has_value(), "data::from: the dataset has no size.");
  auto shared = std::make_shared<DatasetType>(std::move(dataset));
  return Pipeline<T>([shared] {
    return [shared, index = std::size_t{0}]() mutable -> std::optional<T> {
      if (index >= *shared->size()) return std::nullopt;
      return shared->get(index++);
    };
  });
}

}  // namespace datasets

using datasets::from;

}  // namespace ebb::data

// ebb::compile: records a function of tensors once and then replays it.
#pragma once

#include <ebb/autograd/variable.h>

#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// Qt defines a macro emit. A program that uses it calls emit() after #undef emit.
#pragma push_macro("emit")
#undef emit

namespace ebb {

/// Counts and state of a compiled function. `calls`, `replays`, `recordings`, `kinds` and `prepare_seconds`
/// cover all specializations since the function was compiled or reset(). The other fields describe the
/// specialization of the last call. Their numbers are 0 if that specialization is not replayed. A
/// specialization is one combination of argument properties and thread modes (see compile()).
struct CompileReport {
  /// Whether the specialization of the last call has a tape. Its next call is then a replay if the
  /// assumptions of the tape hold.
  bool replayed = false;
  /// Whether replays launch a captured graph of a device. The second replay of a tape captures the graph.
  bool captured = false;
  /// The reason why the specialization is not replayed, or the note that it is still being recorded. Empty if
  /// the specialization is replayed.
  std::string reason;
  /// The number of calls. It excludes calls that overlap another call, and calls within another compiled
  /// function or a capture. It also excludes calls with an argument that is part of a graph, or with anomaly
  /// detection or saved-tensor hooks.
  std::int64_t calls = 0;
  std::int64_t replays = 0;     ///< calls that replayed a tape
  std::int64_t recordings = 0;  ///< calls that ran the function and recorded it
  std::int64_t kinds = 0;       ///< stored specializations, including eager ones; max_kinds at most
  std::int64_t operations = 0;  ///< kernel calls of a replay; an addition that is fused into a matrix product
                                ///< is not counted
  std::int64_t fused = 0;       ///< operations that run fused with others
  /// Bytes of temporary tensors of a replay, on all devices, and of the scratch memory of fused calls.
  std::int64_t arena_bytes = 0;
  /// Bytes of results, of newly allocated gradients, and of constants. Memory that a kernel allocates itself,
  /// and gradients that are accumulated in place, are in neither arena_bytes nor result_bytes.
  std::int64_t result_bytes = 0;
  /// Seconds spent on building tapes: comparing recordings, fusing (with the JIT compiler of a device) and
  /// planning memory. The time of the function itself and of captures is not included.
  double prepare_seconds = 0;
};

struct CompileOptions {
  /// The maximum number of stored specializations. If there are more, the least recently used one is dropped.
  /// If 2 * max_kinds specializations in a row are dropped before they were replayed, new specializations
  /// stay eager, with one warning.
  std::int64_t max_kinds = 16;
  /// Whether chains of elementwise calls on a GPU are compiled into fused kernels. Their results are bitwise
  /// equal to those of separate calls, except that a product followed by a sum is rounded once, not twice.
  /// Fusion is therefore off in deterministic mode. The environment variable EBB_FUSE=0 switches it off too.
  /// Fusion on the CPU changes no bit and is always on.
  bool fuse = true;
};

namespace detail {

/// The part of a compiled function that records and replays. It is independent of the function's type.
class EBB_API CompiledCore {
 public:
  /// Runs the function and appends its results in order.
  using Body = void (*)(void* context, std::vector<Variable>& results);

  explicit CompiledCore(const CompileOptions& options);
  ~CompiledCore();
  CompiledCore(CompiledCore&&) noexcept;
  CompiledCore& operator=(CompiledCore&&) noexcept;

  /// Returns true if `results` come from a replay, false if `body` has run. `numbers` encodes the non-tensor
  /// arguments.
  bool call(const std::vector<Variable>& tensors, const std::string& numbers, Body body, void* context,
            std::vector<Variable>& results);
  CompileReport report() const;
  void emit(const std::string& path) const;
  void reset();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

template <class T>
inline constexpr bool kIsTuple = false;
template <class... T>
inline constexpr bool kIsTuple<std::tuple<T...>> = true;
template <class A, class B>
inline constexpr bool kIsTuple<std::pair<A, B>> = true;
template <class T, std::size_t n>
inline constexpr bool kIsTuple<std::array<T, n>> = true;

/// The arguments of a call, split into tensors and other values.
struct CompiledArguments {
  std::vector<Variable> tensors;
  std::string numbers;

  void add(const Variable& x) { tensors.push_back(x); }
  void add(const std::vector<Variable>& list) {
    add(list.size());
    tensors.insert(tensors.end(), list.begin(), list.end());
  }
  void add(const std::string& text) {
    add(text.size());
    numbers += text;
  }
  template <class T>
  void add(const T& number) {
    static_assert(
        std::is_arithmetic_v<T> || std::is_enum_v<T>,
        "the arguments of a compiled function are tensors, vectors of tensors, numbers and strings");
    numbers.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }
};

template <class R>
void take_apart(const R& result, std::vector<Variable>& into) {
  if constexpr (kIsTuple<R>)
    std::apply([&](const auto&... each) { (take_apart(each, into), ...); }, result);
  else if constexpr (std::is_same_v<R, std::vector<Variable>>)
    into.insert(into.end(), result.begin(), result.end());
  else
    into.push_back(result);
}

template <class R>
R put_together(std::vector<Variable>& results, std::size_t& at) {
  if constexpr (kIsTuple<R>) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return R{put_together<std::tuple_element_t<i, R>>(results, at)...};
    }(std::make_index_sequence<std::tuple_size_v<R>>());
  } else if constexpr (std::is_same_v<R, std::vector<Variable>>) {
    return std::exchange(results, {});
  } else {
    static_assert(std::is_same_v<R, Variable>,
                  "a compiled function returns nothing, a tensor, a tuple of tensors or a vector of tensors");
    return std::move(results[at++]);
  }
}

}  // namespace detail

/// A compiled function, as ebb::compile() returns it. It can be moved but not copied.
template <class F>
class Compiled {
 public:
  Compiled(F function, const CompileOptions& options) : function_(std::move(function)), core_(options) {}

  template <class... Args>
  auto operator()(const Args&... args) {
    using Result = std::remove_cvref_t<std::invoke_result_t<F&, const Args&...>>;
    detail::CompiledArguments taken;
    (taken.add(args), ...);
    std::vector<Variable> results;
    if constexpr (std::is_void_v<Result>) {
      auto body = [&](std::vector<Variable>&) { function_(args...); };
      core_.call(taken.tensors, taken.numbers, &run<decltype(body)>, &body, results);
    } else {
      optional<Result> direct;
      auto body = [&](std::vector<Variable>& into) {
        direct.emplace(function_(args...));
        detail::take_apart(*direct, into);
      };
      if (!core_.call(taken.tensors, taken.numbers, &run<decltype(body)>, &body, results))
        return Result(std::move(*direct));
      std::size_t at = 0;
      return detail::put_together<Result>(results, at);
    }
  }

  /// Returns the counts of all calls and the state of the last call's specialization.
  CompileReport report() const { return core_.report(); }
  /// Writes the tape of the last call's specialization as C++ source: the file `path`, for example
  /// "step.cpp", and its header step.h. If the function reads tensors that are not arguments, emit() writes
  /// them to step.safetensors. The source defines a class named after the file, Step. A call of a Step takes
  /// as many tensors as the function, with the properties of that specialization. The results are bitwise
  /// equal:
  ///
  ///     auto step = ebb::compile([&](Tensor x) {
  ///       NoGradGuard no_grad;
  ///       return net(x);
  ///     });
  ///     for (int i = 0; i < 3; ++i) step(x);  // replayed once two recordings are equal
  ///     step.emit("step.cpp");
  ///     // elsewhere, linked with the target ebb::emitted:
  ///     Step step("step.safetensors");
  ///     Tensor y = step(x);
  ///
  /// Arguments that are not tensors (numbers, strings) keep the values of the recording. A vector of tensors
  /// becomes separate parameters. The result is void, a tensor or a tuple. Tensors that the function reads
  /// are saved with their current values. If the function writes to such tensors, a Step writes to its own
  /// copies. The source calls kernels of this version of ebb, so it must be emitted again for another
  /// version.
  ///
  /// Throws Error if the specialization is not (yet) replayed. Throws in a program that is linked with a
  /// static ebb, because a static ebb does not contain the names of the kernels. Also throws if the tape
  /// contains something that the source cannot express:
  /// - gradients of leaves (return the result of autograd::grad() instead);
  /// - optimizer steps, random numbers and checks of values;
  /// - results whose size depends on values, and devices other than the CPU.
  void emit(const std::string& path) const { core_.emit(path); }
  /// Drops all tapes and all reasons.
  void reset() { core_.reset(); }

 private:
  template <class Body>
  static void run(void* body, std::vector<Variable>& into) {
    (*static_cast<Body*>(body))(into);
  }

  F function_;
  detail::CompiledCore core_;
};

/// Returns a function that computes the same results as `function`. From its third or fourth call on, the
/// returned function builds no graph, computes no shapes and allocates nothing. It replays the recorded
/// kernel calls in the same order on the new values. The results are bitwise equal. `function` may contain a
/// whole training step:
///
///     auto step = ebb::compile([&](Tensor x, Tensor y) {
///       optimizer.zero_grad();
///       Tensor loss = F::cross_entropy(net(x), y);
///       loss.backward();
///       optimizer.step();
///       return loss;
///     });
///     for (auto& batch : *loader) step(batch.data, batch.target);
///
/// Arguments are tensors, vectors of tensors, numbers and strings. Results are void, a tensor, a tuple, pair
/// or array of tensors, or a vector of them. Results of a function that calls backward() are not part of a
/// graph.
///
/// Each specialization has its own tape. A specialization is defined by the shapes, strides, dtypes, devices
/// and requires_grad of the tensors, and the values of the other arguments. It is also defined by the modes
/// of the thread (gradients, inference, autocast), by determinism, and by the modules that are in training
/// mode. The tape is built when two calls in a row have recorded the same kernel calls. A replay uses the
/// current values of parameters, of buffers, and of captured tensors that were written in place. It also uses
/// the current optimizer options (such as learning rates), step counts and random generators. The function is
/// recorded again if a tensor that it reads is replaced (set_data(), to(), load()), freed, frozen or
/// unfrozen, or if the memory of gradients has moved.
///
/// The function stays eager, with report().reason and one warning, in these cases:
/// - values decide its behaviour (item(), nonzero(), conditions, printing tensors);
/// - its results are part of a graph;
/// - it stores tensors other than results and gradients;
/// - it changes the shape, requires_grad, mode or hooks of a tensor or module from outside;
/// - no two calls in a row record the same kernel calls.
/// Side effects of the function on anything but tensors (strings, counters, hooks) happen during recording
/// and not in replays. Two changes are not detected: a captured handle is assigned another tensor while the
/// old one is still referenced elsewhere, or a captured handle was undefined and is assigned. To avoid both
/// cases, pass the tensor as an argument.
///
/// On Device::CUDA the tape becomes a captured graph (cuda::Graph) if all its memory is on one device and no
/// argument is written to. Results are then copies of the graph's outputs. Move batches to the device before
/// the call. Chains of elementwise calls become fused kernels, which may change the last bits: see
/// CompileOptions::fuse.
///
/// Threads: when calls overlap, all except one are eager. The function may call report(), reset() and emit().
/// Nested calls belong to the outer recording. An exception from the function or a kernel propagates, and the
/// next call records again.
template <class F>
Compiled<std::decay_t<F>> compile(F&& function, const CompileOptions& options = {}) {
  return {std::forward<F>(function), options};
}

}  // namespace ebb

#pragma pop_macro("emit")

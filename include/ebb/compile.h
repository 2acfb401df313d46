// Functions of tensors that are recorded once and then replayed.
#pragma once

#include <ebb/autograd/variable.h>

#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// A macro of Qt's; a program with those keywords calls emit() after #undef emit.
#pragma push_macro("emit")
#undef emit

namespace ebb {

/// The record of a compiled function's calls. The counts are of all kinds of arguments together, since it
/// was compiled or reset(); the rest is about the kind of the last call, and 0 unless it is replayed.
struct CompileReport {
  /// Whether the last call's kind has a tape, so that its next call is a replay if what the tape assumes
  /// holds.
  bool replayed = false;
  /// Whether replays launch a captured graph of a device: the second replay of a tape makes it.
  bool captured = false;
  /// If it is not replayed: what keeps it from that, or that it is still being recorded. Empty otherwise.
  std::string reason;
  /// Calls, but for those that cannot be tried: that overlap another call, run within another compiled
  /// function or a capture, have an argument that is part of a graph, or come with anomaly detection or hooks
  /// on saved tensors.
  std::int64_t calls = 0;
  std::int64_t replays = 0;     ///< of them, those that made the kernel calls of a tape
  std::int64_t recordings = 0;  ///< of them, those that ran the function and recorded it
  std::int64_t kinds = 0;       ///< of arguments and modes, eager ones too, that are kept: max_kinds at most
  std::int64_t operations = 0;  ///< kernel calls of a replay; an addition that a product makes is none
  std::int64_t fused = 0;       ///< of the operations, those that run together with others
  /// Bytes for tensors that come and go within a replay, on all devices, and for what fused calls work in.
  std::int64_t arena_bytes = 0;
  /// Bytes of results, of gradients that are made anew, and of constants. Memory that a kernel allocates
  /// itself, and gradients that are added to in place, are in neither figure.
  std::int64_t result_bytes = 0;
  /// Seconds spent on making tapes of what was recorded: comparing, fusing (with the compiler of a device's
  /// kernels) and planning memory. The time of the function itself, and of captures, is not in it.
  double prepare_seconds = 0;
};

struct CompileOptions {
  /// Kinds of arguments whose tapes are kept; of more, those that were used longest ago are dropped. If twice
  /// as many in a row are dropped before they were replayed, other kinds stay eager, with one warning.
  std::int64_t max_kinds = 16;
  /// Whether chains of elementwise calls on a GPU are compiled into kernels of their own. Those give the bits
  /// of the separate calls but for products that meet a sum, which become one rounding where they were two;
  /// so this is off in deterministic mode, and where the environment variable EBB_FUSE is 0. On the CPU,
  /// where no bit changes, calls always run together.
  bool fuse = true;
};

namespace detail {

/// Who records and replays; knows nothing of the function's type.
class EBB_API CompiledCore {
 public:
  /// Runs the function and adds its results, in order.
  using Body = void (*)(void* context, std::vector<Variable>& results);

  explicit CompiledCore(const CompileOptions& options);
  ~CompiledCore();
  CompiledCore(CompiledCore&&) noexcept;
  CompiledCore& operator=(CompiledCore&&) noexcept;

  /// True: `results` are those of a replay. False: `body` has run. `numbers` are the arguments that are no
  /// tensors.
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

/// The arguments of a call, taken apart.
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
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>,
                  "the arguments of a compiled function are tensors, vectors of them, numbers and strings");
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
                  "a compiled function returns nothing, a tensor, a tuple of tensors or a vector of them");
    return std::move(results[at++]);
  }
}

}  // namespace detail

/// What ebb::compile() makes of a function. It moves, and is not copied.
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

  /// Counts of all calls, and what is done with the kind of arguments that came last.
  CompileReport report() const { return core_.report(); }
  /// Writes the tape of the kind of arguments that came last as C++: `path`, such as "step.cpp", its header
  /// and, if it reads tensors besides its arguments, a file of them with the same name (step.h,
  /// step.safetensors). They define a class named after the file, Step, which computes what the function
  /// does, with the same bits, of as many tensors as it took, for arguments of that kind:
  ///
  ///     auto step = ebb::compile([&](Tensor x) {
  ///       NoGradGuard no_grad;
  ///       return net(x);
  ///     });
  ///     for (int i = 0; i < 3; ++i) step(x);  // it is replayed once two calls did the same
  ///     step.emit("step.cpp");
  ///     // elsewhere, linked with the target ebb::emitted:
  ///     Step step("step.safetensors");
  ///     Tensor y = step(x);
  ///
  /// Other arguments (numbers, strings) are as they were. Vectors of tensors are taken apart, results come as
  /// nothing, a tensor or a tuple. Tensors that the function reads are written as they are now; where it
  /// writes to them, an object of the class does so to its own. The source calls kernels of this version of
  /// ebb: emit it again for another.
  ///
  /// Throws Error where calls of that kind are not replayed (yet), and where there is what such a source
  /// cannot do: gradients of leaves (return what autograd::grad() gives), steps of optimizers, random
  /// numbers, checks of values, results whose size follows from values, devices other than the CPU; and in a
  /// program that is linked with a static ebb, which has not the names of the kernels.
  void emit(const std::string& path) const { core_.emit(path); }
  /// Forgets all tapes and all reasons.
  void reset() { core_.reset(); }

 private:
  template <class Body>
  static void run(void* body, std::vector<Variable>& into) {
    (*static_cast<Body*>(body))(into);
  }

  F function_;
  detail::CompiledCore core_;
};

/// A function that computes what `function` does, from its third or fourth call on without building a graph,
/// deciding shapes or allocating: the kernel calls that it made are recorded and made again, in the same
/// order and on the same values, so results are the same bit for bit. It may do what a training step does:
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
/// Arguments: tensors, vectors of tensors, numbers and strings. Results: nothing, a tensor, a tuple, pair or
/// array of tensors, or a vector of them; after a backward() within the function they are no part of a graph.
///
/// A tape belongs to one kind of call: shapes, strides, dtypes, devices and requires_grad of the tensors, the
/// other arguments' values, the modes of the thread (gradients, inference, autocast), determinism, and which
/// modules train. It is made once two calls in a row have done the same. It follows what is written to
/// parameters, buffers and captured tensors in place, learning rates and other options of optimizers, their
/// counts of steps, and random generators. It is recorded anew when a tensor that it reads has been replaced
/// (set_data(), to(), load()), freed, frozen or unfrozen, and when gradients are not where they were.
///
/// The function stays as it is, eager, with report().reason, and with one warning, if values decide what it
/// does (item(), nonzero(), conditions, printing tensors), if its results are part of a graph, if it keeps
/// tensors elsewhere than in results and gradients, if it leaves a tensor or a module that it found with
/// another shape, requires_grad, mode or hooks, or if two calls in a row never do the same. What it does
/// besides tensors (texts, counts, hooks) happens while it is recorded and not in replays; a captured handle
/// that is given another tensor while the old one is still held elsewhere, or that was undefined, is not
/// noticed: pass it as an argument.
///
/// On Device::CUDA the tape becomes a captured graph (cuda::Graph), where all that it works on is on one
/// device and no argument is written to; results are then copies of what the graph writes. Batches must be
/// moved to the device before the call. Chains of elementwise calls become kernels of their own, which may
/// change last bits: see CompileOptions::fuse.
///
/// Threads: calls that overlap are eager, but for one. report(), reset() and emit() may be called within the
/// function. Nested calls belong to the outer recording. An
/// exception out of the function or a kernel passes on, and the next call records anew.
template <class F>
Compiled<std::decay_t<F>> compile(F&& function, const CompileOptions& options = {}) {
  return {std::forward<F>(function), options};
}

}  // namespace ebb

#pragma pop_macro("emit")

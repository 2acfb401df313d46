// A kernel call with copies of its arguments, to be made again.
#pragma once

#include <ebb/core/random.h>
#include <ebb/core/scalar.h>

#include "core/recorder.h"
#include "kernel/element_row.h"
#include "kernel/entry_list.h"
#include "kernel/fields.h"
#include "kernel/philox.h"

#include <cstring>
#include <optional>
#include <vector>

namespace ebb::detail {

/// What is done with each part of a call's arguments, in order.
class ArgumentVisitor {
 public:
  virtual void array(NdArray& array) = 0;
  /// An address within an array's memory.
  virtual void address(void*& at) = 0;
  /// The words of a draw: of a written argument they have just been drawn.
  virtual void words(Philox& philox) = 0;
  virtual void plain(const void* bytes, std::size_t count) = 0;
  /// Whether the kernel writes to the argument that comes now.
  bool written = false;

 protected:
  ~ArgumentVisitor() = default;
};

/// What was called, so that it can be called again.
class KeptCall {
 public:
  explicit KeptCall(const char* name) : name_(name) {}
  virtual ~KeptCall() = default;
  KeptCall(const KeptCall&) = delete;
  KeptCall& operator=(const KeptCall&) = delete;

  virtual void run() = 0;
  virtual void visit(ArgumentVisitor& visitor) = 0;
  /// Whether what the call reads besides its arguments is still there; asked only if watched().
  virtual bool holds() const { return true; }
  virtual bool watched() const { return false; }
  /// Whether each element of what it writes follows from the same element of what it reads.
  virtual bool per_element() const { return false; }
  /// Its row, where it is an elementwise kernel of the CPU: the array that it writes. Else null.
  virtual const NdArray* element_row(ElementRow&) { return nullptr; }
  const char* name() const { return name_; }

 private:
  const char* name_;
};

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

// There is one of these for each kernel: small rather than fast, as all that only recordings run.
template <class T>
[[gnu::cold]] void visit_argument(T& x, ArgumentVisitor& v) {
  if constexpr (std::is_same_v<T, NdArray>) {
    v.array(x);
  } else if constexpr (std::is_same_v<T, Philox>) {
    v.words(x);
  } else if constexpr (std::is_same_v<T, Generator>) {
    const void* const state = &x.state();
    v.plain(&state, sizeof(state));
  } else if constexpr (std::is_same_v<T, Scalar>) {
    const bool kinds[2] = {x.is_floating_point(), x.is_boolean()};
    v.plain(kinds, sizeof(kinds));
    const double real = kinds[0] ? x.template to<double>() : 0;
    const std::int64_t whole = kinds[0] ? 0 : x.template to<std::int64_t>();
    v.plain(&real, sizeof(real));
    v.plain(&whole, sizeof(whole));
  } else if constexpr (std::is_same_v<T, const char*>) {
    v.plain(x, std::strlen(x));
  } else if constexpr (requires { x.visit(v); }) {
    x.visit(v);
  } else if constexpr (kIsOptional<T>) {
    const bool there = x.has_value();
    v.plain(&there, sizeof(there));
    if (there) visit_argument(*x, v);
  } else if constexpr (std::is_array_v<T>) {
    for (auto& each : x) visit_argument(each, v);
  } else if constexpr (requires { x.begin(), x.end(), x.size(); }) {
    const std::size_t size = x.size();
    v.plain(&size, sizeof(size));
    for (auto& each : x) visit_argument(each, v);
  } else if constexpr (std::is_empty_v<T>) {
  } else if constexpr (std::is_floating_point_v<T> || std::has_unique_object_representations_v<T>) {
    static_assert(!std::is_pointer_v<T>, "what it points to must be kept too");
    v.plain(&x, sizeof(x));
  } else {
    std::apply([&](auto&... each) { (visit_argument(each, v), ...); }, fields_of(x));
  }
}

/// The copy that is kept of an argument of type T; void where there cannot be one.
template <class T>
struct KeptAs {
  using type = std::conditional_t<std::is_pointer_v<T>, void, T>;
};

/// An array, out of line: there are hundreds of kinds of calls.
class EBB_API KeptArray {
 public:
  KeptArray(const NdArray& array);
  KeptArray(const KeptArray& other);
  KeptArray& operator=(const KeptArray&) = delete;
  ~KeptArray();
  operator NdArray&() { return array_; }
  void visit(ArgumentVisitor& v) { v.array(array_); }

 private:
  NdArray array_;
};
template <>
struct KeptAs<NdArray> {
  using type = KeptArray;
};

/// An ArrayRef that owns its values.
template <class T>
struct KeptList {
  std::vector<T> values;

  KeptList(ArrayRef<T> list) : values(list.begin(), list.end()) {}
  operator ArrayRef<T>() const { return values; }
  void visit(ArgumentVisitor& v) { visit_argument(values, v); }
};
template <class T>
struct KeptAs<ArrayRef<T>> {
  using type = KeptList<T>;
};

/// An EntryList that owns its entries.
struct KeptEntries {
  Device device;
  DType dtype;
  std::vector<TensorEntry> entries;

  KeptEntries(const EntryList& list)
      : device(list.device), dtype(list.dtype), entries(list.entries.begin(), list.entries.end()) {}
  operator EntryList() const { return {device, dtype, entries}; }
  void visit(ArgumentVisitor& v) {
    visit_argument(dtype, v);
    for (TensorEntry& entry : entries) {
      visit_argument(entry.count, v);
      for (void*& at : entry.at) v.address(at);
    }
  }
};
template <>
struct KeptAs<EntryList> {
  using type = KeptEntries;
};

/// Of an argument that only kernels take that work element by element.
template <class T>
inline constexpr bool kPerElement = false;

template <class... Args>
inline constexpr bool kCanBeKept = (!std::is_void_v<typename KeptAs<std::remove_cvref_t<Args>>::type> && ...);

template <class... Args>
class KeptSlotCall final : public KeptCall {
 public:
  using Function = void (*)(Args...);

  [[gnu::cold, gnu::noinline]] KeptSlotCall(const char* name, Function function, Args... args)
      : KeptCall(name), function_(function), kept_(args...) {}
  [[gnu::cold]] ~KeptSlotCall() override {}  // NOLINT(modernize-use-equals-default): or it would not be cold

  void run() override {
    std::apply([this](auto&... each) { function_(each...); }, kept_);
  }
  [[gnu::cold]] void visit(ArgumentVisitor& v) override { visit(v, std::index_sequence_for<Args...>()); }
  bool per_element() const override { return kRows; }
  [[gnu::cold]] const NdArray* element_row(ElementRow& row) override {
    const NdArray* written = nullptr;
    if constexpr (kRows) {
      const auto ask = [&](NdArray& out, auto&... operands) {
        if (!out.device().is_cpu()) return;
        NdArray nothing = NdArray::empty({0}, out.dtype());
        const AskRow scope(row);
        function_(nothing, operands...);
        written = &out;
      };
      std::apply(ask, kept_);
    }
    return written;
  }
  auto& arguments() { return kept_; }
  Function function() const { return function_; }

 private:
  static constexpr bool kRows = (kPerElement<std::remove_cvref_t<Args>> || ...);

  template <std::size_t... I>
  void visit(ArgumentVisitor& v, std::index_sequence<I...>) {
    ((v.written = std::is_lvalue_reference_v<Args> && !std::is_const_v<std::remove_reference_t<Args>>,
      visit_argument(std::get<I>(kept_), v)),
     ...);
  }

  Function function_;
  std::tuple<typename KeptAs<std::remove_cvref_t<Args>>::type...> kept_;
};

/// Calls a kernel for a thread that is being recorded.
template <class... Args>
[[gnu::cold]] void call_recorded(const char* name, void (*kernel)(Args...), Args... args) {
  Recorder* const recorder = current_recorder();
  if (!recorder) return kernel(static_cast<Args>(args)...);
  if constexpr (kCanBeKept<Args...>) {
    auto kept = std::make_unique<KeptSlotCall<Args...>>(name, kernel, static_cast<Args>(args)...);
    recorder->begin(*kept);
    {
      const RecorderScope inside(nullptr);
      kernel(static_cast<Args>(args)...);
    }
    KeptSlotCall<Args...> after(name, kernel, static_cast<Args>(args)...);
    recorder->end(std::move(kept), after);
  } else {
    recorder->refuse(std::string(name) + " takes what a tape cannot keep");
    const RecorderScope inside(nullptr);
    kernel(static_cast<Args>(args)...);
  }
}

}  // namespace ebb::detail

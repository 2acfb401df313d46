// A recorded kernel call: copies of its arguments, so that it can run again.
#pragma once

#include <ebb/core/random.h>
#include <ebb/core/scalar.h>

#include "core/allocator.h"
#include "core/recorder.h"
#include "kernel/call/arguments.h"
#include "kernel/call/kernel_traits.h"
#include "kernel/philox.h"

#include <optional>
#include <typeinfo>
#include <vector>

namespace ebb::detail {

/// Visits the parts of a call's arguments, in order.
class EBB_API ArgumentVisitor {
 public:
  virtual void array(NdArray& array) = 0;
  /// Visits an address within an array's memory.
  virtual void address(void*& at) = 0;
  /// Visits a Philox state. If `written` is true, the call draws the state; otherwise it only reads the
  /// state.
  virtual void words(Philox& philox) = 0;
  /// Visits other data by which two calls differ: scalars, strings, lengths of lists.
  virtual void plain(const void* bytes, std::size_t count) = 0;

  // Visit single values of plain data. The default implementations call plain(); visitors that need the types
  // override them.
  virtual void number(const void* value, std::size_t bytes, const std::type_info& type);
  virtual void scalar(const Scalar& value);
  virtual void text(const char* value);
  /// The structure of an argument with several parts.
  enum class Group : std::uint8_t {
    record,    ///< members in order
    derived,   ///< members after an empty base class
    list,      ///< elements
    optional,  ///< a value, or nothing
  };
  /// Begins a group. The parts of the group follow until close().
  virtual void open(Group group, const std::type_info& type);
  virtual void close();

  /// True if the kernel writes to the current argument.
  bool written = false;

 protected:
  ~ArgumentVisitor() = default;
};

/// A kernel slot of any signature.
class AnySlot {
 public:
  const char* name() const { return name_; }
  const KernelTraits& traits() const { return traits_; }

 protected:
  constexpr AnySlot(const char* name, const KernelTraits& traits) : name_(name), traits_(traits) {}

 private:
  const char* name_;
  KernelTraits traits_;
};

/// The recorded call.
class KeptCall {
 public:
  explicit KeptCall(const char* name) : name_(name) {}
  explicit KeptCall(const AnySlot& slot) : name_(slot.name()), slot_(&slot) {}
  virtual ~KeptCall() = default;
  KeptCall(const KeptCall&) = delete;
  KeptCall& operator=(const KeptCall&) = delete;

  virtual void run() = 0;
  virtual void visit(ArgumentVisitor& visitor) = 0;
  /// Returns whether data that the call reads in addition to its arguments still exists. Called only if
  /// watched() returns true.
  virtual bool holds() const { return true; }
  virtual bool watched() const { return false; }
  const char* name() const { return name_; }
  /// Returns the slot; null if the call is not a call of a slot.
  const AnySlot* slot() const { return slot_; }
  KernelTraits traits() const { return slot_ ? slot_->traits() : KernelTraits(); }
  /// Returns the call with its arguments if it is a call of `slot`, otherwise null.
  template <class Slot>
  typename Slot::Kept* as(const Slot& slot) {
    const AnySlot* const wanted = &slot;
    return slot_ == wanted ? static_cast<typename Slot::Kept*>(this) : nullptr;
  }

  /// Returns whether the kernel is elementwise: each output element depends only on the input elements at the
  /// same position.
  bool per_element() const { return traits().element_row != nullptr; }
  /// Describes a call of an elementwise kernel in `row`, and returns the array that the call writes. Returns
  /// null if the kernel is not elementwise or the call cannot be described.
  const NdArray* element_row(ElementRow& row) {
    return per_element() ? traits().element_row(*this, row) : nullptr;
  }

 private:
  const char* name_;
  const AnySlot* slot_ = nullptr;
};

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

// This function is instantiated for each kernel. [[gnu::cold]] optimises it for size, because it runs only in
// recordings.
template <class T>
[[gnu::cold]] void visit_argument(T& x, ArgumentVisitor& v) {
  if constexpr (std::is_same_v<T, NdArray>) {
    v.array(x);
  } else if constexpr (std::is_same_v<T, Philox>) {
    v.words(x);
  } else if constexpr (std::is_same_v<T, Generator>) {
    const void* const state = &x.state();
    v.number(&state, sizeof(state), typeid(T));
  } else if constexpr (std::is_same_v<T, Scalar>) {
    v.scalar(x);
  } else if constexpr (std::is_same_v<T, const char*>) {
    v.text(x);
  } else if constexpr (requires { x.visit(v); }) {
    x.visit(v);
  } else if constexpr (kIsOptional<T>) {
    const bool there = x.has_value();
    v.plain(&there, sizeof(there));
    v.open(ArgumentVisitor::Group::optional, typeid(T));
    if (there) visit_argument(*x, v);
    v.close();
  } else if constexpr (std::is_array_v<T> || requires { x.begin(), x.end(), x.size(); }) {
    const std::size_t size = std::size(x);
    v.plain(&size, sizeof(size));
    v.open(ArgumentVisitor::Group::list, typeid(T));
    for (auto& each : x) visit_argument(each, v);
    v.close();
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, Device>) {
    v.number(&x, sizeof(x), typeid(T));
  } else {
    static_assert(!std::is_pointer_v<T>, "what it points to must be kept too");
    v.open(kEmptyBase<T> ? ArgumentVisitor::Group::derived : ArgumentVisitor::Group::record, typeid(T));
    if constexpr (!std::is_empty_v<T>)
      std::apply([&](auto&... each) { (visit_argument(each, v), ...); }, fields_of(x));
    v.close();
  }
}

/// The stored copy of an argument of type T; void if it cannot be copied.
template <class T>
struct KeptAs {
  using type = std::conditional_t<std::is_pointer_v<T>, void, T>;
};

/// A stored array. Its functions are defined in the .cpp file, so that the code of hundreds of call types
/// remains small.
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

/// The properties of a slot that follow from its signature. A tape relies on no other properties. A call is
/// not recorded if its kernel needs more than its arguments, or if an argument cannot be copied. The compiled
/// function then always runs eagerly.
template <class... Args>
struct Signature {
  /// True if a call can be repeated with copies of its arguments. A replay replaces the memory of the arrays
  /// and the addresses in these copies, and draws random numbers again.
  static constexpr bool can_be_kept =
      (!std::is_void_v<typename KeptAs<std::remove_cvref_t<Args>>::type> && ...);
  /// True if the kernel writes to an argument of type Arg.
  template <class Arg>
  static constexpr bool writes =
      std::is_lvalue_reference_v<Arg> && !std::is_const_v<std::remove_reference_t<Arg>>;
};

template <class Kernel>
class KeptSlotCall;
template <class R, class... Args>
class KeptSlotCall<R(Args...)> final : public KeptCall {
 public:
  using Function = R (*)(Args...);

  [[gnu::cold, gnu::noinline]] KeptSlotCall(const AnySlot& slot, Function function, Args... args)
      : KeptCall(slot), function_(function), kept_(args...) {}
  [[gnu::cold]] ~KeptSlotCall() override {}  // NOLINT(modernize-use-equals-default): = default is not cold

  void run() override {
    name_memory_errors(name(), [this] { std::apply([this](auto&... each) { function_(each...); }, kept_); });
  }
  [[gnu::cold]] void visit(ArgumentVisitor& v) override { visit(v, std::index_sequence_for<Args...>()); }
  auto& arguments() { return kept_; }
  Function function() const { return function_; }

 private:
  template <std::size_t... I>
  void visit(ArgumentVisitor& v, std::index_sequence<I...>) {
    ((v.written = Signature<Args...>::template writes<Args>, visit_argument(std::get<I>(kept_), v)), ...);
  }

  Function function_;
  std::tuple<typename KeptAs<std::remove_cvref_t<Args>>::type...> kept_;
};

/// Calls a kernel on a thread that is being recorded.
template <class R, class... Args>
[[gnu::cold]] R call_recorded(const AnySlot& slot, R (*kernel)(Args...), Args... args) {
  Recorder* const recorder = current_recorder();
  if (!recorder) return kernel(static_cast<Args>(args)...);
  const auto call = [&] {
    const RecorderScope inside(nullptr);
    return kernel(static_cast<Args>(args)...);
  };
  if constexpr (Signature<Args...>::can_be_kept) {
    using Kept = KeptSlotCall<R(Args...)>;
    auto kept = std::make_unique<Kept>(slot, kernel, static_cast<Args>(args)...);
    recorder->begin(*kept);
    const auto end = [&] {
      Kept after(slot, kernel, static_cast<Args>(args)...);
      recorder->end(std::move(kept), after);
    };
    if constexpr (std::is_void_v<R>) {
      call();
      end();
    } else {
      const R result = call();
      end();
      return result;
    }
  } else {
    recorder->refuse(std::string(slot.name()) + " takes an argument that a tape cannot keep");
    return call();
  }
}

}  // namespace ebb::detail

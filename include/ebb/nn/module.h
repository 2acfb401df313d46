// Module: the base of everything that has parameters.
#pragma once

#include <ebb/archive.h>
#include <ebb/autograd/variable.h>
#include <ebb/nn/module_hooks.h>
#include <ebb/nn/ordered_dict.h>
#include <ebb/nn/training_flag.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace ebb {

extern template class OrderedDict<std::string, Variable>;

namespace nn {

template <class Contained>
class ModuleHolder;

namespace detail {
/// Names of classes begin with this, in all of the process, where they begin with "ebb" otherwise; a literal.
EBB_API void set_printed_namespace(const char* name) noexcept;
struct ModuleAccess;
struct ModuleHolderBase {};
template <class T>
concept Holder = std::is_base_of_v<ModuleHolderBase, std::remove_cvref_t<T>>;
}  // namespace detail

/// What load_state_dict left as it was, and what it had no place for.
struct IncompatibleKeys {
  std::vector<std::string> missing_keys;     ///< of the module, not in the state
  std::vector<std::string> unexpected_keys;  ///< of the state, not in the module
};
/// "<All keys matched successfully>", or both lists, a name a line.
EBB_API std::ostream& operator<<(std::ostream& stream, const IncompatibleKeys& keys);

/// A tree of submodules, parameters (tensors to learn) and buffers (tensors to keep). Derive from it, create
/// what the module owns in the constructor by register_module / register_parameter / register_buffer, and
/// write a forward(). Modules are kept in std::shared_ptr, as by the handles ModuleHolder makes
/// (torch::nn::Module).
class EBB_API Module : public std::enable_shared_from_this<Module> {
 public:
  using ModuleApplyFunction = std::function<void(Module&)>;
  using ConstModuleApplyFunction = std::function<void(const Module&)>;
  using NamedModuleApplyFunction = std::function<void(const std::string&, Module&)>;
  using ConstNamedModuleApplyFunction = std::function<void(const std::string&, const Module&)>;
  using ModulePointerApplyFunction = std::function<void(const std::shared_ptr<Module>&)>;
  using NamedModulePointerApplyFunction =
      std::function<void(const std::string&, const std::shared_ptr<Module>&)>;
  using StateDict = OrderedDict<std::string, Variable>;

  /// The name is the C++ type's unless given here.
  explicit Module(std::string name);
  Module();
  Module(const Module&);
  Module& operator=(const Module&);
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  virtual ~Module();

  /// What it was given, or else the class: "ebb::nn::LinearImpl" ("torch::nn::LinearImpl" in a program that
  /// includes libtorch's headers of ebb::torch).
  const std::string& name() const noexcept;
  /// Where the module hangs in the tree it was registered in: "encoder.0.fc"; empty for a root.
  std::string path() const;

  /// A deep copy; Cloneable provides it, other modules throw.
  virtual std::shared_ptr<Module> clone(const optional<Device>& device = nullopt) const;

  // The whole tree, parents first.
  void apply(const ModuleApplyFunction& function);
  void apply(const ConstModuleApplyFunction& function) const;
  void apply(const NamedModuleApplyFunction& function, const std::string& name_prefix = std::string());
  void apply(const ConstNamedModuleApplyFunction& function,
             const std::string& name_prefix = std::string()) const;
  void apply(const ModulePointerApplyFunction& function) const;
  void apply(const NamedModulePointerApplyFunction& function,
             const std::string& name_prefix = std::string()) const;

  /// Each once, however many names it has.
  std::vector<Variable> parameters(bool recurse = true) const;
  /// Names are dotted paths: "fc1.weight". A parameter that several modules share has the first one's name.
  StateDict named_parameters(bool recurse = true) const;
  std::vector<Variable> buffers(bool recurse = true) const;
  StateDict named_buffers(bool recurse = true) const;
  /// This module and all below it. With include_self the module must live in a std::shared_ptr.
  std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_modules(
      const std::string& name_prefix = std::string(), bool include_self = true) const;
  std::vector<std::shared_ptr<Module>> children() const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_children() const;

  /// The module at a dotted path, this one at an empty path. Throws with the nearest names if there is none
  /// (torch.nn.Module.get_submodule).
  std::shared_ptr<Module> get_submodule(const std::string& target) const;
  /// The parameter, or the buffer, at a dotted path.
  Variable get_parameter(const std::string& target) const;
  Variable get_buffer(const std::string& target) const;

  /// Training mode changes what dropout and batch normalisation do. Calls the children's first, as
  /// zero_grad() does; more than 256 levels down, modules are called before those above them.
  virtual void train(bool on = true);
  void eval();
  virtual bool is_training() const noexcept;

  /// Moves or converts all parameters and buffers in place; as in libtorch, a dtype applies to integers too
  /// (BatchNorm's num_batches_tracked).
  virtual void to(Device device, DType dtype, bool non_blocking = false);
  virtual void to(DType dtype, bool non_blocking = false);
  virtual void to(Device device, bool non_blocking = false);
  /// Lays the parameters and buffers of 4 dimensions (ChannelsLast), of 5 (ChannelsLast3d) or all
  /// (Contiguous) out in a memory format; convolutions with channels-last weights give channels-last results
  /// (Python's module.to(memory_format=...)).
  virtual void to(MemoryFormat format);

  /// Clears all gradients: to zeros, or to undefined with set_to_none. The default is libtorch 1.13's.
  virtual void zero_grad(bool set_to_none = false);

  template <class ModuleType>
  auto as() noexcept {
    if constexpr (detail::Holder<ModuleType>)
      return dynamic_cast<typename ModuleType::ContainedType*>(this);
    else
      return dynamic_cast<ModuleType*>(this);
  }
  template <class ModuleType>
  auto as() const noexcept {
    if constexpr (detail::Holder<ModuleType>)
      return dynamic_cast<const typename ModuleType::ContainedType*>(this);
    else
      return dynamic_cast<const ModuleType*>(this);
  }

  /// What operator<< prints of this module alone: "ebb::nn::Linear(in_features=4, out_features=5,
  /// bias=true)".
  virtual void pretty_print(std::ostream& stream) const;

  /// Adds a parameter; `tensor` may be undefined (an optional parameter left out). Returns it.
  Variable& register_parameter(std::string name, Variable tensor, bool requires_grad = true);
  /// Adds a tensor that belongs to the state but is not learnt. Returns it.
  Variable& register_buffer(std::string name, Variable tensor);
  /// Adds a submodule and returns it: `fc = register_module("fc", nn::Linear(3, 4));`
  template <class ModuleType>
  std::shared_ptr<ModuleType> register_module(std::string name, std::shared_ptr<ModuleType> module) {
    add_child(std::move(name), module);
    return module;
  }
  template <class ModuleType>
  std::shared_ptr<ModuleType> register_module(std::string name, ModuleHolder<ModuleType> holder) {
    return register_module(std::move(name), holder.ptr());
  }
  /// Puts another module in the place of a registered one.
  template <class ModuleType>
  std::shared_ptr<ModuleType> replace_module(const std::string& name, std::shared_ptr<ModuleType> module) {
    replace_child(name, module);
    return module;
  }
  template <class ModuleType>
  std::shared_ptr<ModuleType> replace_module(const std::string& name, ModuleHolder<ModuleType> holder) {
    return replace_module(name, holder.ptr());
  }
  void unregister_module(const std::string& name);
  /// Puts another tensor in the place of a registered parameter, so that modules can share one; assign what
  /// is returned to the module's member, too: `head->weight = head->replace_parameter("weight",
  /// table->weight)`. parameters() then has it once, state_dict() under each name.
  Variable& replace_parameter(const std::string& name, Variable tensor);
  /// What clone() calls on the copy, once it has all its tensors. Override it where modules below share
  /// parameters, and call it from the constructor or reset(): a copy of the whole could not know how to share
  /// them among its members, and is an error where it would not.
  virtual void tie_weights();

  /// Runs before each call of the module: hook(module, inputs), with the tensors among the arguments (also
  /// those in lists, optionals and tuples). It may return others, as a variable_list, an optional one or, for
  /// one input, a Variable. Calls are `module(...)` of a handle, and those by Sequential and AnyModule;
  /// module->forward(...) runs no hooks. Hooks run in order of registration; with `prepend` this one comes
  /// first (torch.nn.Module.register_forward_pre_hook, and so on below).
  template <class Hook>
  RemovableHandle register_forward_pre_hook(Hook hook, bool prepend = false) {
    return add_hook(Moment::forward, detail::PreHook(detail::replacing(std::move(hook))), prepend);
  }
  /// Runs after each call: hook(module, inputs, outputs), with the tensors of the result, which it may
  /// replace by returning others.
  template <class Hook>
  RemovableHandle register_forward_hook(Hook hook, bool prepend = false) {
    return add_hook(Moment::forward, detail::PostHook(detail::replacing(std::move(hook))), prepend);
  }
  /// Runs in backward when the gradients of the module's outputs are there: hook(module, grad_outputs), which
  /// may replace them. One is undefined where there is none.
  template <class Hook>
  RemovableHandle register_full_backward_pre_hook(Hook hook, bool prepend = false) {
    return add_hook(Moment::backward, detail::PreHook(detail::replacing(std::move(hook))), prepend);
  }
  /// Runs in backward when the gradients of the module's inputs are there, or, where no input requires grad,
  /// those of its outputs: hook(module, grad_inputs, grad_outputs), which may replace grad_inputs.
  template <class Hook>
  RemovableHandle register_full_backward_hook(Hook hook, bool prepend = false) {
    return add_hook(Moment::backward, detail::PostHook(detail::replacing(std::move(hook))), prepend);
  }
  /// Runs before state_dict() takes this module's tensors: hook(module, prefix), with "encoder.0.", say.
  RemovableHandle register_state_dict_pre_hook(StateDictPreHook hook);
  /// Runs when state_dict() has all names, the innermost modules' first: hook(module, state, prefix), which
  /// may change the state.
  RemovableHandle register_state_dict_post_hook(StateDictPostHook hook);
  /// Runs before a state is checked and loaded, the outermost modules' first: hook(module, state, prefix),
  /// which may change the state, for example rename entries. A file is read as a whole where there is one.
  RemovableHandle register_load_state_dict_pre_hook(LoadStateDictPreHook hook);
  /// Runs when a state has been loaded, the innermost modules' first: hook(module, keys), which may take
  /// names off the keys; missing and unexpected ones that remain are an error if loading is strict.
  RemovableHandle register_load_state_dict_post_hook(LoadStateDictPostHook hook);
  bool has_hooks() const noexcept { return static_cast<bool>(hooks_); }

  /// Parameters and buffers by dotted path, each module's own first (torch.nn.Module.state_dict). They share
  /// storage with the module and carry no graph; what modules share is there under each name.
  StateDict state_dict() const;
  /// Copies tensors in by name, converting dtype and device, and returns the names that found no partner.
  /// Before anything is written, missing and unexpected names (unless strict is off) and tensors of another
  /// shape are collected into one error, with the nearest names that exist. The num_batches_tracked of a
  /// normalisation may be missing, as in states of PyTorch before 0.4.1, and is then kept. With `assign` the
  /// module's parameters and buffers take over the tensors given, with their dtype and device, and nothing is
  /// copied; requires_grad stays the module's, gradients are dropped, and handles to the parameters (an
  /// optimizer's, too) remain valid.
  IncompatibleKeys load_state_dict(const StateDict& state, bool strict = true, bool assign = false);
  /// The state_dict into an archive, and back.
  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);

 protected:
  OrderedDict<std::string, Variable> parameters_{"Parameter"};
  OrderedDict<std::string, Variable> buffers_{"Buffer"};
  OrderedDict<std::string, std::shared_ptr<Module>> children_{"Submodule"};

 private:
  template <class Derived>
  friend class Cloneable;
  friend EBB_API std::ostream& operator<<(std::ostream& stream, const Module& module);
  friend struct detail::ModuleAccess;
  friend class detail::HookedCall;
  friend class detail::ModuleRange;
  enum class Moment : std::uint8_t { forward, backward };

  // Which module registered this one. Copies are in no tree.
  struct ParentLink {
    const Module* module = nullptr;
    ParentLink() = default;
    ParentLink(const ParentLink&) noexcept {}
    ParentLink& operator=(const ParentLink&) noexcept { return *this; }
  };

  // The number by which nodes remember the module, from its first forward on. Copies have another.
  class PlaceLink {
   public:
    PlaceLink() = default;
    PlaceLink(const PlaceLink&) noexcept {}
    PlaceLink& operator=(const PlaceLink&) noexcept { return *this; }
    ~PlaceLink() {
      if (const std::uint32_t number = number_.load(std::memory_order_relaxed)) close(number);
    }
    std::uint32_t of(const Module& module) const {
      const std::uint32_t number = number_.load(std::memory_order_relaxed);
      return number ? number : open(module);
    }

   private:
    EBB_API std::uint32_t open(const Module& module) const;
    EBB_API static void close(std::uint32_t number) noexcept;

    mutable std::atomic<std::uint32_t> number_{0};
  };

  virtual void clone_(Module& other, const optional<Device>& device);
  void adopt_children();
  void hand_children_to(const Module* parent) noexcept;
  void clone_state(Module& copy, const optional<Device>& device) const;
  std::shared_ptr<Module> shared_from_this_checked() const;
  void add_child(std::string name, std::shared_ptr<Module> module);
  void replace_child(const std::string& name, std::shared_ptr<Module> module);
  template <class Visit>
  void walk(const std::string& prefix, const Visit& visit) const;
  template <class Function>
  void for_each_tensor(Function&& function);
  enum class Call : std::uint8_t { train, zero_grad };
  void pass_down(Call call, bool argument);
  RemovableHandle add_hook(Moment moment, detail::PreHook hook, bool prepend);
  RemovableHandle add_hook(Moment moment, detail::PostHook hook, bool prepend);

  mutable optional<std::string> name_;
  ParentLink parent_;
  PlaceLink place_;
  detail::HooksPointer hooks_;
  detail::TrainingFlag is_training_;
};

/// Prints the tree:
///     Net(
///       (fc1): ebb::nn::Linear(in_features=784, out_features=64, bias=true)
///     )
EBB_API std::ostream& operator<<(std::ostream& stream, const Module& module);

inline detail::ModuleRange::ModuleRange(const Module& module) : outer_place_(autograd::current_place) {
  autograd::current_place = module.place_.of(module);
  if (ebb::detail::nvtx_emitted.load(std::memory_order_relaxed)) [[unlikely]]
    open(module);
}

}  // namespace nn

extern template class OrderedDict<std::string, std::shared_ptr<nn::Module>>;

}  // namespace ebb

#include <ebb/nn/module_holder.h>

// Module: the base class of all modules.
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
/// Sets the namespace printed before class names, for the whole process (default "ebb"). `name` must be a
/// string literal.
EBB_API void set_printed_namespace(const char* name) noexcept;
struct ModuleAccess;
struct ModuleHolderBase {};
template <class T>
concept Holder = std::is_base_of_v<ModuleHolderBase, std::remove_cvref_t<T>>;
}  // namespace detail

/// The result of load_state_dict: names that are only in the module or only in the state.
struct IncompatibleKeys {
  std::vector<std::string> missing_keys;     ///< names of the module that the state lacks
  std::vector<std::string> unexpected_keys;  ///< names of the state that the module lacks
};
/// Prints "<All keys matched successfully>", or both lists with one name per line.
EBB_API std::ostream& operator<<(std::ostream& stream, const IncompatibleKeys& keys);

/// A tree of submodules, parameters (learned tensors) and buffers (other tensors of the state). Derive from
/// it, register submodules, parameters and buffers in the constructor with register_module /
/// register_parameter / register_buffer, and define forward(). Modules are owned by std::shared_ptr, for
/// example through a ModuleHolder (torch::nn::Module).
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

  /// Sets the name. The default is the C++ class.
  explicit Module(std::string name);
  Module();
  Module(const Module&);
  Module& operator=(const Module&);
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  virtual ~Module();

  /// Returns the name given to the constructor. Without one, returns the class: "ebb::nn::LinearImpl"
  /// ("torch::nn::LinearImpl" in a program that includes libtorch's headers of ebb::torch).
  const std::string& name() const noexcept;
  /// Returns the position in the module tree: "encoder.0.fc"; empty for a root.
  std::string path() const;

  /// Returns a deep copy. Cloneable implements it; other modules throw.
  virtual std::shared_ptr<Module> clone(const optional<Device>& device = nullopt) const;

  // Call `function` on all modules of the tree, parents first.
  void apply(const ModuleApplyFunction& function);
  void apply(const ConstModuleApplyFunction& function) const;
  void apply(const NamedModuleApplyFunction& function, const std::string& name_prefix = std::string());
  void apply(const ConstNamedModuleApplyFunction& function,
             const std::string& name_prefix = std::string()) const;
  void apply(const ModulePointerApplyFunction& function) const;
  void apply(const NamedModulePointerApplyFunction& function,
             const std::string& name_prefix = std::string()) const;

  /// Returns each parameter once, even if it has several names.
  std::vector<Variable> parameters(bool recurse = true) const;
  /// Returns parameters with dotted paths as names: "fc1.weight". A parameter shared by several modules has
  /// the first one's name.
  StateDict named_parameters(bool recurse = true) const;
  std::vector<Variable> buffers(bool recurse = true) const;
  StateDict named_buffers(bool recurse = true) const;
  /// Returns this module and all its descendants. With include_self the module must be owned by a
  /// std::shared_ptr.
  std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_modules(
      const std::string& name_prefix = std::string(), bool include_self = true) const;
  std::vector<std::shared_ptr<Module>> children() const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_children() const;

  /// Returns the module at a dotted path, or this one for an empty path. If there is none, throws and lists
  /// the most similar names (torch.nn.Module.get_submodule).
  std::shared_ptr<Module> get_submodule(const std::string& target) const;
  /// Return the parameter or the buffer at a dotted path.
  Variable get_parameter(const std::string& target) const;
  Variable get_buffer(const std::string& target) const;

  /// Sets training mode, which changes for example dropout and batch normalization. Calls train() of the
  /// children first; zero_grad() has the same order. Modules more than 256 levels below this one are called
  /// in a loop, also children before their parents.
  virtual void train(bool on = true);
  void eval();
  virtual bool is_training() const noexcept;

  /// Moves or converts all parameters and buffers in place. As in libtorch, a dtype also applies to integer
  /// tensors (BatchNorm's num_batches_tracked).
  virtual void to(Device device, DType dtype, bool non_blocking = false);
  virtual void to(DType dtype, bool non_blocking = false);
  virtual void to(Device device, bool non_blocking = false);
  /// Converts parameters and buffers with 4 dimensions (ChannelsLast), with 5 (ChannelsLast3d) or all
  /// (Contiguous) to a memory format. Convolutions with channels-last weights give channels-last results
  /// (Python's module.to(memory_format=...)).
  virtual void to(MemoryFormat format);

  /// Resets all gradients to zeros. With set_to_none, makes them undefined. set_to_none is false by default,
  /// as in libtorch 1.13.
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

  /// Prints this module without its submodules, for operator<<: "ebb::nn::Linear(in_features=4,
  /// out_features=5, bias=true)".
  virtual void pretty_print(std::ostream& stream) const;

  /// Adds a parameter and returns it. `tensor` may be undefined, for an optional parameter that is absent.
  Variable& register_parameter(std::string name, Variable tensor, bool requires_grad = true);
  /// Adds a tensor that is part of the state but is not learned. Returns it.
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
  /// Replaces a registered submodule.
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
  /// Replaces a registered parameter with another tensor, so that modules can share it. Assign the result to
  /// the module's member too: `head->weight = head->replace_parameter("weight", table->weight)`. parameters()
  /// returns a shared parameter once, state_dict() returns it under each of its names.
  Variable& replace_parameter(const std::string& name, Variable tensor);
  /// Shares parameters among submodules. A module whose submodules share parameters overrides it, and calls
  /// it in the constructor or in reset(). clone() calls it on the copy when all tensors of the copy exist,
  /// and throws if the copy then does not share them.
  virtual void tie_weights();

  /// Registers a hook that runs before each call of the module: hook(module, inputs). `inputs` are the
  /// tensors among the arguments, also those in lists, optionals and tuples. The hook may return replacements
  /// as a variable_list, as an optional<variable_list>, or for one input as a Variable. Hooks run for
  /// `module(...)` of a handle, Sequential and AnyModule, but not for module->forward(...). They run in order
  /// of registration; with `prepend` this one runs first (torch.nn.Module.register_forward_pre_hook). The
  /// following functions also have the names and semantics of those of torch.nn.Module.
  template <class Hook>
  RemovableHandle register_forward_pre_hook(Hook hook, bool prepend = false) {
    return add_hook(Moment::forward, detail::PreHook(detail::replacing(std::move(hook))), prepend);
  }
  /// Registers a hook that runs after each call: hook(module, inputs, outputs). `outputs` are the tensors of
  /// the result; the hook may return replacements.
  template <class Hook>
  RemovableHandle register_forward_hook(Hook hook, bool prepend = false) {
    return add_hook(Moment::forward, detail::PostHook(detail::replacing(std::move(hook))), prepend);
  }
  /// Registers a hook that runs in backward when the gradients of the outputs are available: hook(module,
  /// grad_outputs). It may return replacements. A missing gradient is undefined.
  template <class Hook>
  RemovableHandle register_full_backward_pre_hook(Hook hook, bool prepend = false) {
    return add_hook(Moment::backward, detail::PreHook(detail::replacing(std::move(hook))), prepend);
  }
  /// Registers a hook that runs in backward when the gradients of the inputs are available: hook(module,
  /// grad_inputs, grad_outputs). If no input requires grad, it runs when the gradients of the outputs are
  /// available. It may return replacements of grad_inputs.
  template <class Hook>
  RemovableHandle register_full_backward_hook(Hook hook, bool prepend = false) {
    return add_hook(Moment::backward, detail::PostHook(detail::replacing(std::move(hook))), prepend);
  }
  /// Registers a hook that runs before state_dict() reads this module: hook(module, prefix), for example
  /// "encoder.0.".
  RemovableHandle register_state_dict_pre_hook(StateDictPreHook hook);
  /// Registers a hook that runs when state_dict() is complete: hook(module, state, prefix). Hooks of inner
  /// modules run first. A hook may change the state.
  RemovableHandle register_state_dict_post_hook(StateDictPostHook hook);
  /// Registers a hook that runs before a state is checked and loaded: hook(module, state, prefix). Hooks of
  /// outer modules run first. A hook may change the state, for example rename entries. With such a hook, a
  /// file is read as a whole.
  RemovableHandle register_load_state_dict_pre_hook(LoadStateDictPreHook hook);
  /// Registers a hook that runs after a state is loaded: hook(module, keys). Hooks of inner modules run
  /// first. A hook may remove names from `keys`. Remaining names are an error if loading is strict.
  RemovableHandle register_load_state_dict_post_hook(LoadStateDictPostHook hook);
  bool has_hooks() const noexcept { return static_cast<bool>(hooks_); }

  /// Returns parameters and buffers by dotted path (torch.nn.Module.state_dict). The tensors of a module come
  /// before the tensors of its submodules. All share storage with the module and have no graph history. A
  /// shared tensor is listed under each of its names.
  StateDict state_dict() const;
  /// Copies the tensors of `state` into the module's tensors with the same names, and converts dtype and
  /// device. Returns the names that are only in the module or only in the state. Before anything is written,
  /// throws one error that lists all tensors of another shape and, if `strict`, all missing and unexpected
  /// names. The error suggests similar names. num_batches_tracked of a normalization may be missing, as in
  /// states of PyTorch before 0.4.1; its value is then kept. With `assign` the parameters and buffers take
  /// over the given tensors, with their dtype and device, without a copy. The requires_grad of the module is
  /// kept, and gradients are dropped. Handles of the parameters (also those of an optimizer) remain valid.
  IncompatibleKeys load_state_dict(const StateDict& state, bool strict = true, bool assign = false);
  /// Write the state_dict to an archive, and read it from an archive.
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

  // The parent: the module that registered this one. A copy has no parent.
  struct ParentLink {
    const Module* module = nullptr;
    ParentLink() = default;
    ParentLink(const ParentLink&) noexcept {}
    ParentLink& operator=(const ParentLink&) noexcept { return *this; }
  };

  // The index by which nodes refer to the module, assigned at its first forward. A copy gets another index.
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

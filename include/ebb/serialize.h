// save and load for modules, optimizers and tensors, with files and streams. A stream is read to its end. The
// format of save is safetensors, and a file is replaced atomically (safetensors::write). load detects the
// format from the contents, and also reads files of PyTorch and NumPy.
#pragma once

#include <ebb/archive.h>
#include <ebb/autograd/variable.h>
#include <ebb/core/arg.h>
#include <ebb/io/safetensors.h>
#include <ebb/nn/module.h>
#include <ebb/nn/module_holder.h>
#include <ebb/optim/optimizer.h>

#include <concepts>
#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ebb {

/// Options of load() for modules:
///     load(net, "resnet50.pth", LoadOptions().prefixes({{"module.", ""}}).ignore({"fc."}).strict(false));
struct LoadOptions {
  using Names = std::vector<std::string>;
  using Prefixes = std::vector<std::pair<std::string, std::string>>;

  /// If true, missing and unexpected names are an error. If false, load() returns them.
  EBB_ARG(bool, strict) = true;
  /// If true, parameters and buffers take the dtype of the file (Module::load_state_dict). If false, the
  /// file's tensors are converted to the dtypes of the module.
  EBB_ARG(bool, assign) = false;
  /// The module is first moved to `device`, and its floating parameters are converted to `dtype`.
  EBB_ARG(optional<Device>, device);
  EBB_ARG(optional<DType>, dtype);
  /// Pairs (old prefix, new prefix). The first matching pair replaces the prefix of a name in the file.
  EBB_ARG(Prefixes, prefixes);
  /// Names in the file with one of these prefixes (before renaming) are ignored.
  EBB_ARG(Names, ignore);
  /// The part of the file to load, which depends on the file. For a torch.save checkpoint it is a key, with
  /// dots for nested keys ("ema.model"). For an ebb::Checkpoint it is the name of a part ("model"). For other
  /// files it is the prefix of names before a dot. The part is removed from names before the other options
  /// apply. Without a key, pytorch::state_dict selects the dict of a checkpoint.
  EBB_ARG(std::string, key);
};

/// Writes a module's parameters and buffers under their state_dict names. A user-defined module without any
/// parameter, buffer or submodule throws, because its members were not registered. load() throws for it too.
EBB_API void save(const nn::Module& module, const std::string& path);
EBB_API void save(const nn::Module& module, std::ostream& stream);
/// Reads a file's tensors into the module's parameters and buffers by name, and converts dtype and device.
/// The format is detected from the contents:
/// - safetensors, read tensor by tensor without a second copy in memory;
/// - an index of several safetensors files, or its folder (safetensors::ShardedReader);
/// - files of torch.save (pytorch::read_state_dict) and of libtorch's torch::save;
/// - .npz.
/// Missing names, unexpected names and wrong shapes throw an error that lists them with the most similar
/// names. After this error the module is unchanged. If `strict` is false, missing and unexpected names are
/// returned instead. With `assign` parameters and buffers take the dtype of the file
/// (Module::load_state_dict). If another process truncates the file during the load, load() throws and leaves
/// the module partly loaded. The bytes of a stream are held in memory until load() returns.
/// nn::utils::skip_init creates a module without the initialization that a load would overwrite.
EBB_API nn::IncompatibleKeys load(nn::Module& module, const std::string& path, bool strict = true,
                                  bool assign = false);
EBB_API nn::IncompatibleKeys load(nn::Module& module, std::istream& stream, bool strict = true,
                                  bool assign = false);
/// Loads with options. The module first moves to `device`.
EBB_API nn::IncompatibleKeys load(nn::Module& module, const std::string& path, const LoadOptions& options);
EBB_API nn::IncompatibleKeys load(nn::Module& module, std::istream& stream, const LoadOptions& options);
EBB_API nn::IncompatibleKeys load(nn::Module& module, const std::string& path, Device device);
EBB_API nn::IncompatibleKeys load(nn::Module& module, std::istream& stream, Device device);
template <class Source>
nn::IncompatibleKeys load(nn::Module& module, Source&& from, const char* device) {  // not a bool `strict`
  return load(module, from, Device(device));
}

/// Writes the result of the optimizer's save(): the state (moments, step counts) and the options of its
/// groups.
EBB_API void save(const optim::Optimizer& optimizer, const std::string& path);
EBB_API void save(const optim::Optimizer& optimizer, std::ostream& stream);
/// Reads a file of save(optimizer), a state_dict of the optimizer of the same name in PyTorch that torch.save
/// wrote, or a file of libtorch's torch::save. `key` selects a part of the file: the key of a checkpoint's
/// dict, with dots for nested keys, or the name of a part of an ebb::Checkpoint. If `key` is empty, a dict
/// under "optimizer", "optimizer_state_dict" or "optim" is used. A state that does not match throws and does
/// not change the optimizer.
EBB_API void load(optim::Optimizer& optimizer, const std::string& path, const std::string& key = {});
EBB_API void load(optim::Optimizer& optimizer, std::istream& stream, const std::string& key = {});
/// Ignores the device, which programs may pass (torch::load), because a state is always on its parameter's
/// device.
template <class Source, class Where>
  requires std::same_as<Where, Device> || std::same_as<Where, DeviceType> ||
           std::same_as<Where, optional<Device>>
void load(optim::Optimizer& optimizer, Source&& from, Where) {
  load(optimizer, from);
}

/// Writes one tensor under the name "tensor".
EBB_API void save(const Variable& tensor, const std::string& path);
EBB_API void save(const Variable& tensor, std::ostream& stream);
/// Reads tensors to the CPU, or to `device`. If a file contains only one tensor, that tensor may have any
/// name, as in files of torch.save and NumPy's .npy. Several tensors come from a list written by torch.save,
/// or from numpy.savez(path, a, b).
EBB_API void load(Variable& tensor, const std::string& path, optional<Device> device = nullopt);
EBB_API void load(Variable& tensor, std::istream& stream, optional<Device> device = nullopt);
/// Writes several tensors under "0", "1", ...
EBB_API void save(const std::vector<Variable>& tensors, const std::string& path);
EBB_API void save(const std::vector<Variable>& tensors, std::ostream& stream);
EBB_API void load(std::vector<Variable>& tensors, const std::string& path, optional<Device> device = nullopt);
EBB_API void load(std::vector<Variable>& tensors, std::istream& stream, optional<Device> device = nullopt);

namespace pytorch {
class Value;
/// Writes a file like libtorch's torch::save(module, path), for libtorch's torch::load and Python's
/// torch.jit.load.
EBB_API void save(const nn::Module& module, const std::string& path);
EBB_API void save(const nn::Module& module, std::ostream& stream);
/// Writes an optimizer that libtorch has: Adagrad, Adam, AdamW, LBFGS, RMSprop or SGD. Others throw.
EBB_API void save(const optim::Optimizer& optimizer, const std::string& path);
EBB_API void save(const optim::Optimizer& optimizer, std::ostream& stream);
/// Returns the state_dict of PyTorch's optimizer with the same name, for its load_state_dict: `write(path,
/// state_dict(adam))` writes a file for `adam.load_state_dict(torch.load(path))`. Throws for Lion, which
/// PyTorch does not have, for user-defined optimizers, and for master weights.
EBB_API Value state_dict(const optim::Optimizer& optimizer);
}  // namespace pytorch

namespace detail {
template <class T>
concept NeitherModuleNorOptimizer =
    !std::is_base_of_v<nn::Module, T> && !std::is_base_of_v<optim::Optimizer, T>;
}

/// Save and load other types with save() and load(): samplers, datasets, loaders, schedulers. `to` and `from`
/// are arguments of archives: a path, a stream, functions.
template <serialize::Archived T, class Target>
  requires detail::NeitherModuleNorOptimizer<T>
void save(const T& value, Target&& to) {
  serialize::OutputArchive archive;
  value.save(archive);
  archive.save_to(to);
}
template <serialize::Archived T, class... Source>
  requires detail::NeitherModuleNorOptimizer<T>
void load(T& value, Source&&... from) {
  serialize::InputArchive archive;
  archive.load_from(from...);
  value.load(archive);
}

namespace detail {
/// Loads `value` from a stream and returns the result of load(). `run(f)` opens the stream and calls
/// f(stream).
template <class T, class Run, class... How>
auto load_by(T& value, const Run& run, const How&... how) {
  using Result = decltype(load(value, std::declval<std::istream&>(), how...));
  if constexpr (std::is_void_v<Result>) {
    run([&](std::istream& stream) { load(value, stream, how...); });
  } else {
    Result result;
    run([&](std::istream& stream) { result = load(value, stream, how...); });
    return result;
  }
}
}  // namespace detail

/// Save through a write function, and load from memory or through a read function and a size function. `how`
/// contains the other arguments of load().
template <class T>
void save(const T& value, const serialize::WriteFunction& write) {
  serialize::detail::with_stream(write, [&](std::ostream& stream) { save(value, stream); });
}
template <class T, std::integral Size, class... How>
  requires(!std::same_as<Size, bool>)
auto load(T& value, const char* data, Size size, const How&... how) {
  const auto run = [&](const auto& body) {
    serialize::detail::with_stream(data, static_cast<std::size_t>(size), body);
  };
  return detail::load_by(value, run, how...);
}
template <class T, class... How>
auto load(T& value, const serialize::ReadFunction& read, const serialize::SizeFunction& size,
          const How&... how) {
  const auto run = [&](const auto& body) { serialize::detail::with_stream(read, size, body); };
  return detail::load_by(value, run, how...);
}

// Modules behind pointers and holders. `to` and `from` are a path, a stream or a function. `how` contains the
// other arguments of load() for a module: strictness, a device, or the size function.
template <class Module, class Target>
  requires std::is_base_of_v<nn::Module, Module>
void save(const std::shared_ptr<Module>& module, Target&& to) {
  save(static_cast<const nn::Module&>(*module), to);
}
template <class Module, class Source, class... How>
  requires std::is_base_of_v<nn::Module, Module>
nn::IncompatibleKeys load(std::shared_ptr<Module>& module, Source&& from, How... how) {
  return load(static_cast<nn::Module&>(*module), from, how...);
}
template <class Impl, class Target>
void save(const nn::ModuleHolder<Impl>& module, Target&& to) {
  save(static_cast<const nn::Module&>(*module), to);
}
template <class Impl, class Source, class... How>
nn::IncompatibleKeys load(nn::ModuleHolder<Impl>& module, Source&& from, How... how) {
  return load(static_cast<nn::Module&>(*module), from, how...);
}

}  // namespace ebb

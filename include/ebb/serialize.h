// Saving and loading modules, optimizers and tensors: to and from a file, or a stream, which is read to its
// end. What is saved is safetensors, and a file is replaced wholly or not at all (safetensors::write says
// how); what is loaded may also be one of PyTorch's or NumPy's files, which are known by their contents.
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

/// How a file's tensors go into a module.
///     load(net, "resnet50.pth", LoadOptions().prefixes({{"module.", ""}}).ignore({"fc."}).strict(false));
struct LoadOptions {
  using Names = std::vector<std::string>;
  using Prefixes = std::vector<std::pair<std::string, std::string>>;

  /// Missing and unexpected names are an error; without it they are allowed and returned.
  EBB_ARG(bool, strict) = true;
  /// Parameters and buffers take the dtype of the file (Module::load_state_dict), instead of converting it to
  /// theirs.
  EBB_ARG(bool, assign) = false;
  /// Where the module moves first, and what its floating parameters become.
  EBB_ARG(optional<Device>, device);
  EBB_ARG(optional<DType>, dtype);
  /// A name in the file that begins with the first of a pair is read as if it began with the second; the
  /// first pair that fits counts.
  EBB_ARG(Prefixes, prefixes);
  /// Names in the file that begin with one of these (before they are renamed) are passed over.
  EBB_ARG(Names, ignore);
  /// Which part of the file is the module's: a key of a checkpoint of torch.save, dots leading further in
  /// ("ema.model"); the name of a part of an ebb::Checkpoint ("model"); of other files, what the names begin
  /// with before a dot. It is gone from the names before anything else here looks at them. Without it
  /// pytorch::state_dict says which dict of a checkpoint is taken.
  EBB_ARG(std::string, key);
};

/// Writes a module's parameters and buffers under their state_dict names. A module of the program's own that
/// has none, and no module in it, is an error, also when it is loaded: its members were not registered.
EBB_API void save(const nn::Module& module, const std::string& path);
EBB_API void save(const nn::Module& module, std::ostream& stream);
/// Reads a file's tensors into the module's parameters and buffers by name, converting dtype and device. The
/// file is known by its contents: safetensors (read one by one: nothing is in memory twice); an index of
/// several such files, or the folder of one (safetensors::ShardedReader); what torch.save wrote
/// (pytorch::read_state_dict), also in C++ (the archives of libtorch's torch::save); .npz. Missing,
/// unexpected (unless strict is off, which allows and returns both) and misshaped names are an error that
/// lists them with their nearest names; nothing is changed then. With `assign` parameters and buffers take
/// the dtype of the file (Module::load_state_dict). A file that another process cuts short while it is read
/// is an error that leaves the module partly loaded. A stream's bytes are held until it is loaded. To build a
/// module that is then loaded without initialising it: nn::utils::skip_init.
EBB_API nn::IncompatibleKeys load(nn::Module& module, const std::string& path, bool strict = true,
                                  bool assign = false);
EBB_API nn::IncompatibleKeys load(nn::Module& module, std::istream& stream, bool strict = true,
                                  bool assign = false);
/// The same; the module moves to `device` first.
EBB_API nn::IncompatibleKeys load(nn::Module& module, const std::string& path, const LoadOptions& options);
EBB_API nn::IncompatibleKeys load(nn::Module& module, std::istream& stream, const LoadOptions& options);
EBB_API nn::IncompatibleKeys load(nn::Module& module, const std::string& path, Device device);
EBB_API nn::IncompatibleKeys load(nn::Module& module, std::istream& stream, Device device);
template <class Source>
nn::IncompatibleKeys load(nn::Module& module, Source&& from, const char* device) {  // not a truth value
  return load(module, from, Device(device));
}

/// Writes what an optimizer's own save() does: state (moments, step counts) and the options of its groups.
EBB_API void save(const optim::Optimizer& optimizer, const std::string& path);
EBB_API void save(const optim::Optimizer& optimizer, std::ostream& stream);
/// Reads it back; also the state_dict of an optimizer of that kind which torch.save wrote, and what
/// libtorch's torch::save did. `key` is where in the file it stands: the key of a checkpoint's dict, dots
/// leading further in, or the name of a part of an ebb::Checkpoint; without it a dict under "optimizer",
/// "optimizer_state_dict" or "optim" is found. A state that does not fit is an error that leaves the
/// optimizer as it was.
EBB_API void load(optim::Optimizer& optimizer, const std::string& path, const std::string& key = {});
EBB_API void load(optim::Optimizer& optimizer, std::istream& stream, const std::string& key = {});
/// The same, for programs that say a device (torch::load). A state lies beside its parameter, whatever they
/// say.
template <class Source, class Where>
  requires std::same_as<Where, Device> || std::same_as<Where, DeviceType> ||
           std::same_as<Where, optional<Device>>
void load(optim::Optimizer& optimizer, Source&& from, Where) {
  load(optimizer, from);
}

/// One tensor, under the name "tensor".
EBB_API void save(const Variable& tensor, const std::string& path);
EBB_API void save(const Variable& tensor, std::ostream& stream);
/// On the CPU, or on `device`. In a file that holds one tensor it may have any name, as in those of
/// torch.save and in NumPy's .npy; several are those of a list that torch.save wrote, or of numpy.savez(path,
/// a, b).
EBB_API void load(Variable& tensor, const std::string& path, optional<Device> device = nullopt);
EBB_API void load(Variable& tensor, std::istream& stream, optional<Device> device = nullopt);
/// Several, under "0", "1", ...
EBB_API void save(const std::vector<Variable>& tensors, const std::string& path);
EBB_API void save(const std::vector<Variable>& tensors, std::ostream& stream);
EBB_API void load(std::vector<Variable>& tensors, const std::string& path, optional<Device> device = nullopt);
EBB_API void load(std::vector<Variable>& tensors, std::istream& stream, optional<Device> device = nullopt);

namespace pytorch {
class Value;
/// What libtorch's torch::save(module, path) writes, for its torch::load and Python's torch.jit.load.
EBB_API void save(const nn::Module& module, const std::string& path);
EBB_API void save(const nn::Module& module, std::ostream& stream);
/// The same of an optimizer that libtorch has: Adagrad, Adam, AdamW, LBFGS, RMSprop or SGD; others are an
/// error.
EBB_API void save(const optim::Optimizer& optimizer, const std::string& path);
EBB_API void save(const optim::Optimizer& optimizer, std::ostream& stream);
/// The state_dict that PyTorch's optimizer of that name has, for its load_state_dict: `write(path,
/// state_dict(adam))` writes what `adam.load_state_dict(torch.load(path))` reads. Lion, which PyTorch does
/// not have, and optimizers of the program's own are errors, and so are master weights.
EBB_API Value state_dict(const optim::Optimizer& optimizer);
}  // namespace pytorch

namespace detail {
template <class T>
concept NeitherModuleNorOptimizer =
    !std::is_base_of_v<nn::Module, T> && !std::is_base_of_v<optim::Optimizer, T>;
}

/// What else writes itself into an archive and reads itself back: samplers, datasets, loaders, schedules.
/// `to` and `from` are what archives take: a path, a stream, functions.
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
/// What load() from a stream returns; `run` calls a function with the stream.
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

/// Each of the above through a function that writes; and from memory, or by a function that reads and one
/// that says how much there is. `how` is what else load() of the value takes.
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

// Modules behind pointers and holders; `to` and `from` are a path, a stream or a function, and `how` is what
// else load() of a module takes: strictness, a device, or the size of what is read by a function.
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

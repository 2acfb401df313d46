// ebb::save and ebb::load of modules, optimizers and tensors.
#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/creation.h>
#include <ebb/serialize.h>

#include "core/messages.h"
#include "io/any_file.h"
#include "io/bytes.h"
#include "io/shared_tensors.h"
#include "nn/load_state.h"
#include "serialize/state_file.h"

namespace ebb {
namespace {

using safetensors::File;
using safetensors::NamedTensors;

// Returns the tensors of a module, each once.
safetensors::Contents contents_of(const nn::Module& module) {
  NamedTensors tensors;
  for (const auto& item : module.state_dict()) tensors.emplace_back(item.key(), item.value());
  return safetensors::each_once(tensors, {{"format", "pt"}});
}

NamedTensors numbered(const std::vector<Variable>& tensors) {
  NamedTensors named;
  for (std::size_t i = 0; i < tensors.size(); ++i) named.emplace_back(std::to_string(i), tensors[i]);
  return named;
}

// Assigns a loaded tensor. `to` keeps its requires_grad.
void assign(Variable& to, const Variable& file, optional<Device> device) {
  Variable from = device ? file.to(*device) : file;
  const bool requires_grad = to.defined() && to.requires_grad();
  to = std::move(from);
  if (requires_grad) to.requires_grad_();
}

// Loads the only tensor of a file, under any name, because other programs choose other names. If the file
// contains several tensors, loads the tensor named "tensor".
void restore(Variable& to, const File& file, optional<Device> device) {
  const bool alone = file.tensors.size() == 1 && file.unsupported.empty();
  assign(to, alone ? file.tensors[0].second : file.at("tensor"), device);
}

void restore(std::vector<Variable>& to, const File& file, optional<Device> device) {
  const bool of_numpy = !file.tensors.empty() && file.tensors[0].first.starts_with("arr_");
  std::vector<Variable> tensors(file.tensors.size() + file.unsupported.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (i < to.size()) tensors[i] = to[i];
    assign(tensors[i], file.at((of_numpy ? "arr_" : "") + std::to_string(i)), device);
  }
  to = std::move(tensors);
}

void restore(optim::Optimizer& to, const File& file, const std::string& key) {
  serialize::InputArchive archive = detail::optimizer_in(file, key);
  to.load(archive);
}

NamedTensors tensors_of(const optim::Optimizer& optimizer) {
  serialize::OutputArchive archive;
  optimizer.save(archive);
  return archive.tensors();
}

template <class T, class... How>
void restore_from(T& to, const std::string& path, const How&... how) {
  io::located(path, [&] { restore(to, io::read_any(path), how...); });
}

// Throws for a module without a state. Its members were probably not registered, and without this error the
// mistake would be detected only when the file is loaded. Modules of the library may have no state.
void check_has_state(const char* op, const nn::Module& module) {
  EBB_CHECK(!module.children().empty() || ebb::detail::demangled(typeid(module)).starts_with("ebb::") ||
                !module.state_dict().is_empty(),
            op, ": ", module.name(),
            " has no parameter, no buffer and no module in it. Register what it has in the constructor: fc = "
            "register_module(\"fc\", Linear(...)).");
}

}  // namespace

void save(const nn::Module& module, const std::string& path) {
  check_has_state("save", module);
  const safetensors::Contents contents = contents_of(module);
  safetensors::write(path, contents.tensors, contents.metadata);
}
void save(const nn::Module& module, std::ostream& stream) {
  check_has_state("save", module);
  const safetensors::Contents contents = contents_of(module);
  safetensors::write(stream, contents.tensors, contents.metadata);
}

namespace {

// Moves a module and converts its floating tensors.
void move(nn::Module& module, const LoadOptions& options) {
  NoGradGuard no_grad;
  if (options.device()) module.to(*options.device());
  if (!options.dtype()) return;
  const auto convert = [&](Variable& x) {
    if (x.defined() && x.is_floating_point()) x.set_data(x.data().to(*options.dtype()));
  };
  for (Variable& parameter : module.parameters()) convert(parameter);
  for (Variable& buffer : module.buffers()) convert(buffer);
}

nn::IncompatibleKeys load_from(nn::Module& module, std::unique_ptr<nn::StateSource> state,
                               const LoadOptions& options) {
  check_has_state("load", module);
  EBB_CHECK(!options.dtype() || is_floating(*options.dtype()), "load: LoadOptions::dtype() is ",
            *options.dtype(), ", which is not floating. Set a floating dtype for the floating parameters.");
  state = detail::renamed(std::move(state), options);
  try {
    if (options.device() || options.dtype()) {  // checks the state before move() changes the module
      check_state(module, *state, options.strict(), options.assign());
      move(module, options);
    }
    return load_state(module, *state, options.strict(), options.assign());
  } catch (const Error& e) {
    throw Error(e.what() + detail::advice_on_wrapped(state->keys(), module.state_dict().keys()));
  }
}

LoadOptions in_words(bool strict, bool assign) { return LoadOptions().strict(strict).assign(assign); }

}  // namespace

nn::IncompatibleKeys load(nn::Module& module, const std::string& path, const LoadOptions& options) {
  return io::located(path,
                     [&] { return load_from(module, detail::open_state(path, options.key()), options); });
}
nn::IncompatibleKeys load(nn::Module& module, std::istream& stream, const LoadOptions& options) {
  return load_from(module, detail::open_state(stream, options.key()), options);
}
nn::IncompatibleKeys load(nn::Module& module, const std::string& path, bool strict, bool assign) {
  return load(module, path, in_words(strict, assign));
}
nn::IncompatibleKeys load(nn::Module& module, std::istream& stream, bool strict, bool assign) {
  return load(module, stream, in_words(strict, assign));
}
nn::IncompatibleKeys load(nn::Module& module, const std::string& path, Device device) {
  return load(module, path, LoadOptions().device(device));
}
nn::IncompatibleKeys load(nn::Module& module, std::istream& stream, Device device) {
  return load(module, stream, LoadOptions().device(device));
}

void save(const optim::Optimizer& optimizer, const std::string& path) {
  safetensors::write(path, tensors_of(optimizer));
}
void save(const optim::Optimizer& optimizer, std::ostream& stream) {
  safetensors::write(stream, tensors_of(optimizer));
}
void load(optim::Optimizer& optimizer, const std::string& path, const std::string& key) {
  restore_from(optimizer, path, key);
}
void load(optim::Optimizer& optimizer, std::istream& stream, const std::string& key) {
  restore(optimizer, io::read_any(stream), key);
}

void save(const Variable& tensor, const std::string& path) { safetensors::write(path, {{"tensor", tensor}}); }
void save(const Variable& tensor, std::ostream& stream) { safetensors::write(stream, {{"tensor", tensor}}); }
void load(Variable& tensor, const std::string& path, optional<Device> device) {
  restore_from(tensor, path, device);
}
void load(Variable& tensor, std::istream& stream, optional<Device> device) {
  restore(tensor, io::read_any(stream), device);
}

void save(const std::vector<Variable>& tensors, const std::string& path) {
  safetensors::write(path, numbered(tensors));
}
void save(const std::vector<Variable>& tensors, std::ostream& stream) {
  safetensors::write(stream, numbered(tensors));
}
void load(std::vector<Variable>& tensors, const std::string& path, optional<Device> device) {
  restore_from(tensors, path, device);
}
void load(std::vector<Variable>& tensors, std::istream& stream, optional<Device> device) {
  restore(tensors, io::read_any(stream), device);
}

}  // namespace ebb

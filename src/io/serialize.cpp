#include <ebb/io/serialize.h>

#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/copy.h>

namespace ebb {
namespace {

using safetensors::File;
using safetensors::NamedTensors;

NamedTensors tensors_of(const nn::Module& module) {
  NamedTensors tensors;
  for (const auto& item : module.state_dict()) tensors.emplace_back(item.key(), item.value());
  return tensors;
}

NamedTensors numbered(const std::vector<Variable>& tensors) {
  NamedTensors named;
  for (std::size_t i = 0; i < tensors.size(); ++i) named.emplace_back(std::to_string(i), tensors[i]);
  return named;
}

// What is read shares the file's mapping; a tensor handed out gets memory of its own, and keeps its
// requires_grad.
void assign(Variable& to, const Variable& from) {
  NoGradGuard no_grad;
  const bool requires_grad = to.defined() && to.requires_grad();
  to = from.clone();
  if (requires_grad) to.requires_grad_();
}

void restore(Variable& to, const File& file) { assign(to, file.at("tensor")); }

void restore(std::vector<Variable>& to, const File& file) {
  std::vector<Variable> tensors(file.tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (i < to.size()) tensors[i] = to[i];
    assign(tensors[i], file.at(std::to_string(i)));
  }
  to = std::move(tensors);
}

void restore(nn::Module& to, const File& file) {
  nn::Module::StateDict state;
  for (const auto& [name, tensor] : file.tensors) state.insert(name, tensor);
  to.load_state_dict(state);
}

void restore(optim::Optimizer& to, const File& file) { to.load_state_dict(file.tensors); }

// Says whose file it was when what it holds does not fit.
template <class T>
void restore_from(T& to, const std::string& path) {
  const File file = safetensors::read(path);
  try {
    restore(to, file);
  } catch (const Error& e) {
    throw Error(std::string(e.what()) + "\nFile: \"" + path + "\".");
  }
}

}  // namespace

void save(const nn::Module& module, const std::string& path) {
  safetensors::write(path, tensors_of(module), {{"format", "pt"}});
}
void save(const nn::Module& module, std::ostream& stream) {
  safetensors::write(stream, tensors_of(module), {{"format", "pt"}});
}
void load(nn::Module& module, const std::string& path) { restore_from(module, path); }
void load(nn::Module& module, std::istream& stream) { restore(module, safetensors::read(stream)); }

void save(const optim::Optimizer& optimizer, const std::string& path) {
  safetensors::write(path, optimizer.state_dict());
}
void save(const optim::Optimizer& optimizer, std::ostream& stream) {
  safetensors::write(stream, optimizer.state_dict());
}
void load(optim::Optimizer& optimizer, const std::string& path) { restore_from(optimizer, path); }
void load(optim::Optimizer& optimizer, std::istream& stream) {
  restore(optimizer, safetensors::read(stream));
}

void save(const Variable& tensor, const std::string& path) { safetensors::write(path, {{"tensor", tensor}}); }
void save(const Variable& tensor, std::ostream& stream) { safetensors::write(stream, {{"tensor", tensor}}); }
void load(Variable& tensor, const std::string& path) { restore_from(tensor, path); }
void load(Variable& tensor, std::istream& stream) { restore(tensor, safetensors::read(stream)); }

void save(const std::vector<Variable>& tensors, const std::string& path) {
  safetensors::write(path, numbered(tensors));
}
void save(const std::vector<Variable>& tensors, std::ostream& stream) {
  safetensors::write(stream, numbered(tensors));
}
void load(std::vector<Variable>& tensors, const std::string& path) { restore_from(tensors, path); }
void load(std::vector<Variable>& tensors, std::istream& stream) {
  restore(tensors, safetensors::read(stream));
}

}  // namespace ebb

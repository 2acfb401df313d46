#include <ebb/io/serialize.h>

#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/copy.h>

namespace ebb {
namespace {

using safetensors::NamedTensors;

// Says whose file it was when what it holds does not fit.
template <class F>
void with_path(const std::string& path, F&& f) {
  try {
    f();
  } catch (const Error& e) {
    throw Error(std::string(e.what()) + "\nFile: \"" + path + "\".");
  }
}

// What is read shares the file's mapping; a tensor handed out gets memory of its own, and keeps its requires_grad.
void assign(Variable& to, const Variable& from) {
  NoGradGuard no_grad;
  const bool requires_grad = to.defined() && to.requires_grad();
  to = from.clone();
  if (requires_grad) to.requires_grad_();
}

}  // namespace

void save(const nn::Module& module, const std::string& path) {
  NamedTensors tensors;
  for (const auto& item : module.state_dict()) tensors.emplace_back(item.key(), item.value());
  safetensors::write(path, tensors, {{"format", "pt"}});
}

void load(nn::Module& module, const std::string& path) {
  const safetensors::File file = safetensors::read(path);
  nn::Module::StateDict state;
  for (const auto& [name, tensor] : file.tensors) state.insert(name, tensor);
  with_path(path, [&] { module.load_state_dict(state); });
}

void save(const optim::Optimizer& optimizer, const std::string& path) {
  safetensors::write(path, optimizer.state_dict());
}

void load(optim::Optimizer& optimizer, const std::string& path) {
  const safetensors::File file = safetensors::read(path);
  with_path(path, [&] { optimizer.load_state_dict(file.tensors); });
}

void save(const Variable& tensor, const std::string& path) { safetensors::write(path, {{"tensor", tensor}}); }

void load(Variable& tensor, const std::string& path) { assign(tensor, safetensors::read(path).at("tensor")); }

void save(const std::vector<Variable>& tensors, const std::string& path) {
  NamedTensors named;
  for (std::size_t i = 0; i < tensors.size(); ++i) named.emplace_back(std::to_string(i), tensors[i]);
  safetensors::write(path, named);
}

void load(std::vector<Variable>& tensors, const std::string& path) {
  const safetensors::File file = safetensors::read(path);
  tensors.resize(file.tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) assign(tensors[i], file.at(std::to_string(i)));
}

}  // namespace ebb

// Modules and optimizers as libtorch's torch::save writes them.
#include <ebb/autograd/grad_mode.h>
#include <ebb/io/pytorch.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/creation.h>
#include <ebb/optim.h>
#include <ebb/serialize.h>

#include <algorithm>
#include <iterator>

namespace ebb::pytorch {
namespace {

// What requires grad tells parameters from buffers, and a state_dict has lost it.
NamedTensors state_of(const nn::Module& module) {
  NamedTensors tensors;
  const auto parameters = module.named_parameters();
  for (const auto& item : module.state_dict()) {
    const Variable* const parameter = parameters.find(item.key());
    tensors.emplace_back(item.key(), parameter ? *parameter : item.value());
  }
  return tensors;
}

// libtorch knows its parameters by addresses, which are any numbers but zero.
std::string id_of(std::size_t position) { return std::to_string(position + 1); }
Value size_of(std::size_t count) { return scalar_tensor(static_cast<std::int64_t>(count), kLong); }

// What options keep as tensors (src/optim/fields.h), as what it was.
Value option(const Variable& value) {
  if (value.dim() == 0 && value.dtype() == kBool) return value.item<bool>();
  if (value.dim() == 0 && value.dtype() == kLong) return value.item<std::int64_t>();
  if (value.dim() == 0) return value.item<double>();
  if (value.dtype() == kByte) {
    const auto* const text = value.data_ptr<std::uint8_t>();
    return std::string(text, text + value.numel());
  }
  Tuple numbers;
  for (std::int64_t i = 0; i < value.numel(); ++i) numbers.items.emplace_back(value.data_ptr<double>()[i]);
  return numbers;
}

Value options_of(const optim::OptimizerParamGroup& group) {
  serialize::OutputArchive archive;
  group.options().serialize(archive);
  Dict options;
  for (const auto& [name, value] : archive.tensors()) {
    EBB_CHECK(name != "master_weights" || !value.item<bool>(),
              "pytorch: libtorch has no master weights. Save the optimizer by ebb::save.");
    if (name != "master_weights" && name != "initial_lr") options.emplace_back(name, option(value));
  }
  return options;
}

// Of one parameter, its quantities by name.
Value state_of(const serialize::InputArchive& archive, const Variable& parameter) {
  Dict state;
  List dirs, steps, ro;
  for (const auto& [name, value] : archive.tensors()) {
    if (name == "step" || name == "func_evals" || name == "n_iter")
      state.emplace_back(name, value.item<std::int64_t>());
    else if (name == "t" || name == "prev_loss")
      state.emplace_back(name, value.item<double>());
    else if (name == "H_diag")
      state.emplace_back(name, value.to(parameter.options()));
    else if (name.starts_with("old_dirs."))
      dirs.emplace_back(value);
    else if (name.starts_with("old_stps."))
      steps.emplace_back(value);
    else
      state.emplace_back(name, value);
  }
  if (std::any_of(state.begin(), state.end(),
                  [](const auto& e) { return e.first.as_string() == "n_iter"; })) {
    for (std::size_t i = 0; i < dirs.size(); ++i)
      ro.emplace_back(dirs[i].as_tensor().mul(steps[i].as_tensor()).sum().reciprocal());
    state.emplace_back("old_dirs", std::move(dirs));
    state.emplace_back("old_stps", std::move(steps));
    state.emplace_back("ro", std::move(ro));
  }
  return state;
}

template <class... Kinds>
bool is_one_of(const optim::Optimizer& optimizer) {
  return (... || (dynamic_cast<const Kinds*>(&optimizer) != nullptr));
}

Value tree_of(const optim::Optimizer& optimizer) {
  EBB_CHECK(
      (is_one_of<optim::Adagrad, optim::Adam, optim::AdamW, optim::LBFGS, optim::RMSprop, optim::SGD>(
          optimizer)),
      "pytorch: libtorch has no such optimizer: it has Adagrad, Adam, AdamW, LBFGS, RMSprop and SGD. Save "
      "this one by ebb::save.");
  NoGradGuard no_grad;
  serialize::InputArchive states(optimizer.state_dict());
  Dict state, groups{{"param_groups/size", size_of(optimizer.param_groups().size())}};
  std::size_t position = 0;
  for (std::size_t i = 0; i < optimizer.param_groups().size(); ++i) {
    const optim::OptimizerParamGroup& from = optimizer.param_groups()[i];
    Dict group{{"params/size", size_of(from.params().size())}};
    for (std::size_t j = 0; j < from.params().size(); ++j, ++position) {
      group.emplace_back("params/" + std::to_string(j), id_of(position));
      if (serialize::InputArchive one; states.try_read(std::to_string(position), one))
        state.emplace_back(id_of(position), state_of(one, from.params()[j]));
    }
    group.emplace_back("options", options_of(from));
    groups.emplace_back("param_groups/" + std::to_string(i), std::move(group));
  }
  return Dict{{"pytorch_version", "1.5.0"}, {"state", std::move(state)}, {"param_groups", std::move(groups)}};
}

}  // namespace

void save(const nn::Module& module, const std::string& path) { write_archive(path, state_of(module)); }
void save(const nn::Module& module, std::ostream& stream) { write_archive(stream, state_of(module)); }
void save(const optim::Optimizer& optimizer, const std::string& path) {
  write_archive(path, tree_of(optimizer));
}
void save(const optim::Optimizer& optimizer, std::ostream& stream) {
  write_archive(stream, tree_of(optimizer));
}

}  // namespace ebb::pytorch

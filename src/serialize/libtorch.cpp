// pytorch::save: writes modules and optimizers like libtorch's torch::save, and optimizers like Python's
// state_dict().
#include <ebb/autograd/grad_mode.h>
#include <ebb/io/pytorch.h>
#include <ebb/ops/creation.h>
#include <ebb/optim.h>
#include <ebb/serialize.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <string_view>

namespace ebb::pytorch {
namespace {

// Returns the state_dict with the parameters themselves in place of their detached copies. Their
// requires_grad distinguishes them from buffers in the file.
NamedTensors state_of(const nn::Module& module) {
  NamedTensors tensors;
  const auto parameters = module.named_parameters();
  for (const auto& item : module.state_dict()) {
    const Variable* const parameter = parameters.find(item.key());
    tensors.emplace_back(item.key(), parameter ? *parameter : item.value());
  }
  return tensors;
}

// Returns the id of a parameter. libtorch uses addresses, so any number except zero is valid.
std::string id_of(std::size_t position) { return std::to_string(position + 1); }
Value size_of(std::size_t count) { return scalar_tensor(static_cast<std::int64_t>(count), kLong); }

// Converts an option from a tensor (src/optim/fields.h) back to its own type.
Value option(const Variable& value) {
  if (value.dim() == 0 && value.dtype() == kBool) return value.item<bool>();
  if (value.dim() == 0 && value.dtype() == kLong) return value.item<std::int64_t>();
  if (value.dim() == 0) return value.item<double>();
  if (value.dtype() == kByte) {
    const auto* const text = value.data_ptr<std::uint8_t>();
    return std::string(text, text + value.numel());
  }
  Tuple numbers;
  for (std::int64_t i = 0; i < value.numel(); ++i) {
    const double number = value.data_ptr<double>()[i];
    numbers.items.push_back(std::isnan(number) ? Value() : Value(number));
  }
  return numbers;
}

// Returns the options of a group without absent options. Throws if an option in `lacking`, which `reader`
// does not have, is on.
Dict options_of(const optim::OptimizerParamGroup& group, const char* reader,
                std::initializer_list<std::string_view> lacking) {
  serialize::OutputArchive archive;
  group.options().serialize(archive);
  Dict options;
  for (const auto& [name, value] : archive.tensors()) {
    if (std::find(lacking.begin(), lacking.end(), name) == lacking.end()) {
      options.emplace_back(name, option(value));
      continue;
    }
    EBB_CHECK(!value.item<bool>(), "pytorch: ", reader, " has no option ", name,
              ". Save the optimizer with ebb::save.");
  }
  return options;
}

// Returns the state of one parameter: its quantities by name.
Dict state_of(const serialize::InputArchive& archive, const Variable& parameter) {
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
      "this one with ebb::save.");
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
    Dict options = options_of(from, "libtorch", {"master_weights", "maximize"});
    std::erase_if(options, [&](const auto& each) {  // in libtorch the class tells Adam from AdamW
      const std::string& name = each.first.as_string();
      EBB_CHECK(
          name != "decoupled_weight_decay" || !each.second.as_bool() || is_one_of<optim::AdamW>(optimizer),
          "pytorch: libtorch has no option decoupled_weight_decay. Save the optimizer with ebb::save.");
      return name == "decoupled_weight_decay" || name == "initial_lr";
    });
    group.emplace_back("options", std::move(options));
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

Value state_dict(const optim::Optimizer& optimizer) {
  using namespace optim;
  EBB_CHECK((is_one_of<Adadelta, Adafactor, Adagrad, Adam, Adamax, AdamW, ASGD, LBFGS, Muon, NAdam, RAdam,
                       RMSprop, Rprop, SGD>(optimizer)),
            "pytorch: PyTorch has no such optimizer. Save this one with ebb::save.");
  NoGradGuard no_grad;
  serialize::InputArchive states(optimizer.state_dict());
  Dict state;
  List groups;
  std::int64_t position = 0;
  for (const OptimizerParamGroup& from : optimizer.param_groups()) {
    Dict group = options_of(from, "PyTorch", {"master_weights"});
    // Adds options that are None, which ebb's files do not contain.
    const auto complete = [&](const char* name, const Value& value) {
      if (std::none_of(group.begin(), group.end(),
                       [&](const auto& e) { return e.first.as_string() == name; }))
        group.emplace_back(name, value);
    };
    if (const auto* const lbfgs = dynamic_cast<const LBFGSOptions*>(&from.options())) {
      complete("max_eval", lbfgs->max_iter() * 5 / 4);
      complete("line_search_fn", Value());
    }
    if (is_one_of<Muon>(optimizer)) complete("adjust_lr_fn", Value());
    List places;
    for (const Variable& parameter : from.params()) {
      if (serialize::InputArchive one; states.try_read(std::to_string(position), one)) {
        Dict quantities = state_of(one, parameter);
        for (auto& [name, value] : quantities)  // in Python the step count is a tensor
          if (name.as_string() == "step") value = scalar_tensor(value.as_double(), kFloat);
        state.emplace_back(position, std::move(quantities));
      }
      places.emplace_back(position++);
    }
    group.emplace_back("params", std::move(places));
    groups.emplace_back(std::move(group));
  }
  return Dict{{"state", std::move(state)}, {"param_groups", std::move(groups)}};
}

}  // namespace ebb::pytorch

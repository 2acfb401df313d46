// Creates an ebb module from a PyTorch module: its state, its mode and its dtype.
#pragma once

#include "harness.h"

#include <cstdlib>
#include <stdexcept>

namespace opinfo {

template <class T>
void flatten(Tensors& out, const T& value) {
  if constexpr (std::is_same_v<T, ebb::nn::utils::rnn::PackedSequence>)
    for (const Tensor& x : {value.data(), value.batch_sizes()}) out.push_back(x);
  else if constexpr (std::is_same_v<T, ebb::nn::ASMoutput>)
    for (const Tensor& x : {value.output, ebb::tensor(value.loss, ebb::kDouble)}) out.push_back(x);
  else if constexpr (requires { std::tuple_size<T>::value; })
    std::apply([&](const auto&... part) { (flatten(out, part), ...); }, value);
  else
    push(out, value);
}

/// Replaces the number of a file if PyTorch refuses to create the module.
inline constexpr std::int64_t kNoState = -2;

/// t[at] contains the mode, the dtype, the seed, and the number of a file, -1 or kNoState; t[at + 1] contains
/// the names of the state; the state follows. The state is loaded, from the file of PyTorch if there is one,
/// and written to another file. The parameters replace the state in t, so that their gradients are compared.
inline void prepare(ebb::nn::Module& module, Tensors& t, std::size_t at) {
  const auto option = [&](std::int64_t i) { return t[at][i].item<std::int64_t>(); };
  std::vector<std::string> names(1);
  for (std::int64_t i = 0; i < t[at + 1].numel(); ++i) {
    const char c = static_cast<char>(t[at + 1][i].item<std::int64_t>());
    if (c == '\n')
      names.emplace_back();
    else
      names.back() += c;
  }
  names.pop_back();
  const bool file = option(3) >= 0;
  if (file) {  // in Float, like the parameters
    for (Tensor buffer : module.buffers())
      if (buffer.is_floating_point()) buffer.set_data(buffer.to(kTypes[option(1)]));
  } else {
    module.to(kTypes[option(1)]);
  }
  module.train(option(0) != 0);
  const auto own = module.state_dict().keys();
  if (option(3) == kNoState) return;
  if (own != names) {
    std::string text = "state:";
    for (const std::string& name : own) text += " " + name;
    throw std::logic_error(text);
  }
  if (file) {
    const std::string path =
        std::string(std::getenv("OPINFO_FILES")) + "/" + std::to_string(option(3)) + ".pt";
    ebb::load(module, path);
    ebb::pytorch::write(path + ".ebb", module.state_dict().pairs());
  }
  const auto own_state = module.state_dict();
  ebb::nn::Module::StateDict state;
  for (std::size_t i = 0; i < names.size(); ++i) state.insert(names[i], t[at + 2 + i].detach());
  // With assign, num_batches_tracked stays an integer; Module::to(dtype) would convert it.
  if (!file) module.load_state_dict(state, /*strict=*/true, /*assign=*/true);
  const auto parameters = module.named_parameters();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Tensor* const found = parameters.find(names[i]);
    if ((found && found->requires_grad()) != t[at + 2 + i].requires_grad())
      throw std::logic_error(names[i] + " has another requires_grad");
    if (file && !ebb::equal(t[at + 2 + i], own_state[names[i]]))
      throw std::logic_error(names[i] + " is not as in the file");
    if (found) t[at + 2 + i] = *found;
  }
  ebb::manual_seed(static_cast<std::uint64_t>(option(2)));
}

/// Whether the call runs under autocast to BFloat16.
inline bool is_cast(const Tensors& t, std::size_t at) {
  return t[at].numel() > 4 && t[at][4].item<std::int64_t>() != 0;
}

/// The results of a call, and the buffers after it.
template <class T>
void finish(Tensors& out, const T& value, const ebb::nn::Module& module) {
  flatten(out, value);
  for (const Tensor& buffer : module.buffers()) out.push_back(buffer.clone());
}

}  // namespace opinfo

// Training of a program that writes files of all formats (data/old_files.cpp), and of a program that reads
// them later.
#pragma once

#include <ebb/ebb.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace old_files {

inline ebb::nn::Linear model() {
  ebb::nn::Linear model(2, 1);
  ebb::NoGradGuard no_grad;
  model->weight.copy_(ebb::tensor({{0.5F, -0.25F}}));
  model->bias.fill_(0.125);
  return model;
}

inline void steps(ebb::nn::Linear& model, ebb::optim::Optimizer& optimizer, int count) {
  const ebb::Variable x = ebb::tensor({{1.F, 2.F}, {3.F, -1.F}, {0.5F, 0.F}}),
                      y = ebb::tensor({{1.F}, {-2.F}, {0.5F}});
  for (int i = 0; i < count; ++i) {
    optimizer.zero_grad();
    model(x).sub(y).square().sum().backward();
    optimizer.step();
  }
}

inline ebb::Variable weights(const ebb::nn::Linear& model) {
  return ebb::cat({model->weight.detach().view({2}), model->bias.detach()});
}

using Parameters = std::vector<ebb::Variable>;
using Optimizer = std::unique_ptr<ebb::optim::Optimizer>;

template <class T, class Options>
std::function<Optimizer(Parameters)> made(Options options) {
  return [options](Parameters parameters) { return std::make_unique<T>(std::move(parameters), options); };
}

/// Optimizers by name, each with options that differ from the defaults.
inline std::vector<std::pair<std::string, std::function<Optimizer(Parameters)>>> optimizers() {
  using namespace ebb::optim;
  return {{"adadelta", made<Adadelta>(AdadeltaOptions(0.5).rho(0.8))},
          {"adagrad", made<Adagrad>(AdagradOptions(0.05).lr_decay(0.1))},
          {"adam", made<Adam>(AdamOptions(0.05).amsgrad(true).betas({0.8, 0.9}))},
          {"adamax", made<Adamax>(AdamaxOptions(0.05))},
          {"adamw", made<AdamW>(AdamWOptions(0.05).weight_decay(0.1))},
          {"lion", made<Lion>(LionOptions(0.05))},
          {"nadam", made<NAdam>(NAdamOptions(0.05))},
          {"radam", made<RAdam>(RAdamOptions(0.05))},
          {"rmsprop", made<RMSprop>(RMSpropOptions(0.05).momentum(0.5).centered(true))},
          {"rprop", made<Rprop>(RpropOptions(0.05))},
          {"sgd", made<SGD>(SGDOptions(0.05).momentum(0.5).nesterov(true))}};
}

/// Elements that all dtypes can represent.
inline std::vector<std::pair<std::string, ebb::Variable>> of_every_dtype() {
  std::vector<std::pair<std::string, ebb::Variable>> tensors;
  const std::pair<const char*, ebb::DType> dtypes[] = {
      {"float", ebb::kFloat}, {"double", ebb::kDouble}, {"half", ebb::kHalf},   {"bfloat16", ebb::kBFloat16},
      {"long", ebb::kLong},   {"int", ebb::kInt},       {"short", ebb::kShort}, {"char", ebb::kChar},
      {"byte", ebb::kByte},   {"bool", ebb::kBool}};
  for (const auto& [name, dtype] : dtypes)
    tensors.emplace_back(name, ebb::arange(6).remainder(2).to(dtype).view({2, 3}));
  tensors.emplace_back("scalar", ebb::full({}, 2.5));
  tensors.emplace_back("empty", ebb::zeros({0, 3}));
  return tensors;
}

}  // namespace old_files

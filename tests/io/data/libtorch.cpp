// The libtorch side of the archive tests. "make FOLDER" writes the archives of this folder (torch 2.15 wrote
// the stored ones). "check FOLDER" reads the files that ebb's tests wrote to the folder of EBB_TEST_FOLDER,
// and continues the training. Build: g++ -std=c++20 libtorch.cpp -I$T/include
// -I$T/include/torch/csrc/api/include -L$T/lib -ltorch -ltorch_cpu -lc10
#include <torch/torch.h>

#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace optim = torch::optim;
using Optimizer = std::shared_ptr<optim::Optimizer>;

torch::nn::Linear model() {
  torch::nn::Linear model(2, 1);
  torch::NoGradGuard no_grad;
  model->weight.copy_(torch::tensor({{0.5, -0.25}}));
  model->bias.fill_(0.125);
  return model;
}

void steps(torch::nn::Linear& model, optim::Optimizer& optimizer, int count) {
  const auto x = torch::tensor({{1.0, 2.0}, {3.0, -1.0}, {0.5, 0.0}}),
             y = torch::tensor({{1.0}, {-2.0}, {0.5}});
  for (int i = 0; i < count; ++i)
    optimizer.step([&] {
      optimizer.zero_grad();
      auto loss = torch::mse_loss(torch::tanh(model(x)), y);
      loss.backward();
      return loss;
    });
}

template <class Kind, class Options>
std::pair<std::string, Optimizer> made(const char* name, const torch::nn::Linear& model,
                                       const Options& options) {
  return {name, std::make_shared<Kind>(model->parameters(), options)};
}

std::vector<std::pair<std::string, Optimizer>> optimizers(const torch::nn::Linear& model, bool start) {
  const double lr = start ? 0.05 : 1;  // the loaded options differ from these
  return {
      made<optim::SGD>("sgd", model, optim::SGDOptions(lr).momentum(0.9).nesterov(true).weight_decay(0.01)),
      made<optim::Adam>("adam", model, optim::AdamOptions(lr).amsgrad(true).betas({0.8, 0.95})),
      made<optim::AdamW>("adamw", model, optim::AdamWOptions(lr).weight_decay(0.1)),
      made<optim::RMSprop>("rmsprop", model, optim::RMSpropOptions(lr).centered(true).momentum(0.5)),
      made<optim::Adagrad>("adagrad", model, optim::AdagradOptions(lr).lr_decay(0.1)),
      made<optim::LBFGS>("lbfgs", model, optim::LBFGSOptions(lr).history_size(3).max_iter(4))};
}

void make(const std::string& folder) {
  torch::manual_seed(0);
  torch::nn::Sequential net(torch::nn::Linear(3, 2), torch::nn::BatchNorm1d(2), torch::nn::Linear(2, 1));
  torch::save(net, folder + "/libtorch_module.pt");
  torch::save(std::vector<torch::Tensor>{torch::arange(3), torch::ones({1, 2}, torch::kBFloat16)},
              folder + "/libtorch_tensors.pt");
  // For each optimizer: the model and its state after three steps, and the model after five.
  torch::serialize::OutputArchive all;
  const std::size_t count = optimizers(model(), true).size();
  for (std::size_t i = 0; i < count; ++i) {
    auto trained = model(), after = model();
    const auto [name, optimizer] = optimizers(trained, true)[i];
    steps(trained, *optimizer, 3);
    steps(after, *optimizers(after, true)[i].second, 5);
    torch::serialize::OutputArchive run(all.compilation_unit());
    const auto write = [&](const char* key, const auto& part) {
      torch::serialize::OutputArchive archive(all.compilation_unit());
      part.save(archive);
      run.write(key, archive);
    };
    write("model", *trained);
    write("optimizer", *optimizer);
    write("after", *after);
    all.write(name, run);
  }
  all.save_to(folder + "/libtorch_runs.pt");
}

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("not so: " + what);
}

void check(const std::string& folder) {
  torch::nn::Sequential net(torch::nn::Linear(3, 2), torch::nn::BatchNorm1d(2), torch::nn::Linear(2, 1));
  torch::load(net, folder + "/module.pt");
  std::vector<torch::Tensor> parts = net->parameters(), want;
  for (const auto& buffer : net->buffers()) parts.push_back(buffer);
  torch::load(want, folder + "/values.pt");
  require(parts.size() == want.size(), "the module has what the list has");
  for (std::size_t i = 0; i < parts.size(); ++i)
    require(torch::equal(parts[i], want[i]), "its tensors are equal");
  const std::size_t count = optimizers(model(), false).size();
  for (std::size_t i = 0; i < count; ++i) {
    torch::nn::Linear trained(2, 1), after(2, 1);
    const auto [name, optimizer] = optimizers(trained, false)[i];
    torch::load(trained, folder + "/" + name + "_model.pt");
    torch::load(after, folder + "/" + name + "_after.pt");
    torch::load(*optimizer, folder + "/" + name + "_optimizer.pt");
    steps(trained, *optimizer, 2);
    require(torch::allclose(trained->weight, after->weight, 1e-5, 1e-7), name + " goes on as ebb does");
    require(torch::allclose(trained->bias, after->bias, 1e-5, 1e-7), name + " goes on as ebb does");
  }
  std::cout << "as it should be\n";
}

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  (std::string(argv[1]) == "make" ? make : check)(argv[2]);
}

// The shape of the classic digit example: a net with dropout, train and test functions, a data loader.
#include "fidelity.h"

#include <memory>

namespace tutorial_digits {

struct Digits : torch::data::datasets::Dataset<Digits> {
  explicit Digits(int64_t count) : count_(count) {
    images_ = ramp({count, 1, 10, 10}, 0, 0.4).to(torch::kFloat32);
    targets_ = torch::arange(count).remainder(4);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t label = i % 4;
      images_.index_put_(
          {i, 0, torch::indexing::Slice(label * 2, label * 2 + 3), torch::indexing::Slice(2, 8)}, 1.0);
    }
  }
  torch::data::Example<> get(size_t index) override { return {images_[index], targets_[index]}; }
  torch::optional<size_t> size() const override { return images_.size(0); }
  int64_t count_;
  Tensor images_, targets_;
};

struct Net : torch::nn::Module {
  Net()
      : conv1(torch::nn::Conv2dOptions(1, 4, /*kernel_size=*/3)),
        conv2(torch::nn::Conv2dOptions(4, 6, 3)),
        fc1(24, 16),
        fc2(16, 4) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("conv2_drop", conv2_drop);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(torch::max_pool2d(conv1->forward(x), 2));
    x = torch::relu(conv2_drop->forward(conv2->forward(x)));
    x = x.view({-1, 24});
    x = torch::relu(fc1->forward(x));
    x = torch::dropout(x, /*p=*/0.2, /*training=*/is_training());
    x = fc2->forward(x);
    return torch::log_softmax(x, /*dim=*/1);
  }
  torch::nn::Conv2d conv1;
  torch::nn::Conv2d conv2;
  torch::nn::Dropout2d conv2_drop;
  torch::nn::Linear fc1;
  torch::nn::Linear fc2;
};

template <typename DataLoader>
double train(Net& model, torch::Device device, DataLoader& loader, torch::optim::Optimizer& optimizer) {
  model.train();
  double last = 0;
  for (auto& batch : loader) {
    auto data = batch.data.to(device), targets = batch.target.to(device);
    optimizer.zero_grad();
    auto output = model.forward(data);
    auto loss = torch::nll_loss(output, targets);
    if (std::isnan(loss.template item<float>())) throw std::runtime_error("the loss is not a number");
    loss.backward();
    optimizer.step();
    last = loss.template item<float>();
  }
  return last;
}

template <typename DataLoader>
void test(const std::string& name, Net& model, torch::Device device, DataLoader& loader, size_t size) {
  torch::NoGradGuard no_grad;
  model.eval();
  double loss = 0;
  int64_t correct = 0;
  for (const auto& batch : loader) {
    auto data = batch.data.to(device), targets = batch.target.to(device);
    auto output = model.forward(data);
    loss += torch::nll_loss(output, targets, /*weight=*/{}, torch::Reduction::Sum).template item<float>();
    auto pred = output.argmax(1);
    correct += pred.eq(targets).sum().template item<int64_t>();
  }
  report(name + ".loss", torch::tensor(static_cast<float>(loss / static_cast<double>(size))));
  report_value(name + ".correct", static_cast<double>(correct));
}

void run() {
  section("digits", [] {
    torch::manual_seed(1);
    torch::DeviceType device_type = torch::kCPU;
    torch::Device device(device_type);
    Net model;
    model.to(device);
    for (const auto& item : model.named_parameters()) report("init." + item.key(), item.value());
    auto train_set = Digits(32)
                         .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
                         .map(torch::data::transforms::Stack<>());
    const size_t train_size = train_set.size().value();
    report_value("size", static_cast<double>(train_size));
    auto train_loader =
        torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(std::move(train_set), 8);
    auto test_set = Digits(12)
                        .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
                        .map(torch::data::transforms::Stack<>());
    const size_t test_size = test_set.size().value();
    auto test_loader =
        torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(std::move(test_set), 5);
    torch::optim::SGD optimizer(model.parameters(), torch::optim::SGDOptions(0.05).momentum(0.5));
    for (size_t epoch = 1; epoch <= 3; ++epoch) {
      report("train" + std::to_string(epoch),
             torch::tensor(static_cast<float>(train(model, device, *train_loader, optimizer))));
      test("test" + std::to_string(epoch), model, device, *test_loader, test_size);
    }
    report("conv1", model.conv1->weight);
  });
  section("random_loader", [] {
    // The order of a shuffled epoch comes from the seed as well.
    torch::manual_seed(2);
    auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
        Digits(10).map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions().batch_size(5));
    for (auto& batch : *loader) report("order", batch.target);
    for (auto& batch : *loader) report("order.again", batch.target);
  });
}

const Program program("tutorial_digits", run);

}  // namespace tutorial_digits

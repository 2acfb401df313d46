// Programs in the style of tutorials.
#include "fidelity.h"

#include <memory>

// The classic digit example: a network with dropout, train and test functions, a data loader.
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
    // The seed determines the order of a shuffled epoch as well.
    torch::manual_seed(2);
    auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
        Digits(10).map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions().batch_size(5));
    for (auto& batch : *loader) report("order", batch.target);
    for (auto& batch : *loader) report("order.again", batch.target);
  });
}

const Program program("tutorial_digits", run);

}  // namespace tutorial_digits

// Autograd without networks: a differential equation, maximum likelihood, factorization, meta-learning,
// policy gradients.
namespace tutorial_without_networks {

namespace nn = torch::nn;

void run() {
  const auto f64 = torch::TensorOptions().dtype(torch::kFloat64);
  section("equation", [&] {
    // u'' + u = 0 with u(0) = 0, u'(0) = 1, trained with its residual.
    nn::Sequential net(nn::Linear(1, 8), nn::Tanh(), nn::Linear(8, 1));
    net->to(torch::kFloat64);
    double phase = 0;
    for (auto& p : net->parameters()) {
      torch::NoGradGuard guard;
      p.copy_(ramp(p.sizes().vec(), -1, 1, phase += 0.5));
    }
    torch::optim::Adam optimizer(net->parameters(), 0.02);
    Tensor t = torch::linspace(0, 3, 9, f64).unsqueeze(1).requires_grad_();
    const Tensor ones = torch::ones({9, 1}, f64);
    for (int step = 0; step < 15; ++step) {
      optimizer.zero_grad();
      Tensor u = net->forward(t);
      Tensor du = torch::autograd::grad({u}, {t}, {ones}, true, true)[0];
      Tensor ddu = torch::autograd::grad({du}, {t}, {ones}, true, true)[0];
      Tensor loss = (ddu + u).square().mean() + u[0].square().sum() + (du[0] - 1).square().sum();
      loss.backward();
      optimizer.step();
      if (step % 7 == 0) report("equation.loss" + std::to_string(step), loss);
    }
  });

  section("likelihood", [&] {
    Tensor mean = torch::zeros({}, f64).requires_grad_(), log_std = torch::zeros({}, f64).requires_grad_();
    const Tensor data = ramp({20}, 1, 4);
    for (int step = 0; step < 100; ++step) {
      Tensor z = (data - mean) / log_std.exp();
      Tensor loss = (0.5 * z * z + log_std).mean();
      auto grads = torch::autograd::grad({loss}, {mean, log_std});
      torch::NoGradGuard guard;
      mean -= 0.2 * grads[0];
      log_std -= 0.2 * grads[1];
    }
    report("likelihood.mean", mean);
    report("likelihood.std", log_std.exp());
  });

  section("factorisation", [&] {
    Tensor a = ramp({4, 2}).requires_grad_(), b = ramp({2, 5}, -1, 1, 0.8).requires_grad_();
    const Tensor target = ramp({4, 5}, 0, 2), known = target > 0.5;
    torch::optim::SGD optimizer({a, b}, torch::optim::SGDOptions(0.1).momentum(0.5));
    Tensor loss;
    for (int step = 0; step < 40; ++step) {
      optimizer.zero_grad();
      loss = ((a.mm(b) - target).masked_select(known)).pow(2).mean() + 1e-2 * (a.norm() + b.norm());
      loss.backward();
      optimizer.step();
    }
    report("factorisation.loss", loss);
    report("factorisation.a", a);
  });

  section("meta", [&] {
    Tensor w = ramp({3, 1}).requires_grad_(), b = torch::zeros({1}, f64).requires_grad_();
    Tensor outer = torch::zeros({}, f64);
    for (int task = 0; task < 2; ++task) {
      const Tensor x = ramp({6, 3}, -1, 1, 0.5 + task), y = (x.sum(1, true) * (task + 1)).sin();
      Tensor inner = torch::mse_loss(x.mm(w) + b, y);
      auto g = torch::autograd::grad({inner}, {w, b}, {}, torch::nullopt, true);
      Tensor fast_w = w - 0.3 * g[0], fast_b = b - 0.3 * g[1];
      outer = outer + torch::mse_loss((x * 0.9).mm(fast_w) + fast_b, y);
    }
    outer.backward();
    report("meta.loss", outer);
    report("meta.w", w.grad());
    report("meta.b", b.grad());
  });

  section("policy", [&] {
    torch::manual_seed(6);
    Tensor logits = torch::zeros({4}, f64).requires_grad_();
    const Tensor reward = torch::tensor({0.1, 0.5, 0.2, 0.9}, f64);
    torch::optim::Adam optimizer({logits}, torch::optim::AdamOptions(0.1));
    int64_t last = 0;
    for (int step = 0; step < 30; ++step) {
      Tensor probabilities = torch::softmax(logits, 0);
      Tensor action = probabilities.detach().multinomial(1);
      last = action.item<int64_t>();
      Tensor loss = -probabilities.log().index_select(0, action) * (reward[last] - 0.4);
      optimizer.zero_grad();
      loss.sum().backward();
      optimizer.step();
    }
    report_value("policy.last", static_cast<double>(last));
    report("policy.logits", logits);
  });

  section("vae", [&] {
    torch::manual_seed(12);
    Tensor mu = ramp({3, 2}).requires_grad_(), logvar = ramp({3, 2}, -1, 0).requires_grad_();
    Tensor eps = torch::randn_like(mu);
    Tensor z = eps * (logvar / 2).exp() + mu;
    Tensor kl = -0.5 * torch::sum(1 + logvar - mu.pow(2) - logvar.exp());
    (z.sigmoid().sum() + kl).backward();
    report("vae.z", z);
    report("vae.mu", mu.grad());
    report("vae.logvar", logvar.grad());
  });

  section("power_iteration", [&] {
    Tensor m = ramp({4, 4});
    m = (m.mm(m.t())).requires_grad_();
    Tensor v = torch::ones({4}, f64) / 2;
    for (int step = 0; step < 50; ++step) {
      v = m.mv(v);
      v = v / v.norm();
    }
    Tensor value = v.dot(m.mv(v));
    value.backward();
    report("power.value", value);
    report("power.grad", m.grad());
  });

  section("kmeans", [&] {
    const Tensor points = ramp({12, 2}, -2, 2);
    Tensor centres = points.slice(0, 0, 3).clone();
    for (int step = 0; step < 5; ++step) {
      Tensor nearest = torch::cdist(points, centres).argmin(1);
      for (int64_t k = 0; k < 3; ++k) {
        Tensor mine = points.index({nearest == k});
        if (mine.size(0) > 0) centres[k] = mine.mean(0);
      }
    }
    report("kmeans", centres);
  });

  section("recurrent_cell", [&] {
    // A handwritten LSTM cell.
    Tensor wx = ramp({3, 16}, -0.5, 0.5).requires_grad_(),
           wh = ramp({4, 16}, -0.5, 0.5, 0.9).requires_grad_();
    Tensor bias = torch::zeros({16}, f64).requires_grad_();
    Tensor h = torch::zeros({2, 4}, f64), c = torch::zeros({2, 4}, f64);
    const Tensor series = ramp({5, 2, 3});
    for (int64_t step = 0; step < series.size(0); ++step) {
      auto gates = torch::addmm(bias, series[step], wx) + h.mm(wh);
      auto parts = gates.chunk(4, 1);
      c = torch::sigmoid(parts[1]) * c + torch::sigmoid(parts[0]) * torch::tanh(parts[2]);
      h = torch::sigmoid(parts[3]) * torch::tanh(c);
    }
    h.sum().backward();
    report("cell.h", h);
    report("cell.wx", wx.grad());
    report("cell.wh", wh.grad());
    report("cell.bias", bias.grad());
  });
}

const Program program("tutorial_without_networks", run);

}  // namespace tutorial_without_networks

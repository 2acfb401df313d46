// Whole trainings: losses along the way must be libtorch's.
#include "fidelity.h"

#include <memory>

namespace training_loops {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

struct Regressor : nn::Module {
  Regressor() {
    fc1 = register_module("fc1", nn::Linear(2, 16));
    fc2 = register_module("fc2", nn::Linear(16, 16));
    out = register_module("out", nn::Linear(16, 1));
  }
  Tensor forward(Tensor x) {
    x = torch::tanh(fc1->forward(x));
    x = torch::relu(fc2->forward(x));
    return out->forward(x);
  }
  nn::Linear fc1{nullptr}, fc2{nullptr}, out{nullptr};
};

struct ConvNetImpl : nn::Module {
  ConvNetImpl()
      : conv1(nn::Conv2dOptions(1, 4, 3).padding(1).bias(
            false)),  // a bias before a norm has only noise for a gradient
        norm(4),
        conv2(nn::Conv2dOptions(4, 8, 3)),
        fc(8 * 4, 3) {
    register_module("conv1", conv1);
    register_module("norm", norm);
    register_module("conv2", conv2);
    register_module("fc", fc);
  }
  Tensor forward(Tensor x) {
    x = torch::max_pool2d(torch::relu(norm(conv1(x))), 2);
    x = F::relu(conv2(x));
    x = x.view({x.size(0), -1});
    return torch::log_softmax(fc(x), 1);
  }
  nn::Conv2d conv1;
  nn::BatchNorm2d norm;
  nn::Conv2d conv2;
  nn::Linear fc;
};
TORCH_MODULE(ConvNet);

// Deterministic images with a bright row whose place is the class.
struct Stripes : torch::data::Dataset<Stripes> {
  torch::data::Example<> get(size_t index) override {
    const int64_t label = static_cast<int64_t>(index) % 3;
    Tensor image = ramp({1, 8, 8}, -0.3, 0.3, 0.1 * static_cast<double>(index)).to(torch::kFloat32);
    image[0][label * 2 + 1] += 1.0;
    return {image, torch::tensor(label)};
  }
  torch::optional<size_t> size() const override { return 24; }
};

void fill(nn::Module& module) {
  torch::NoGradGuard guard;
  double phase = 0;
  for (auto& p : module.parameters())
    if (p.dim() > 1) p.copy_(ramp(p.sizes().vec(), -0.4, 0.4, phase += 0.37));
}

void run() {
  section("regression", [] {
    auto net = std::make_shared<Regressor>();
    net->to(torch::kFloat64);
    fill(*net);
    {
      torch::NoGradGuard guard;
      for (auto& p : net->parameters())
        if (p.dim() == 1) p.zero_();
    }
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
    const Tensor x = ramp({32, 2}, -2, 2), y = (x.select(1, 0).sin() + x.select(1, 1) * 0.5).unsqueeze(1);
    for (int epoch = 0; epoch < 30; ++epoch) {
      optimizer.zero_grad();
      Tensor loss = F::mse_loss(net->forward(x), y);
      loss.backward();
      optimizer.step();
      if (epoch % 10 == 0 || epoch == 29) report("regression.loss" + std::to_string(epoch), loss);
    }
    report("regression.weight", net->fc1->weight);
    net->eval();
    torch::NoGradGuard guard;
    report("regression.prediction", net->forward(ramp({3, 2})));
  });

  section("classification", [] {
    torch::manual_seed(0);
    ConvNet net;
    for (auto& p : net->parameters()) {
      torch::NoGradGuard guard;
      if (p.dim() == 1) p.fill_(p.size(0) == 4 ? 0.5 : 0.1);
    }
    fill(*net);
    auto dataset =
        Stripes().map(torch::data::transforms::Normalize<>(0.1, 0.5)).map(torch::data::transforms::Stack<>());
    auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
        std::move(dataset), torch::data::DataLoaderOptions().batch_size(8));
    torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(0.01));
    int64_t correct = 0;
    for (int epoch = 0; epoch < 4; ++epoch) {
      net->train();
      correct = 0;
      double total = 0;
      for (auto& batch : *loader) {
        optimizer.zero_grad();
        Tensor output = net->forward(batch.data);
        Tensor loss = torch::nll_loss(output, batch.target);
        loss.backward();
        optimizer.step();
        total += loss.item<float>();
        correct += output.argmax(1).eq(batch.target).sum().item<int64_t>();
      }
      report("classification.loss" + std::to_string(epoch), torch::tensor(static_cast<float>(total)));
    }
    report_value("classification.correct", static_cast<double>(correct));
    report("classification.running", net->norm->running_mean);
    report("classification.batches", net->norm->num_batches_tracked);
  });

  section("logistic", [] {
    Tensor w = torch::zeros({2, 1}, torch::kFloat64).requires_grad_(),
           b = torch::zeros({1}, torch::dtype(torch::kFloat64).requires_grad(true));
    const Tensor x = ramp({20, 2}, -2, 2), y = (x.sum(1, true) > 0.3).to(torch::kFloat64);
    for (int step = 0; step < 50; ++step) {
      Tensor loss = torch::binary_cross_entropy_with_logits(torch::addmm(b, x, w), y);
      loss.backward();
      torch::NoGradGuard guard;
      for (Tensor* p : {&w, &b}) {
        p->sub_(0.5 * p->grad());
        p->mutable_grad().zero_();
      }
    }
    report("logistic.w", w);
    report("logistic.b", b);
    report_value("logistic.accuracy",
                 (torch::sigmoid(x.mm(w) + b).round() == y).to(torch::kFloat64).mean().item<double>());
  });

  section("recurrent", [] {
    // A recurrence written by hand: gradients through time, clipped.
    Tensor wh = ramp({4, 4}, -0.5, 0.5).requires_grad_(), wx = ramp({3, 4}, -0.5, 0.5, 0.9).requires_grad_();
    Tensor out = ramp({4, 1}).requires_grad_();
    torch::optim::AdamW optimizer({wh, wx, out}, torch::optim::AdamWOptions(0.02));
    const Tensor series = ramp({6, 2, 3}), target = ramp({2, 1});
    for (int step = 0; step < 8; ++step) {
      Tensor h = torch::zeros({2, 4}, torch::kFloat64);
      for (const Tensor& x : series.unbind(0)) h = torch::tanh(h.mm(wh) + x.mm(wx));
      Tensor loss = torch::smooth_l1_loss(h.mm(out), target);
      optimizer.zero_grad();
      loss.backward();
      nn::utils::clip_grad_norm_(std::vector<Tensor>{wh, wx, out}, 0.25);
      optimizer.step();
      if (step % 7 == 0) report("recurrent.loss" + std::to_string(step), loss);
    }
    report("recurrent.wh", wh);
  });

  section("autoencoder", [] {
    nn::Sequential encoder(nn::Linear(6, 3), nn::Sigmoid()), decoder(nn::Linear(3, 6));
    for (auto* module : {&encoder, &decoder}) {
      (*module)->to(torch::kFloat64);
      fill(**module);
      for (auto& p : (*module)->parameters())
        if (p.dim() == 1) nn::init::zeros_(p);
    }
    std::vector<Tensor> parameters = encoder->parameters();
    for (const auto& p : decoder->parameters()) parameters.push_back(p);
    torch::optim::Adam optimizer(parameters, torch::optim::AdamOptions(0.05).weight_decay(1e-3));
    const Tensor x = ramp({10, 6});
    Tensor loss;
    for (int step = 0; step < 20; ++step) {
      loss = (decoder->forward(encoder->forward(x)) - x).pow(2).sum(1).mean();
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    report("autoencoder.loss", loss);
    report("autoencoder.code", encoder->forward(x).slice(0, 0, 2));
  });
}

const Program program("training_loops", run);

}  // namespace training_loops

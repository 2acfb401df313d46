// Training steps on the device: an MLP 784-256-128-10 with SGD and the small CNN of train_cnn with Adam. Each
// is timed eagerly and as a replayed CUDA graph, in microseconds per step.
#include "device.h"

#ifdef EBB_FIDELITY_TORCH
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#endif

namespace {

namespace nn = torch::nn;
using torch::Tensor;

// A captured training step.
class Captured {
 public:
  explicit Captured(const std::function<void()>& step) {
#ifdef EBB_FIDELITY_TORCH
    const c10::cuda::CUDAStreamGuard guard(stream_);
    step();
    graph_.capture_begin();
    step();
    graph_.capture_end();
#else
    graph_.capture(step);
#endif
  }
  void replay() {
#ifdef EBB_FIDELITY_TORCH
    const c10::cuda::CUDAStreamGuard guard(stream_);
#endif
    graph_.replay();
  }

 private:
#ifdef EBB_FIDELITY_TORCH
  c10::cuda::CUDAStream stream_ = c10::cuda::getStreamFromPool();
  at::cuda::CUDAGraph graph_;
#else
  torch::cuda::Graph graph_;
#endif
};

void measure(const std::string& name, nn::Sequential net, torch::optim::Optimizer& optimizer,
             const Tensor& images) {
  const Tensor labels = torch::arange(images.size(0), bench::on_device(torch::kLong)).remainder(10);
  const auto step = [&] {
    optimizer.zero_grad(/*set_to_none=*/false);
    nn::functional::cross_entropy(net->forward(images), labels).backward();
    optimizer.step();
  };
  bench::report(name, bench::device_seconds(step) * 1e6, "us/step");
  Captured captured(step);
  bench::report(name + ".captured", bench::device_seconds([&] { captured.replay(); }) * 1e6, "us/step");
}

}  // namespace

int main() {
  torch::manual_seed(1);
  const torch::Device device = bench::device();
  for (const int64_t batch : {64, 1024}) {
    nn::Sequential mlp(nn::Linear(784, 256), nn::ReLU(), nn::Linear(256, 128), nn::ReLU(),
                       nn::Linear(128, 10));
    mlp->to(device);
    torch::optim::SGD sgd(mlp->parameters(), torch::optim::SGDOptions(0.01));
    measure("step.mlp." + std::to_string(batch), mlp, sgd, torch::rand({batch, 784}, bench::on_device()));

    nn::Sequential cnn(nn::Conv2d(nn::Conv2dOptions(1, 32, 3)), nn::ReLU(), nn::MaxPool2d(2),
                       nn::Conv2d(nn::Conv2dOptions(32, 64, 3)), nn::ReLU(), nn::MaxPool2d(2),
                       nn::Conv2d(nn::Conv2dOptions(64, 64, 3)), nn::ReLU(), nn::Flatten(),
                       nn::Linear(576, 64), nn::ReLU(), nn::Linear(64, 10));
    cnn->to(device);
    torch::optim::Adam adam(cnn->parameters(), torch::optim::AdamOptions(1e-3));
    measure("step.cnn." + std::to_string(batch), cnn, adam,
            torch::rand({batch, 1, 28, 28}, bench::on_device()));
  }
}

// A program written for libtorch: a small network fits a line.
#include <torch/torch.h>

#include <cstdio>

struct NetImpl : torch::nn::Module {
  NetImpl() : fc(register_module("fc", torch::nn::Linear(1, 1))) {}
  torch::Tensor forward(torch::Tensor x) { return fc(x); }
  torch::nn::Linear fc;
};
TORCH_MODULE(Net);

int main() {
  torch::manual_seed(1);
  Net net;
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  const torch::Tensor x = torch::linspace(-1, 1, 32).unsqueeze(1), y = 3 * x + 1;
  float loss = 0;
  for (int step = 0; step < 200; ++step) {
    optimizer.zero_grad();
    torch::Tensor error = torch::nn::functional::mse_loss(net(x), y);
    error.backward();
    optimizer.step();
    loss = error.item<float>();
  }
  TORCH_CHECK(loss < 1e-4, "the loss is ", loss);
  std::printf("loss %.3g\n", loss);
}

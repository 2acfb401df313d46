// The small program with a size budget: it trains a perceptron with Adam, and fails unless the loss
// decreases.
#include <ebb/ebb.h>

int main() {
  ebb::manual_seed(1);
  ebb::nn::Sequential model(ebb::nn::Linear(8, 16), ebb::nn::ReLU(), ebb::nn::Linear(16, 2));
  ebb::optim::Adam optimizer(model->parameters(), ebb::optim::AdamOptions(1e-2));
  const ebb::Tensor x = ebb::randn({32, 8}), y = (x.sum(1) > 0).to(ebb::kLong);
  double first = 0, last = 0;
  for (int step = 0; step < 50; ++step) {
    optimizer.zero_grad();
    const ebb::Tensor loss = ebb::nn::functional::cross_entropy(model->forward(x), y);
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
    if (step == 0) first = last;
  }
  return last < first ? 0 : 1;
}

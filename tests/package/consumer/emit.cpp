// Emits a function as a source, which the project then builds.
#include <ebb/ebb.h>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  ebb::manual_seed(3);
  ebb::nn::Sequential net(ebb::nn::Linear(4, 8), ebb::nn::ReLU(), ebb::nn::Linear(8, 2));
  auto step = ebb::compile([&](const ebb::Tensor& x) {
    const ebb::NoGradGuard no_grad;
    return ebb::softmax(net(x), 1);
  });
  for (int i = 0; i < 3; ++i) step(ebb::ones({3, 4}));
  step.emit(argv[1]);
}

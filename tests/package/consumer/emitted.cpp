// A program with an emitted source, compared with the same network.
#include <ebb/ebb.h>

#include "step.h"

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  ebb::manual_seed(3);
  ebb::nn::Sequential net(ebb::nn::Linear(4, 8), ebb::nn::ReLU(), ebb::nn::Linear(8, 2));
  Step step(argv[1]);
  const ebb::Tensor x = ebb::randn({3, 4});
  const bool right = step(x).equal(ebb::softmax(net(x), 1));
  std::puts(right ? "emitted: right" : "emitted: WRONG");
  return right ? 0 : 1;
}

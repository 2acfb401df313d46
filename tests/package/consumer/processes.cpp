// A program outside ebb that uses ebb::distributed, in one process or in several.
#include <ebb/distributed.h>

#include <cstdio>

namespace dist = ebb::distributed;

int main() {
  dist::init();
  ebb::nn::Linear net(4, 3);
  dist::DistributedDataParallel parallel(net);
  dist::ShardedOptimizer<ebb::optim::SGD> optimizer(net->parameters(), ebb::optim::SGDOptions(0.1),
                                                    dist::ShardedOptimizerOptions().average_gradients(false));
  parallel(ebb::full({2, 4}, 1.0 + dist::rank())).sum().backward();
  optimizer.step();
  // The mean of 2 (1 + rank) over the ranks.
  const double expected = 1.0 + dist::world_size(), found = net->weight.grad()[0][0].item<double>();
  std::printf("rank %d of %d: gradient %g\n", dist::rank(), dist::world_size(), found);
  return found == expected ? 0 : 1;
}

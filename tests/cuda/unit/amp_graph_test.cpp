// Mixed precision on a device: captured steps cast their weights at each replay; loaders pin their batches.
#include <ebb/amp/autocast.h>
#include <ebb/ebb.h>

#include "support/catch.h"

using namespace ebb;

TEST_CASE("a captured graph casts the weights as they are when it is replayed") {
  Tensor w = ones({4, 4}, TensorOptions(kCUDA)).requires_grad_();
  const Tensor x = ones({2, 4}, TensorOptions(kCUDA));
  const amp::autocast casting(kCUDA, kBFloat16);
  const Tensor before = mm(x, w);  // its cast is kept for this scope
  cuda::Graph graph;
  Tensor captured;
  graph.capture([&] { captured = mm(x, w); });
  {
    const NoGradGuard no_grad;
    w.fill_(2);
  }
  graph.replay();
  CHECK(captured.detach().to(kFloat).cpu()[0][0].item<float>() == 8);
  CHECK(before.detach().to(kFloat).cpu()[0][0].item<float>() == 4);
  CHECK(mm(x, w).detach().to(kFloat).cpu()[0][0].item<float>() == 8);
}

TEST_CASE("a loader's batches arrive pinned where it is asked to") {
  for (const std::size_t workers : {0, 2})
    for (const bool pin : {false, true}) {
      CAPTURE(workers, pin);
      data::datasets::TensorListDataset rows({arange(8, kFloat).reshape({4, 2}), arange(4)});
      auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
          rows.map(data::transforms::Stack<std::vector<Tensor>>()),
          data::DataLoaderOptions(2).workers(workers).pin_memory(pin));
      int batches = 0;
      for (auto& batch : *loader) {
        CHECK(batch[0].is_pinned() == pin);
        CHECK(batch[1].is_pinned() == pin);
        CHECK(batch[1].to(kCUDA, kFloat, /*non_blocking=*/true).cpu()[0].item<int>() == 2 * batches++);
      }
      CHECK(batches == 2);
    }
  const data::Example<> one = data::pinned(data::Example<>(ones({2}), ones({2}, TensorOptions(kCUDA))));
  CHECK(one.data.is_pinned());
  CHECK(one.target.device().is_cuda());
  CHECK(data::pinned(std::vector<int>{1, 2}) == std::vector<int>{1, 2});
}

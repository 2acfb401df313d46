// Building blocks of libtorch's data loaders: Queue, DataShuttle, OrderedSequencer.
#include "support/catch.h"

#include <torch/torch.h>

#include <thread>

namespace {

struct Numbered {
  size_t sequence_number = 0;
};

// A request type without a default constructor.
class Request {
 public:
  explicit Request(size_t size) : size_(size) {}
  size_t size() const { return size_; }

 private:
  size_t size_;
};

struct Twos : torch::data::datasets::BatchDataset<Twos, int, Request> {
  int get_batch(Request request) override { return 2 * static_cast<int>(request.size()); }
  torch::optional<size_t> size() const override { return 6; }
};

class Requests : public torch::data::samplers::Sampler<Request> {
 public:
  void reset(torch::optional<size_t>) override { left_ = 6; }
  torch::optional<Request> next(size_t batch_size) override {
    if (left_ == 0) return torch::nullopt;
    left_ -= batch_size;
    return Request(batch_size);
  }

 private:
  size_t left_ = 6;
};

}  // namespace

TEST_CASE("a Queue pops values in push order and a timeout is an error") {
  torch::data::detail::Queue<int> queue;
  std::thread pusher([&] {
    for (int i = 0; i < 3; ++i) queue.push(i);
  });
  for (int i = 0; i < 3; ++i) CHECK(queue.pop() == i);
  pusher.join();
  CHECK_THROWS_WITH(queue.pop(std::chrono::milliseconds(1)), support::Contains("Timeout"));
  queue.push(1);
  queue.push(2);
  CHECK(queue.clear() == 2);
  CHECK(queue.clear() == 0);
}

TEST_CASE("a DataShuttle counts the jobs in flight") {
  torch::data::detail::DataShuttle<int, int> shuttle;
  CHECK_FALSE(shuttle.pop_result());
  shuttle.push_job(1);
  shuttle.push_job(2);
  CHECK(shuttle.in_flight_jobs() == 2);
  shuttle.push_result(10 * shuttle.pop_job());
  CHECK(shuttle.pop_result() == 10);
  CHECK(shuttle.in_flight_jobs() == 1);
  shuttle.drain();
  CHECK(shuttle.in_flight_jobs() == 0);
  CHECK_FALSE(shuttle.pop_result());
}

TEST_CASE("an OrderedSequencer buffers results that arrive early") {
  using torch::data::detail::sequencers::OrderedSequencer;
  const std::vector<size_t> arrivals{0, 2, 4, 3, 1};
  size_t at = 0;
  const auto arrive = [&]() -> torch::optional<Numbered> {
    if (at == arrivals.size()) return torch::nullopt;
    return Numbered{arrivals[at++]};
  };
  OrderedSequencer<Numbered> sequencer(5);
  std::vector<size_t> order;
  while (const auto next = sequencer.next(arrive)) order.push_back(next->sequence_number);
  CHECK(order == std::vector<size_t>{0, 1, 2, 3, 4});
  torch::data::detail::sequencers::NoSequencer<int> any;
  CHECK(any.next([] { return 5; }) == 5);
}

TEST_CASE("a sampler's request type needs no default constructor") {
  for (const size_t workers : {0, 2}) {
    auto loader =
        torch::data::make_data_loader(Twos(), Requests(), torch::data::DataLoaderOptions(3).workers(workers));
    int sum = 0;
    for (const int batch : *loader) sum += batch;
    CHECK(sum == 12);
  }
}

// A run that stops inside an epoch and is loaded into new objects resumes bit for bit.
#include <ebb/ebb.h>

#include "checkpoint/files.h"
#include "support/catch.h"

#include <vector>

using namespace ebb;

namespace {

constexpr int kSamples = 40, kBatch = 8, kEpochs = 3;

data::datasets::TensorDataset samples_of(const Tensor& x) { return data::datasets::TensorDataset(x); }

// Images of noise; the class tells which half is brighter.
Tensor pictures() {
  Generator generator(99);
  return randn({kSamples, 1, 8, 8}, generator);
}

nn::Sequential network() {
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 4, 3).padding(1)), nn::BatchNorm2d(4), nn::ReLU(),
                        nn::Dropout(0.3), nn::Flatten(), nn::Linear(4 * 64, 2));
}

// The result of a run: the losses of its steps, and the parameters and buffers at its end.
struct Outcome {
  std::vector<double> losses;
  std::vector<Tensor> state;
};

bool operator==(const Outcome& a, const Outcome& b) {
  if (a.losses != b.losses || a.state.size() != b.state.size()) return false;
  for (std::size_t i = 0; i < a.state.size(); ++i)
    if (!a.state[i].equal(b.state[i])) return false;
  return true;
}

// Trains with all random numbers from `seed`, after loading the file if it exists. With `end_after` it saves
// and stops after that many steps.
template <class Optimizer, class Scheduler, class Options, class MakeScheduler>
Outcome train(const std::string& path, std::uint64_t seed, std::size_t workers, const Options& options,
              const MakeScheduler& make_scheduler, std::size_t end_after = 1000) {
  manual_seed(seed);
  nn::Sequential model = network();
  Optimizer optimizer(model->parameters(), options);
  Scheduler scheduler = make_scheduler(optimizer);
  auto loader = data::make_data_loader<data::samplers::RandomSampler>(
      samples_of(pictures()).map(data::transforms::Stack<data::TensorExample>()),
      data::DataLoaderOptions(kBatch).workers(workers));
  Outcome outcome;
  int epoch = 0;
  Checkpoint run(path);
  run.add("model", model)
      .add("optimizer", optimizer)
      .add("scheduler", scheduler)
      .add("data", loader)
      .add("epoch", epoch)
      .add("losses", outcome.losses);
  run.load();
  const std::size_t before = outcome.losses.size();
  for (; epoch < kEpochs; ++epoch)
    for (auto& batch : *loader) {
      const Tensor& x = batch.data;
      const Tensor target = (x.slice(3, 0, 4).sum({1, 2, 3}) > x.slice(3, 4, 8).sum({1, 2, 3})).to(kLong);
      const auto closure = [&] {
        optimizer.zero_grad();
        const Tensor loss = nn::functional::cross_entropy(model->forward(x), target);
        loss.backward();
        return loss;
      };
      outcome.losses.push_back(optimizer.step(closure).template item<double>());
      scheduler.step();
      if (outcome.losses.size() - before == end_after) {
        run.save();
        return outcome;
      }
    }
  for (const Tensor& each : model->parameters()) outcome.state.push_back(each.detach().clone());
  for (const Tensor& each : model->buffers()) outcome.state.push_back(each.clone());
  return outcome;
}

// Compares the uninterrupted run with runs that stop after `pieces` steps, each with new objects and another
// seed.
template <class Optimizer, class Scheduler, class Options, class MakeScheduler>
void check(const Options& options, const MakeScheduler& make_scheduler) {
  for (const std::size_t workers : {0, 2}) {
    const checkpoint_test::File none, file;
    const Outcome whole = train<Optimizer, Scheduler>(none.path(), 7, workers, options, make_scheduler);
    REQUIRE(whole.losses.size() == kEpochs * kSamples / kBatch);
    std::uint64_t seed = 7;
    for (const std::size_t piece :
         {2, 3, 1, 4})  // inside, at the end of, at the start of, and inside an epoch
      train<Optimizer, Scheduler>(file.path(), seed++, workers, options, make_scheduler, piece);
    const Outcome resumed = train<Optimizer, Scheduler>(file.path(), seed, workers, options, make_scheduler);
    CHECK(resumed.losses == whole.losses);
    CHECK(resumed == whole);
  }
}

}  // namespace

TEST_CASE("Adam under OneCycleLR resumes bit for bit") {
  check<optim::Adam, optim::OneCycleLR>(optim::AdamOptions(1e-2).weight_decay(1e-3), [](optim::Optimizer& o) {
    return optim::OneCycleLR(o, 2e-2, kEpochs * kSamples / kBatch);
  });
}

TEST_CASE("SGD with momentum under StepLR resumes bit for bit") {
  check<optim::SGD, optim::StepLR>(optim::SGDOptions(0.05).momentum(0.9).nesterov(true),
                                   [](optim::Optimizer& o) { return optim::StepLR(o, 4, 0.5); });
}

TEST_CASE("LBFGS resumes bit for bit") {
  check<optim::LBFGS, optim::StepLR>(
      optim::LBFGSOptions(0.5).max_iter(3).history_size(4).line_search_fn("strong_wolfe"),
      [](optim::Optimizer& o) { return optim::StepLR(o, 6, 0.5); });
}

TEST_CASE("a DataLoader resumes inside an epoch and starts the next epoch after an abandoned one") {
  manual_seed(1);
  const auto make = [](std::size_t workers) {
    return data::make_data_loader<data::samplers::RandomSampler>(
        samples_of(arange(10)).map(data::transforms::Stack<data::TensorExample>()),
        data::DataLoaderOptions(3).workers(workers));
  };
  for (const std::size_t workers : {0, 3}) {
    auto loader = make(workers);
    serialize::OutputArchive within, left;
    std::vector<Tensor> seen;
    for (auto& batch : *loader) {
      seen.push_back(batch.data);
      if (seen.size() == 2) loader->save(within);
    }
    REQUIRE(seen.size() == 4);
    for (auto& batch : *loader) {
      (void)batch;
      break;
    }
    loader->save(left);

    auto other = make(workers);
    serialize::InputArchive archive(within.tensors());
    other->load(archive);
    serialize::OutputArchive unchanged;
    other->save(unchanged);
    REQUIRE(unchanged.tensors().size() == within.tensors().size());
    for (std::size_t i = 0; i < within.tensors().size(); ++i)
      CHECK(unchanged.tensors()[i].second.equal(within.tensors()[i].second));
    std::size_t at = 2;
    for (auto& batch : *other) CHECK(batch.data.equal(seen.at(at++)));
    CHECK(at == 4);
    at = 0;
    for (auto& batch : *other) at += static_cast<std::size_t>(batch.data.numel());
    CHECK(at == 10);

    REQUIRE(left.tensors().size() == 1);
    CHECK(left.tensors()[0].second.item<std::int64_t>() == -1);
  }
}

TEST_CASE("saving a DataLoader without enforced ordering is an error") {
  auto unordered = data::make_data_loader<data::samplers::RandomSampler>(
      samples_of(arange(10)).map(data::transforms::Stack<data::TensorExample>()),
      data::DataLoaderOptions(3).workers(2).enforce_ordering(false));
  for (auto& batch : *unordered) {
    (void)batch;
    serialize::OutputArchive archive;
    CHECK_THROWS_WITH(unordered->save(archive), support::Contains("enforce_ordering"));
    break;
  }
  serialize::InputArchive wrong(std::vector<std::pair<std::string, Variable>>{{"batches", tensor(-2)}});
  CHECK_THROWS_WITH(unordered->load(wrong), support::Contains("batches"));
}

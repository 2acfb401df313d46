// A run that stops inside an epoch and is loaded into new objects resumes bit for bit, and two hundred kills
// at random moments of a run that saves after each step lose no saved state.
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/files.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>
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
    const support::Folder folder;
    const std::string none = folder / "whole.ckpt", file = folder / "run.ckpt";
    const Outcome whole = train<Optimizer, Scheduler>(none, 7, workers, options, make_scheduler);
    REQUIRE(whole.losses.size() == kEpochs * kSamples / kBatch);
    std::uint64_t seed = 7;
    for (const std::size_t piece :
         {2, 3, 1, 4})  // inside, at the end of, at the start of, and inside an epoch
      train<Optimizer, Scheduler>(file, seed++, workers, options, make_scheduler, piece);
    const Outcome resumed = train<Optimizer, Scheduler>(file, seed, workers, options, make_scheduler);
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

TEST_CASE("a DataLoader resumes inside an epoch, and after an abandoned epoch it starts the next one") {
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

// The kill test does not run with AddressSanitizer or ThreadSanitizer, whose locks stay held in a forked
// child of several threads.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {

// A model, its optimizer and the number of steps, in a checkpoint.
struct Training {
  explicit Training(const std::string& path) : run(path) {
    run.add("model", model).add("optimizer", optimizer).add("steps", steps);
    run.load();
  }
  void step() {
    optimizer.zero_grad();
    const Tensor x = randn({8, 16});
    (model->forward(x) - x.sum(1, true)).square().mean().backward();
    optimizer.step();
    ++steps;
  }
  nn::Sequential model{nn::Linear(16, 64), nn::Dropout(0.2), nn::Tanh(), nn::Linear(64, 1)};
  optim::Adam optimizer{model->parameters(), optim::AdamOptions(1e-2)};
  std::int64_t steps = 0;
  Checkpoint run;
};

// Starts a child that resumes from the file, saves after each step and reports it, until it is killed.
pid_t start_child(const std::string& path, int& done) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::close(ends[0]);
    ::alarm(60);
    Training training(path);
    while (true) {
      training.step();
      training.run.save();
      if (::write(ends[1], "s", 1) != 1) ::_exit(1);
    }
  }
  ::close(ends[1]);
  done = ends[0];
  return child;
}

}  // namespace

TEST_CASE("no saved checkpoint is lost if the process is killed during two hundred saves") {
  const support::Folder folder;
  const std::string file = folder / "run.ckpt", other = folder / "other.ckpt";
  manual_seed(11);
  {
    Training(file).run.save();
  }
  std::mt19937 random(5);
  std::int64_t least = 0;  // steps that a child reported as saved
  for (int kill = 0; kill < 200; ++kill) {
    int done = -1;
    const pid_t child = start_child(file, done);
    char said = 0;
    // The kill comes after this many steps and a delay that depends on CPU work and not on a clock.
    const unsigned steps = 1 + random() % 2, moment = random() % 20000;
    for (unsigned i = 0; i < steps; ++i) {
      REQUIRE(::read(done, &said, 1) == 1);
      ++least;
    }
    for (std::atomic<unsigned> i = 0; i < moment;) ++i;
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    while (::read(done, &said, 1) == 1) ++least;  // reported before the kill
    ::close(done);
    const Training found(file);
    CHECK(found.steps >= least);
    CHECK(found.steps <= least + 1);  // saved, but killed before the report
    least = found.steps;
  }
  const Training killed(file);

  manual_seed(11);
  Training whole(other);
  while (whole.steps < killed.steps) whole.step();
  for (std::size_t i = 0; i < whole.model->parameters().size(); ++i)
    CHECK(whole.model->parameters()[i].equal(killed.model->parameters()[i]));
}
#endif

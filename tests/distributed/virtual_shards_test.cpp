// VirtualShards: the same bits for any number of ranks and threads, also after kills.
#include "ddp.h"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <random>

using namespace ebb::distributed;
using ddp::hash_of;
using ddp::value_of;
using ebb::Tensor;
using support::Contains;
using support::Saying;
namespace F = ebb::nn::functional;

namespace {

// A net with dropout, batch norm and a parameter that is not always used.
struct NetImpl : ebb::nn::Module {
  explicit NetImpl(std::int64_t width) {
    a = register_module("a", ebb::nn::Linear(6, width));
    c = register_module("c", ebb::nn::Linear(width, width));
    norm = register_module("norm", ebb::nn::BatchNorm1d(width));
    drop = register_module("drop", ebb::nn::Dropout(0.3));
    b = register_module("b", ebb::nn::Linear(width, 3));
    rare = register_parameter("rare", ebb::ones({3}));
  }
  Tensor forward(const Tensor& x, bool uses_rare = false) {
    const Tensor y = b(drop(ebb::relu(norm(c(a(x))))));
    return uses_rare ? y * rare : y;
  }
  ebb::nn::Linear a{nullptr}, b{nullptr}, c{nullptr};
  ebb::nn::BatchNorm1d norm{nullptr};
  ebb::nn::Dropout drop{nullptr};
  Tensor rare;
};
EBB_MODULE(Net);

// Returns the rows of a shard of the global batch of a step, which has 44 rows. Shards 0 to 3 have 6 rows.
std::pair<Tensor, Tensor> rows_of(std::int64_t step, std::int64_t shard) {
  ebb::Generator generator(static_cast<std::uint64_t>(step));
  const Tensor x = ebb::rand({44, 6}, generator), y = x.narrow(1, 0, 3).argmax(1);
  const std::int64_t begin = shard < 4 ? 6 * shard : 24 + 5 * (shard - 4), count = shard < 4 ? 6 : 5;
  return {x.narrow(0, begin, count), y.narrow(0, begin, count)};
}

Net new_net(int seed, std::int64_t width = 16) {
  ebb::manual_seed(static_cast<std::uint64_t>(seed));
  return Net(width);
}

VirtualShardsOptions seeded() { return VirtualShardsOptions().seed(11); }

// Runs the training of the hidden case in `count` processes. Returns its output.
ranks::Outcome train(int count, const std::string& variables) {
  return ranks::run(count, "[.same-bits]", variables);
}
std::string hash_in(const ranks::Outcome& outcome) {
  const std::size_t at = outcome.output.find("hash ");
  return at == std::string::npos ? "no hash in: " + outcome.output
                                 : outcome.output.substr(at, outcome.output.find('\n', at) - at);
}

}  // namespace

TEST_CASE("a training run over virtual shards", "[.same-bits]") {
  ranks::join();
  ebb::use_deterministic_algorithms(true);
  const std::int64_t width = std::stoi(value_of("EBB_TEST_WIDTH", "16"));
  const std::int64_t steps = std::stoi(value_of("EBB_TEST_STEPS", "1000"));
  Net net = new_net(rank(), width);  // the ranks begin differently
  VirtualShards shards(net, seeded());
  ShardedOptimizer<ebb::optim::AdamW> optimizer(net->parameters(), ebb::optim::AdamWOptions(0.01),
                                                ShardedOptimizerOptions().average_gradients(false));
  std::int64_t step = 0;
  const std::string folder = value_of("EBB_TEST_DIR"), kill = value_of("EBB_TEST_KILL");
  ebb::Checkpoint run(folder + "/run.ckpt");
  run.add("net", net).add("optimizer", optimizer).add("step", step);
  if (!folder.empty()) load(run);
  double loss = 0;
  for (; step < steps; ++step) {
    if (!folder.empty() && step % 50 == 0) save(run);
    optimizer.zero_grad(true);
    loss = shards
               .backward(step,
                         [&](std::int64_t shard) {
                           if (std::to_string(step) == kill && rank() == world_size() - 1) raise(SIGKILL);
                           const auto [x, y] = rows_of(step, shard);
                           return F::cross_entropy(net->forward(x, step % 3 == 0 && shard == 5), y);
                         })
               .item<double>();
    optimizer.step();
  }
  CHECK(loss < (steps == 1000 ? 0.9 : 10));
  CHECK(net->norm->num_batches_tracked.item<std::int64_t>() == steps);
  for (const std::string& each : all_gather_object(hash_of(*net))) CHECK(each == hash_of(*net));
  if (rank() == 0) std::printf("hash %s of loss %.17g\n", hash_of(*net).c_str(), loss);
  std::fflush(stdout);
}

TEST_CASE("1, 2, 4 and 8 ranks with any number of threads give the same bits after 1000 steps") {
  if (!ranks::can_run()) return;
  const ranks::Outcome one = train(1, "EBB_NUM_THREADS=1");
  INFO(one.output);
  REQUIRE(one.status == 0);
  REQUIRE_THAT(hash_in(one), support::StartsWith("hash "));
  CHECK(hash_in(train(2, "EBB_NUM_THREADS=2")) == hash_in(one));
  CHECK(hash_in(train(4, "EBB_NUM_THREADS=1")) == hash_in(one));
  CHECK(hash_in(train(8, "EBB_NUM_THREADS=1")) == hash_in(one));
  const std::string wide = " EBB_TEST_WIDTH=600 EBB_TEST_STEPS=4";  // kernels use several threads
  CHECK(hash_in(train(2, "EBB_NUM_THREADS=3" + wide)) == hash_in(train(1, "EBB_NUM_THREADS=1" + wide)));
}

TEST_CASE("a run that is killed and continues on another number of ranks gives the same bits") {
  if (!ranks::can_run()) return;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("ebb_shards_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const std::string variables = "EBB_NUM_THREADS=1 EBB_TEST_DIR=" + folder.string();
  std::mt19937 random(std::random_device{}());
  int step = 0;
  for (const int count : {2, 4, 1}) {
    step += std::uniform_int_distribution<int>(60, 300)(random);
    const ranks::Outcome killed = train(count, variables + " EBB_TEST_KILL=" + std::to_string(step));
    INFO("killed at step " << step << " on " << count << " ranks:\n" << killed.output);
    CHECK(killed.status == 128 + SIGKILL);
  }
  INFO("last kill at step " << step);
  CHECK(hash_in(train(2, variables)) == hash_in(train(1, "EBB_NUM_THREADS=1")));
  std::filesystem::remove_all(folder);
}

TEST_CASE("VirtualShards computes means of gradients, losses and running statistics", "[.shards]") {
  ranks::join();
  ebb::use_deterministic_algorithms(true);
  Net net = new_net(rank()), plain = new_net(0);
  VirtualShards shards(net, seeded());
  net->drop->options.p(0);
  plain->drop->options.p(0);
  ebb::manual_seed(5);
  const Tensor draw = ebb::rand({3});
  ebb::manual_seed(5);
  net->a->weight.mutable_grad() = ebb::ones({16, 6});
  const Tensor mean_before = plain->norm->running_mean.clone();
  int calls = 0;
  const Tensor loss = shards.backward(4, [&](std::int64_t shard) {
    ++calls;
    if (shard == 7) return Tensor();  // a shard without rows
    return F::cross_entropy(net->forward(rows_of(4, shard).first), rows_of(4, shard).second);
  });
  CHECK(ebb::equal(ebb::rand({3}), draw));  // the generator has not changed
  CHECK(calls == 8 / world_size());
  Tensor expected = ebb::zeros({}, ebb::kDouble), mean = ebb::zeros({16});
  for (int shard = 0; shard < 7; ++shard) {
    plain->norm->running_mean.copy_(mean_before);
    const Tensor own = F::cross_entropy(plain->forward(rows_of(4, shard).first), rows_of(4, shard).second);
    (own / 8).backward();
    expected += own.detach() / 8;
    mean += plain->norm->running_mean / 8;
  }
  CHECK(ebb::allclose(loss, expected));
  CHECK(loss.dtype() == ebb::kDouble);
  CHECK(ebb::allclose(net->norm->running_mean, mean + mean_before / 8, 1e-5, 1e-6));
  CHECK(ebb::allclose(net->a->weight.grad(), plain->a->weight.grad() + 1, 1e-5, 1e-6));
  CHECK(ebb::allclose(net->b->weight.grad(), plain->b->weight.grad(), 1e-5, 1e-6));
  CHECK_FALSE(net->rare.grad().defined());  // no shard uses it
}

TEST_CASE("dropout draws depend on seed, step and shard, and not on earlier draws", "[.shards]") {
  ranks::join();
  ebb::use_deterministic_algorithms(true);
  ebb::nn::Linear net(2, 2);
  const auto drawn = [&](std::uint64_t seed, std::int64_t step) {
    VirtualShards shards(net, VirtualShardsOptions().seed(seed));
    ebb::rand({rank() + 1});
    std::vector<double> draws;
    shards.backward(step, [&](std::int64_t) {
      draws.push_back(ebb::rand({}).item<double>());
      return net(ebb::ones({2})).sum();
    });
    for (std::size_t i = 1; i < draws.size(); ++i) CHECK(draws[i] != draws[i - 1]);
    return draws;
  };
  CHECK(drawn(1, 3) == drawn(1, 3));
  CHECK(drawn(1, 3) != drawn(2, 3));
  CHECK(drawn(1, 3) != drawn(1, 4));
}

TEST_CASE("VirtualShards restores the net after an error, and refuses what depends on ranks", "[.shards]") {
  ranks::join();
  Net net = new_net(0);
  CHECK_THROWS_MATCHES(VirtualShards(net, VirtualShardsOptions().shards(12)), ebb::Error,
                       Saying("cannot share 12 shards"));
  CHECK_THROWS_MATCHES(VirtualShards(std::shared_ptr<ebb::nn::Module>()), ebb::Error, Saying("is null"));
  VirtualShards shards(net);
  const auto loss_of = [&](std::int64_t shard) { return net->forward(rows_of(0, shard).first).sum(); };
  ebb::use_deterministic_algorithms(false);
  CHECK_THROWS_MATCHES(shards.backward(0, loss_of), ebb::Error, Saying("use_deterministic_algorithms(true)"));
  ebb::use_deterministic_algorithms(true);
  CHECK_THROWS_MATCHES(shards.backward(-1, loss_of), ebb::Error, Saying("the step is -1"));
  const std::string before = hash_of(*net);
  net->b->bias.mutable_grad() = ebb::ones({3});
  ebb::manual_seed(5);
  const Tensor draw = ebb::rand({3});
  ebb::manual_seed(5);
  CHECK_THROWS_MATCHES(shards.backward(0,
                                       [&](std::int64_t shard) {
                                         const Tensor loss = loss_of(shard);
                                         all_reduce(loss.detach().clone());
                                         return loss;
                                       }),
                       ebb::Error, Saying("calls collectives"));
  CHECK(hash_of(*net) == before);
  CHECK(ebb::equal(net->b->bias.grad(), ebb::ones({3})));
  CHECK_FALSE(net->a->weight.grad().defined());
  CHECK(ebb::equal(ebb::rand({3}), draw));
  for (Tensor each : net->parameters()) each.requires_grad_(false);
  CHECK_THROWS_MATCHES(shards.backward(0, loss_of), ebb::Error,
                       Saying("all parameters of the net are frozen"));
}

TEST_CASE("VirtualShards refuses nets with SyncBatchNorm and wrapped nets on any number of ranks",
          "[.shards]") {
  ranks::join();
  ebb::use_deterministic_algorithms(true);
  ebb::nn::Sequential net(ebb::nn::Linear(6, 4), ebb::nn::BatchNorm1d(4));
  DistributedDataParallel parallel(net);
  VirtualShards shards(net);
  CHECK_THROWS_MATCHES(
      shards.backward(0, [&](std::int64_t shard) { return parallel(rows_of(0, shard).first).sum(); }),
      ebb::Error, Saying("calls collectives"));
  convert_sync_batchnorm(net);
  const std::string before = hash_of(*net);
  CHECK_THROWS_MATCHES(
      shards.backward(0, [&](std::int64_t shard) { return net(rows_of(0, shard).first).sum(); }), ebb::Error,
      Saying("calls collectives"));
  CHECK(hash_of(*net) == before);
}

TEST_CASE("small integers and flags of a net do not overflow in the mean over shards", "[.shards]") {
  ranks::join();
  ebb::use_deterministic_algorithms(true);
  struct Counts : ebb::nn::Module {
    Counts() {
      scale = register_parameter("scale", ebb::ones({2}));
      bytes = register_buffer("bytes", ebb::full({2}, 100, ebb::TensorOptions(ebb::kChar)));
      seen = register_buffer("seen", ebb::zeros({1}, ebb::TensorOptions(ebb::kBool)));
    }
    Tensor forward() {
      CHECK_FALSE(seen.item<bool>());  // a shard does not see the changes of others
      bytes.add_(1);
      seen.fill_(true);
      return scale.sum();
    }
    Tensor scale, bytes, seen;
  };
  auto net = std::make_shared<Counts>();
  VirtualShards shards(net, VirtualShardsOptions().shards(256));
  shards.backward(0, [&](std::int64_t) { return net->forward(); });
  CHECK(net->bytes[1].item<int>() == 101);
  CHECK(net->seen.item<bool>());
}

TEST_CASE("VirtualShards works on 1 to 8 ranks, and refuses 3") {
  if (!ranks::can_run()) return;
  for (const int count : {1, 2, 4, 8}) {
    const ranks::Outcome outcome = ranks::run(count, "[.shards]");
    INFO(count << " ranks:\n" << outcome.output);
    CHECK(outcome.status == 0);
  }
  CHECK_THAT(ranks::run(3, "[.same-bits]").output, Contains("3 ranks cannot share 8 shards"));
}

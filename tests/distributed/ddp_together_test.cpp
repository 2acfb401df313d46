// The parts of ebb::distributed together: sums of gradients, divided optimizers, norms, checkpoints.
#include "ddp.h"

#include <unistd.h>

#include <filesystem>

using namespace ddp;
namespace optim = ebb::optim;

namespace {

ShardedOptimizerOptions averaged() { return ShardedOptimizerOptions().average_gradients(false); }

// Returns the line "hash ..." of the run of the hidden case over virtual shards.
std::string train(int count, const std::string& variables) {
  const ranks::Outcome outcome = ranks::run(count, "[.together-bits]", "EBB_NUM_THREADS=1 " + variables);
  const std::size_t at = outcome.output.find("hash ");
  return outcome.status != 0 || at == std::string::npos
             ? "failed: " + outcome.output
             : outcome.output.substr(at, outcome.output.find('\n', at) - at);
}

}  // namespace

TEST_CASE("the parts of distributed training work together on 1 to 4 ranks") {
  for (const int count : {1, 2, 4}) expect_success("[.together]", count);
}

TEST_CASE(
    "DistributedDataParallel with ShardedOptimizer scaling clipping and averaged weights equals one process",
    "[.together]") {
  ranks::join();
  ebb::nn::Sequential net(ebb::nn::Linear(6, 5), ebb::nn::BatchNorm1d(5), ebb::nn::Tanh(),
                          ebb::nn::Linear(5, 3));
  net->to(ebb::kDouble);
  DistributedDataParallel parallel(convert_sync_batchnorm(net),
                                   DistributedDataParallelOptions().bucket_cap_mb(1e-4));
  ebb::nn::Sequential alone(ebb::nn::Linear(6, 5), ebb::nn::BatchNorm1d(5), ebb::nn::Tanh(),
                            ebb::nn::Linear(5, 3));
  alone->to(ebb::kDouble);
  alone->load_state_dict(net->state_dict());
  ShardedOptimizer<optim::AdamW> sharded(parallel->parameters(), optim::AdamWOptions(0.05), averaged());
  optim::AdamW plain(alone->parameters(), optim::AdamWOptions(0.05));
  optim::StepLR schedule(sharded, 2, 0.5), plain_schedule(plain, 2, 0.5);
  optim::swa_utils::AveragedModel average(parallel->module), plain_average(alone.ptr());
  ebb::amp::GradScaler scaler(ebb::kCPU, ebb::amp::GradScalerOptions().init_scale(64)),
      plain_scaler(ebb::kCPU, ebb::amp::GradScalerOptions().init_scale(64));
  // Every step has two micro-batches of each rank. The third one overflows on the last rank.
  const auto train_step = [](auto& model, auto& optimizer, auto& scaling, auto& rates, auto& mean,
                             const auto& backward) {
    optimizer.zero_grad(/*set_to_none=*/true);
    backward();
    scaling.unscale_(optimizer);
    const double norm = ebb::nn::utils::clip_grad_norm_(model.parameters(), 0.5);
    scaling.step(optimizer);
    scaling.update();
    rates.step();
    mean.update_parameters(model);
    return norm;
  };
  for (int step = 0; step < 6; ++step) {
    const double factor = step == 2 ? std::numeric_limits<double>::infinity() : 1;
    const double norm = train_step(*parallel->module, sharded, scaler, schedule, average, [&] {
      {
        const auto guard = parallel->no_sync();
        scaler.scale(parallel(input_of(rank(), step)).square().mean()).backward();
      }
      const double own = rank() == world_size() - 1 ? factor : 1;
      scaler.scale(parallel(input_of(rank(), step + 50)).sin().mean() * own).backward();
    });
    const double expected = train_step(*alone, plain, plain_scaler, plain_schedule, plain_average, [&] {
      std::vector<Tensor> first, second;
      for (int r = 0; r < world_size(); ++r) first.push_back(input_of(r, step));
      for (int r = 0; r < world_size(); ++r) second.push_back(input_of(r, step + 50));
      plain_scaler.scale(alone->forward(ebb::cat(first)).square().mean()).backward();
      plain_scaler.scale(alone->forward(ebb::cat(second)).sin().mean() * factor).backward();
    });
    if (step == 2) {
      CHECK_FALSE(std::isfinite(norm));
    } else {
      CHECK(norm == Approx(expected));
    }
    CHECK(scaler.get_scale() == plain_scaler.get_scale());
    for (std::size_t i = 0; i < net->parameters().size(); ++i)
      CHECK(ebb::allclose(net->parameters()[i], alone->parameters()[i], 1e-6, 1e-8));
    for (std::size_t i = 0; i < average.parameters().size(); ++i)
      CHECK(ebb::allclose(average.parameters()[i], plain_average.parameters()[i], 1e-6, 1e-8));
    check_equal_on_ranks(net->parameters());
    check_equal_on_ranks(net->buffers());
    check_equal_on_ranks(average.parameters());
  }
}

TEST_CASE("a wrapped net and a divided optimizer continue from a file of other ranks", "[.together-file]") {
  ranks::join();
  ebb::nn::Sequential net = new_net();
  DistributedDataParallel parallel(net);
  ShardedOptimizer<optim::Adam> optimizer(parallel->parameters(), optim::AdamOptions(0.05), averaged());
  ebb::amp::GradScaler scaler(ebb::kCPU);
  std::int64_t step = 0;
  ebb::Checkpoint run(value_of("EBB_TEST_DIR", "") + "/run.ckpt");
  run.add("net", parallel).add("optimizer", optimizer).add("scaler", scaler).add("step", step);
  const std::int64_t begin = std::stoi(value_of("EBB_TEST_BEGIN", "0"));
  CHECK(load(run) == (begin > 0));
  CHECK(step == begin);
  const auto backward = [](auto model, std::int64_t number, int r, int ranks) {
    const Tensor rows = input_of(0, static_cast<int>(number), {8, 6}).chunk(ranks)[r];
    return model(rows).square().mean();  // the mean over ranks is that over the 8 rows
  };
  for (; step < begin + 3; ++step) {
    optimizer.zero_grad();
    scaler.scale(backward(parallel, step, rank(), world_size())).backward();
    scaler.step(optimizer);
    scaler.update();
  }
  save(run);
  ebb::nn::Sequential alone = new_net();
  for (std::size_t i = 0; i < alone->parameters().size(); ++i) broadcast(alone->parameters()[i].detach(), 0);
  optim::Adam plain(alone->parameters(), optim::AdamOptions(0.05));
  for (std::int64_t number = 0; number < step; ++number) {
    plain.zero_grad();
    backward(alone, number, 0, 1).backward();
    plain.step();
  }
  for (std::size_t i = 0; i < net->parameters().size(); ++i)
    CHECK(ebb::allclose(net->parameters()[i], alone->parameters()[i], 1e-6, 1e-8));
}

TEST_CASE("a run over virtual shards with all parts", "[.together-bits]") {
  ranks::join();
  ebb::use_deterministic_algorithms(true);
  ebb::manual_seed(static_cast<std::uint64_t>(rank()));
  ebb::nn::Sequential net(ebb::nn::Conv2d(2, 8, 3), ebb::nn::BatchNorm2d(8), ebb::nn::ReLU(),
                          ebb::nn::Dropout(0.2), ebb::nn::Flatten(), ebb::nn::Linear(128, 4));
  net->to(ebb::MemoryFormat::ChannelsLast);
  VirtualShards shards(net, VirtualShardsOptions().seed(3));
  ShardedOptimizer<optim::AdamW> optimizer(net->parameters(), optim::AdamWOptions(0.01), averaged());
  optim::StepLR schedule(optimizer, 10, 0.9);
  optim::swa_utils::AveragedModel average(net.ptr());
  ebb::amp::GradScaler scaler(ebb::kCPU, ebb::amp::GradScalerOptions().init_scale(1024).growth_interval(7));
  std::int64_t step = 0;
  const std::string folder = value_of("EBB_TEST_DIR", "");
  ebb::Checkpoint run(folder + "/run.ckpt");
  run.add("net", net).add("optimizer", optimizer).add("schedule", schedule).add("average", average);
  run.add("scaler", scaler).add("step", step);
  if (!folder.empty()) load(run);
  for (const std::int64_t end = std::stoi(value_of("EBB_TEST_STEPS", "60")); step < end; ++step) {
    ebb::Generator generator(static_cast<std::uint64_t>(step));
    const Tensor x = ebb::rand({16, 2, 6, 6}, generator), y = x.sum({2, 3}).argmax(1);
    optimizer.zero_grad(/*set_to_none=*/true);
    shards.backward(step, [&](std::int64_t shard) {
      return scaler.scale(ebb::nn::functional::cross_entropy(net(x.chunk(8)[shard]), y.chunk(8)[shard]));
    });
    scaler.unscale_(optimizer);
    ebb::nn::utils::clip_grad_norm_(net->parameters(), 0.5);
    scaler.step(optimizer);
    scaler.update();
    schedule.step();
    average.update_parameters(*net);
  }
  if (!folder.empty()) save(run);
  for (const std::string& each : all_gather_object(hash_of(*net))) CHECK(each == hash_of(*net));
  if (rank() == 0) std::printf("hash %s %s\n", hash_of(*net).c_str(), hash_of(average).c_str());
  std::fflush(stdout);
}

TEST_CASE(
    "VirtualShards ShardedOptimizer scaling clipping and averaged weights give the same bits on 1 to 8 "
    "ranks") {
  if (!ranks::can_run()) return;
  const std::string one = train(1, "");
  CHECK_THAT(one, support::StartsWith("hash "));
  for (const int count : {2, 4, 8}) CHECK(train(count, "") == one);
}

TEST_CASE("runs that 4 ranks save and 2 ranks resume end as one process does") {
  if (!ranks::can_run()) return;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("ebb_together_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const std::string variable = "EBB_TEST_DIR=" + folder.string();
  CHECK_THAT(train(4, variable + " EBB_TEST_STEPS=23"), support::StartsWith("hash "));
  CHECK_THAT(train(1, variable + " EBB_TEST_STEPS=41"), support::StartsWith("hash "));
  CHECK(train(2, variable) == train(1, ""));
  std::filesystem::remove(folder / "run.ckpt");
  expect_success("[.together-file]", 4, variable);
  expect_success("[.together-file]", 2, variable + " EBB_TEST_BEGIN=3");
  expect_success("[.together-file]", 1, variable + " EBB_TEST_BEGIN=6");
  std::filesystem::remove_all(folder);
}

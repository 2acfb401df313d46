// ShardedOptimizer: equality with the optimizer of one process, division of states, and checkpoints.
#include "ranks.h"
#include "support/catch.h"

#include <unistd.h>

#include <filesystem>
#include <limits>

using namespace ebb::distributed;
using ebb::Tensor;
using ranks::error_of;
using support::Contains;
using support::Saying;
namespace optim = ebb::optim;

namespace {

// Returns parameters of several sizes. Rank 0 has the values that count.
std::vector<Tensor> new_parameters(int r) {
  ebb::manual_seed(7 + r);
  std::vector<Tensor> all;
  for (const std::vector<std::int64_t>& sizes :
       std::vector<std::vector<std::int64_t>>{{40, 3}, {3}, {2, 5, 4}, {}, {17}, {6, 6}, {9, 2}})
    all.push_back(ebb::randn(sizes, ebb::kDouble).requires_grad_());
  return all;
}

Tensor gradient_of(int r, int step, const Tensor& parameter) {
  ebb::manual_seed(1000 * step + 10 * r + static_cast<int>(parameter.numel()));
  return ebb::randn(parameter.sizes(), ebb::kDouble).to(parameter.dtype()) + 0.1 * r;
}
Tensor mean_gradient(int step, const Tensor& parameter) {
  Tensor sum = gradient_of(0, step, parameter);
  for (int r = 1; r < world_size(); ++r) sum = sum + gradient_of(r, step, parameter);
  return sum / world_size();
}

// Sets the gradients of this rank, or, for the reference, the averages.
void set_gradients(const std::vector<Tensor>& parameters, int step, bool mean) {
  for (const Tensor& each : parameters)
    each.mutable_grad() = mean ? mean_gradient(step, each) : gradient_of(rank(), step, each);
}

void check_equal(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    INFO("tensor " << i << " of rank " << rank());
    CHECK(ebb::allclose(a[i], b[i], 1e-12, 1e-14));
  }
}

void check_equal(const optim::Optimizer::StateDict& a, const optim::Optimizer::StateDict& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    INFO(a[i].first << " of rank " << rank());
    CHECK(a[i].first == b[i].first);
    CHECK(a[i].second.dtype() == b[i].second.dtype());
    CHECK(ebb::allclose(a[i].second, b[i].second, 1e-12, 1e-14));
  }
}

template <class Opt, class Options>
void check_like_plain(const Options& options) {
  INFO(typeid(Opt).name());
  const std::vector<Tensor> own = new_parameters(rank()), expected = new_parameters(0);
  ShardedOptimizer<Opt> sharded(own, options);
  Opt plain(expected, options);
  check_equal(own, expected);  // the constructor has copied those of rank 0
  for (int step = 0; step < 4; ++step) {
    set_gradients(own, step, false);
    set_gradients(expected, step, true);
    sharded.step();
    plain.step();
    check_equal(own, expected);
    for (const Tensor& each : own) CHECK(ebb::equal(each.grad(), gradient_of(rank(), step, each)));
  }
  check_equal(sharded.state_dict(), plain.state_dict());
}

// Two groups of parameters with their own rates; `turned` gives them in the other order.
std::vector<optim::OptimizerParamGroup> groups_of(const std::vector<Tensor>& all, bool turned) {
  const auto middle = all.begin() + 3;
  optim::OptimizerParamGroup a({all.begin(), middle}, std::make_unique<optim::AdamWOptions>(0.1));
  optim::OptimizerParamGroup b({middle, all.end()}, std::make_unique<optim::AdamWOptions>(0.02));
  return turned ? std::vector{b, a} : std::vector{a, b};
}

// Checks that each parameter has its states on so many ranks. Returns the number of elements of all.
std::int64_t count_states(const optim::Optimizer& optimizer, const std::vector<Tensor>& parameters,
                          int ranks) {
  std::int64_t elements = 0;
  for (const Tensor& each : parameters) {
    const Tensor count = ebb::full({1}, optimizer.state().contains(each.impl()) ? 1. : 0.);
    all_reduce(count);
    CHECK(count.item<int>() == ranks);
    elements += each.numel();
  }
  return elements;
}

std::string file_in(const char* variable) { return std::string(std::getenv(variable)) + "/run.ckpt"; }

void expect_success(const std::string& tag, int count, const std::string& variables = "") {
  if (!ranks::can_run()) return;
  const ranks::Outcome outcome = ranks::run(count, tag, variables);
  INFO(count << " ranks:\n" << outcome.output);
  CHECK_THAT(outcome.output, Contains("All tests passed"));
  CHECK_THAT(outcome.output, !Contains("FAILED"));
  CHECK(outcome.status == 0);
}

}  // namespace

TEST_CASE("ShardedOptimizer equals the optimizer of one process on 1 to 4 ranks") {
  for (const int count : {1, 2, 3, 4}) expect_success("[.sharded]", count);
  expect_success("[.sharded]", 2, "EBB_DISTRIBUTED_DEBUG=1");
}

TEST_CASE("ShardedOptimizer updates as the plain optimizer with averaged gradients", "[.sharded]") {
  ranks::join();
  check_like_plain<optim::SGD>(optim::SGDOptions(0.1).momentum(0.9));
  check_like_plain<optim::SGD>(optim::SGDOptions(0.1));
  check_like_plain<optim::Adam>(optim::AdamOptions(0.1).amsgrad(true));
  check_like_plain<optim::AdamW>(optim::AdamWOptions(0.1).weight_decay(0.1));
  check_like_plain<optim::Adagrad>(optim::AdagradOptions(0.1));
  check_like_plain<optim::RMSprop>(optim::RMSpropOptions(0.1).centered(true));
  check_like_plain<optim::Adafactor>(optim::AdafactorOptions(0.1));  // norms of whole parameters
  check_like_plain<optim::Rprop>(optim::RpropOptions(0.1));
}

TEST_CASE("each rank has the states of its part, and the parts are of similar size", "[.sharded]") {
  ranks::join();
  const std::vector<Tensor> own = new_parameters(0);
  ShardedOptimizer<optim::Adam> optimizer(own, optim::AdamOptions(0.1));
  set_gradients(own, 0, false);
  optimizer.step();
  CHECK(count_states(optimizer, own, 1) == 235);
  if (world_size() != 2) return;
  std::int64_t size = 0;
  for (const Tensor& each : own) size += optimizer.state().contains(each.impl()) ? each.numel() : 0;
  CHECK(size == (rank() == 0 ? 120 : 115));  // the others: 40, 36, 18, 17, 3, 1
}

TEST_CASE("a parameter that some rank has used is updated, and one that no rank has used is not",
          "[.sharded]") {
  ranks::join();
  const std::vector<Tensor> own = new_parameters(0), expected = new_parameters(0);
  ShardedOptimizer<optim::Adam> sharded(own, optim::AdamOptions(0.1));
  optim::Adam plain(expected, optim::AdamOptions(0.1));
  own[0].mutable_grad() = ebb::ones_like(own[0]);
  expected[0].mutable_grad() = ebb::ones_like(own[0]);
  if (rank() == world_size() - 1) own[2].mutable_grad() = ebb::ones_like(own[2]);
  expected[2].mutable_grad() = ebb::ones_like(own[2]) / world_size();
  sharded.step();
  plain.step();
  check_equal(own, expected);
  check_equal(sharded.state_dict(), plain.state_dict());
  CHECK_FALSE(own[1].grad().defined());
  CHECK(own[2].grad().defined() == (rank() == world_size() - 1));
}

TEST_CASE("ShardedOptimizer takes several dtypes, layouts, new groups, schedulers and closures",
          "[.sharded]") {
  ranks::join();
  const auto parameters = [] {
    ebb::manual_seed(3);
    std::vector<Tensor> all{
        ebb::randn({8, 3, 2, 2}, ebb::kDouble).contiguous(ebb::MemoryFormat::ChannelsLast),
        ebb::randn({5, 4}).t(),
        ebb::randn({6}).to(ebb::kHalf),
        ebb::randn({6}).to(ebb::kBFloat16),
        ebb::randn({4, 9}).narrow(1, 2, 3),
        ebb::empty({0, 3})};
    for (Tensor& each : all) each = each.detach().requires_grad_();
    return all;
  };
  const std::vector<Tensor> own = parameters(), expected = parameters();
  const std::vector<Tensor> late = new_parameters(rank()), late_expected = new_parameters(0);
  ShardedOptimizer<optim::SGD> sharded(own, optim::SGDOptions(0.5).momentum(0.5));
  optim::SGD plain(expected, optim::SGDOptions(0.5).momentum(0.5));
  optim::StepLR schedule(sharded, 1, 0.5), expected_schedule(plain, 1, 0.5);
  for (int step = 0; step < 3; ++step) {
    if (step == 1) {
      sharded.add_param_group(late);
      plain.add_param_group(late_expected);
    }
    int calls = 0;
    const Tensor loss = sharded.step([&] {
      ++calls;
      CHECK(ebb::GradMode::is_enabled());
      set_gradients(own, step, false);
      set_gradients(late, step, false);
      return ebb::full({}, 5 + rank());
    });
    CHECK((calls == 1 && loss.item<int>() == 5 + rank()));
    set_gradients(expected, step, true);
    set_gradients(late_expected, step, true);
    plain.step();
    schedule.step();
    expected_schedule.step();
  }
  for (std::size_t i = 0; i < own.size(); ++i) {
    INFO("parameter " << i);
    const double tolerance = own[i].element_size() == 2 ? 0.05 : 1e-6;  // averages are rounded
    CHECK(ebb::allclose(own[i], expected[i], tolerance, tolerance));
    CHECK(own[i].strides() == expected[i].strides());
    Tensor first = own[i].detach().clone();
    broadcast(first, 0);
    CHECK(ebb::equal(first, own[i]));
  }
  check_equal(late, late_expected);
}

TEST_CASE("messages of large parameters have several parts", "[.sharded]") {
  ranks::join();
  std::vector<Tensor> own, expected;
  for (int i = 0; i < 9; ++i) {
    own.push_back(ebb::full({1 << 20, 1 + i % 3}, i, ebb::kFloat).requires_grad_());
    expected.push_back(own.back().detach().clone().requires_grad_());
  }
  ShardedOptimizer<optim::SGD> sharded(own, optim::SGDOptions(0.5));
  for (const Tensor& each : own) each.mutable_grad() = ebb::full(each.sizes(), 2 * rank(), ebb::kFloat);
  sharded.step();
  for (std::size_t i = 0; i < own.size(); ++i)
    CHECK(ebb::equal(own[i], expected[i] - 0.5 * (world_size() - 1)));
}

TEST_CASE("without average_gradients a GradScaler and clip_grad_norm_ see the averages", "[.sharded]") {
  ranks::join();
  const std::vector<Tensor> own = new_parameters(rank()), expected = new_parameters(0);
  ShardedOptimizer<optim::Adam> sharded(own, optim::AdamOptions(0.1),
                                        ShardedOptimizerOptions().average_gradients(false));
  optim::Adam plain(expected, optim::AdamOptions(0.1));
  ebb::amp::GradScaler scaler(ebb::kCPU, ebb::amp::GradScalerOptions().init_scale(8));
  scaler.scale(ebb::ones({}));
  for (int step = 0; step < 3; ++step) {
    set_gradients(own, step, true);
    set_gradients(expected, step, true);
    for (const Tensor& each : own) each.mutable_grad().mul_(scaler.get_scale());
    if (step == 1) own[0].mutable_grad().fill_(std::numeric_limits<double>::infinity());
    scaler.unscale_(sharded);
    const double norm = ebb::nn::utils::clip_grad_norm_(own, 1.0);
    scaler.step(sharded);
    scaler.update();
    CHECK(scaler.get_scale() == (step < 1 ? 8 : 4));
    if (step == 1) continue;
    CHECK(norm == Approx(ebb::nn::utils::clip_grad_norm_(expected, 1.0)));
    plain.step();
    check_equal(own, expected);
  }
}

TEST_CASE("ShardedOptimizer refuses ranks with other parameters, and states of other parameters",
          "[.sharded]") {
  ranks::join();
  ShardedOptimizer<optim::SGD> empty(std::vector<Tensor>{}, optim::SGDOptions(0.1));
  CHECK_THROWS_MATCHES(empty.step(), ebb::Error, Saying("there are no parameters"));
  std::vector<Tensor> own = new_parameters(0);
  ShardedOptimizer<optim::SGD> sharded(own, optim::SGDOptions(0.1).momentum(0.9));
  CHECK_THROWS_MATCHES(sharded.load_state_dict({{"99.momentum_buffer", ebb::ones({2})}}), ebb::Error,
                       Saying("belongs to none of the optimizer's 7 parameters"));
  if (world_size() == 1) return;
  if (rank() == world_size() - 1) own[2] = ebb::ones({2, 5}).requires_grad_();
  const auto make = [&] { ShardedOptimizer<optim::SGD> wrong(own, optim::SGDOptions(0.1)); };
  CHECK_THAT(error_of(make),
             Contains("ShardedOptimizer: rank 0 has \"parameter 2: Double[2, 5, 4], requires a "
                      "gradient\", but rank " +
                      std::to_string(world_size() - 1) + " has \"parameter 2: Float[2, 5]"));
  if (rank() == world_size() - 1) own.resize(2);
  CHECK_THAT(error_of(make), Contains("has \"nothing\""));
}

TEST_CASE("the optimizer is saved by 4 ranks", "[.sharded-save]") {
  ranks::join();
  std::vector<Tensor> own = new_parameters(rank());
  ShardedOptimizer<optim::AdamW> optimizer(groups_of(own, true), optim::AdamWOptions());
  for (int step = 0; step < 3; ++step) {
    for (const Tensor& each : own) each.mutable_grad() = gradient_of(0, step, each);
    optimizer.step();
  }
  std::int64_t steps = 3;
  ebb::Checkpoint run(file_in("EBB_TEST_DIR"));
  run.add("optimizer", optimizer).add("steps", steps);
  for (std::size_t i = 0; i < own.size(); ++i) run.add("p" + std::to_string(i), own[i]);
  CHECK_FALSE(load(run));
  save(run);
  ebb::Checkpoint nowhere("/proc/none/run.ckpt");
  nowhere.add("optimizer", optimizer);
  CHECK_THAT(error_of([&] { save(nowhere); }), Contains("distributed::save: rank 0: "));
}

TEST_CASE("the optimizer is loaded by any number of ranks", "[.sharded-load]") {
  ranks::join();
  std::vector<Tensor> own = new_parameters(rank() + 5);
  ShardedOptimizer<optim::AdamW> optimizer(groups_of(own, true), optim::AdamWOptions());
  std::int64_t steps = 0;
  ebb::Checkpoint run(file_in("EBB_TEST_DIR"));
  run.add("optimizer", optimizer).add("steps", steps);
  for (std::size_t i = 0; i < own.size(); ++i) run.add("p" + std::to_string(i), own[i]);
  REQUIRE(load(run));
  REQUIRE(steps == 3);
  CHECK(count_states(optimizer, own, 1) == 235);
  const std::vector<Tensor> expected = new_parameters(0);
  optim::AdamW plain(groups_of(expected, true), optim::AdamWOptions());
  for (int step = 0; step < 5; ++step) {
    for (const Tensor& each : expected) each.mutable_grad() = gradient_of(0, step, each);
    plain.step();
    if (step < 3) continue;
    for (const Tensor& each : own) each.mutable_grad() = gradient_of(0, step, each);
    optimizer.step();
  }
  check_equal(own, expected);
  check_equal(optimizer.state_dict(), plain.state_dict());
}

TEST_CASE("load throws on all ranks if one rank does not see the file", "[.sharded-load]") {
  ranks::join();
  std::int64_t steps = 0;
  ebb::Checkpoint run(file_in("EBB_TEST_DIR") + (rank() == 0 ? "" : ".missing"));
  run.add("steps", steps);
  if (world_size() > 1)
    CHECK_THAT(error_of([&] { load(run); }), Contains("exists on rank 0, but is missing on rank 1"));
  ebb::Checkpoint bad(file_in("EBB_TEST_DIR"));
  if (rank() == world_size() - 1) bad.add("unknown", steps);
  CHECK_THAT(error_of([&] { load(bad); }), Contains("does not contain exactly the parts"));
}

TEST_CASE("a checkpoint of 4 ranks is one file that any number of ranks and a plain optimizer load") {
  if (!ranks::can_run()) return;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("ebb_sharded_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const std::string variable = "EBB_TEST_DIR=" + folder.string();
  expect_success("[.sharded-save]", 4, variable);
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);
  for (const int count : {1, 2, 4}) expect_success("[.sharded-load]", count, variable);

  std::vector<Tensor> own = new_parameters(9), expected = new_parameters(0);
  optim::AdamW optimizer(groups_of(own, true), optim::AdamWOptions()),
      reference(groups_of(expected, true), optim::AdamWOptions());
  std::int64_t steps = 0;
  ebb::Checkpoint run(folder / "run.ckpt");
  run.add("optimizer", optimizer).add("steps", steps);
  for (std::size_t i = 0; i < own.size(); ++i) run.add("p" + std::to_string(i), own[i]);
  REQUIRE(run.load());
  for (int step = 0; step < 3; ++step) {
    for (const Tensor& each : expected) each.mutable_grad() = gradient_of(0, step, each);
    reference.step();
  }
  for (std::size_t i = 0; i < own.size(); ++i) CHECK(ebb::allclose(own[i], expected[i], 1e-12, 1e-14));
  const auto a = optimizer.state_dict(), b = reference.state_dict();
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(ebb::allclose(a[i].second, b[i].second, 1e-12, 1e-14));
  run.save();
  expect_success("[.sharded-load]", 2, variable);
  std::filesystem::remove_all(folder);
}

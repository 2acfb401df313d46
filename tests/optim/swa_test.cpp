// AveragedModel, update_bn and SWALR, with values of torch 2.15.
#include <ebb/ebb.h>
#include <ebb/nn.h>
#include <ebb/optim.h>
#include <ebb/optim/swa_utils.h>

#include "support/catch.h"

#include <sstream>
#include <vector>

using namespace ebb;
using namespace ebb::optim;

namespace {

struct NetImpl : nn::Cloneable<NetImpl> {
  NetImpl() { reset(); }
  void reset() override {
    linear = register_module("linear", nn::Linear(2, 1));
    norm = register_module("norm", nn::BatchNorm1d(1));
    to(kDouble);
    norm->num_batches_tracked.set_data(zeros({}, TensorOptions(kLong)));  // Double as well, as in libtorch
    const NoGradGuard no_grad;
    for (Tensor& p : parameters()) p.fill_(1);
  }
  Tensor forward(const Tensor& x) { return norm(linear(x)); }
  nn::Linear linear{nullptr};
  nn::BatchNorm1d norm{nullptr};
};
EBB_MODULE(Net);

struct Seen {
  double weight, mean;
  int batches;
};

template <class... Options>
std::vector<Seen> course(Options... options) {
  Net net;
  swa_utils::AveragedModel averaged(net, options...);
  std::vector<Seen> out;
  for (int k = 0; k < 4; ++k) {
    {
      const NoGradGuard no_grad;
      for (Tensor& p : net->parameters()) p.mul_(1.5).add_(0.25 * k);
      net->norm->running_mean.add_(k + 1.0);
      net->norm->num_batches_tracked.add_(3);
    }
    averaged.update_parameters(*net);
    CHECK(averaged.n_averaged.template item<int>() == k + 1);
    const Tensor weight = averaged.module->linear->weight;
    CHECK(weight.requires_grad());
    out.push_back({weight.detach()[0][0].template item<double>(),
                   averaged.module->norm->running_mean.template item<double>(),
                   averaged.module->norm->num_batches_tracked.template item<int>()});
  }
  return out;
}

void compare(const std::vector<Seen>& got, const std::vector<Seen>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i].weight == Approx(expected[i].weight).epsilon(1e-9));
    CHECK(got[i].mean == Approx(expected[i].mean).epsilon(1e-9));
    CHECK(got[i].batches == expected[i].batches);
  }
}

std::vector<double> rates(swa_utils::SWALR& schedule, int steps) {
  std::vector<double> out{schedule.get_last_lr()[0]};
  for (int i = 0; i < steps; ++i) {
    schedule.step();
    out.push_back(schedule.get_last_lr()[0]);
  }
  return out;
}

void close(const std::vector<double>& got, const std::vector<double>& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]).epsilon(1e-8));
}

}  // namespace

TEST_CASE("AveragedModel has the averages of torch") {
  compare(course(), {{1.5, 1, 3}, {2, 3, 6}, {2.75, 6, 9}, {3.84375, 10, 12}});
  const std::vector<Seen> ema{{1.5, 1, 3}, {1.6, 3, 6}, {1.865, 6, 9}, {2.391, 10, 12}};
  compare(course(swa_utils::get_ema_avg_fn(0.9)), ema);
  compare(course(swa_utils::get_ema_multi_avg_fn(0.9)), ema);
  compare(course(swa_utils::get_ema_multi_avg_fn(0.9), true),
          {{1.5, 1, 3}, {1.6, 1.2, 3}, {1.865, 1.68, 3}, {2.391, 2.512, 3}});
  const std::vector<Seen> whole{{1.5, 1, 3}, {2, 2, 4}, {2.75, 10.0 / 3, 5}, {3.84375, 5, 6}};
  compare(course(swa_utils::get_swa_multi_avg_fn(), true), whole);
  compare(course(swa_utils::get_swa_avg_fn(), true), whole);
  const swa_utils::AverageFunction own = [](const Tensor& a, const Tensor& p, const Tensor&) {
    return a * 0.3 + p * 0.7;
  };
  compare(course(own), {{1.5, 1, 3}, {2.2, 3, 6}, {3.635, 6, 9}, {6.078, 10, 12}});
  CHECK_THROWS_WITH(swa_utils::get_ema_avg_fn(1.5), support::Contains("[0,1]"));
}

TEST_CASE("AveragedModel copies the module and is saved under the names of torch") {
  Net net, other;
  swa_utils::AveragedModel ema(net, swa_utils::get_ema_multi_avg_fn(0.5)), again(other);
  ema.update_parameters(*net);
  {
    const NoGradGuard no_grad;
    net->linear->weight.fill_(3);
  }
  ema.update_parameters(*net);
  CHECK(ema.module->linear->weight.detach()[0][0].item<double>() == 2);
  std::vector<std::string> names;
  for (const auto& item : ema.state_dict()) names.push_back(item.key());
  CHECK(names == std::vector<std::string>{"n_averaged", "module.linear.weight", "module.linear.bias",
                                          "module.norm.weight", "module.norm.bias",
                                          "module.norm.running_mean", "module.norm.running_var",
                                          "module.norm.num_batches_tracked"});
  std::stringstream file;
  save(ema, file);
  load(again, file);
  CHECK(again.n_averaged.item<int>() == 2);
  const Tensor x = ones({3, 2}, kDouble);
  again.eval();
  ema.eval();
  CHECK(equal(again.forward(x), ema.forward(x)));
  CHECK_THROWS_WITH(ema.update_parameters(*nn::Linear(2, 1)), support::Contains("other shapes"));
}

TEST_CASE("get_ema_multi_avg_fn averages many tensors in one call as lerp_ averages each of them") {
  manual_seed(4);
  for (const double decay : {0.9, 0.3}) {
    std::vector<Tensor> averaged{randn({5}),
                                 randn({3, 4}, kDouble),
                                 randn({2, 3, 4, 5}).to(kHalf),
                                 randn({2, 3, 4, 5}).to(MemoryFormat::ChannelsLast),
                                 randn({6, 4}).t(),
                                 randn({8, 3}).slice(0, 0, 8, 2),
                                 randn({0}),
                                 randn({}),
                                 randn({40000})};
    std::vector<Tensor> current, expected;
    for (const Tensor& x : averaged) {
      current.push_back(randn(x.sizes()).to(x.dtype()));
      const DType wide = x.dtype() == kDouble ? kDouble : kFloat;
      expected.push_back(x.to(wide).clone().lerp_(current.back().to(wide), 1 - decay).to(x.dtype()));
    }
    current[1] = current[1].to(kFloat);  // the model has another dtype
    expected[1] = averaged[1].clone().lerp_(current[1].to(kDouble), 1 - decay);
    const Tensor before = averaged[0];
    const auto version = before._version();
    swa_utils::get_ema_multi_avg_fn(decay)(averaged, current, tensor(std::int64_t{1}));
    for (std::size_t i = 0; i < averaged.size(); ++i) {
      CAPTURE(i, decay);
      // The tolerance in Half is one ulp, because a value may be halfway between two numbers.
      const DType dtype = averaged[i].scalar_type();
      CHECK(allclose(averaged[i], expected[i],
                     dtype == kDouble ? 1e-14
                     : dtype == kHalf ? 1e-3
                                      : 1e-6,
                     1e-7));
    }
    CHECK(before.is_same(averaged[0]));
    CHECK(before._version() == version + 1);
  }
}

TEST_CASE("update_bn sets the running statistics of batch norms from the data") {
  nn::BatchNorm1d norm(2);
  nn::Sequential model(norm);
  model->to(kDouble);
  model->eval();
  const Tensor x = sin(arange(24, kDouble)).reshape({12, 2});
  const auto check = [&] {
    const auto mean = norm->running_mean, var = norm->running_var;
    close({mean[0].item<double>(), mean[1].item<double>(), var[0].item<double>(), var[1].item<double>()},
          {0.05313786539564647, 0.028512618728542216, 0.5879197201239781, 0.6520703360785612});
    CHECK(norm->num_batches_tracked.item<int>() == 3);
    CHECK(*norm->options.momentum() == 0.1);
    CHECK_FALSE(norm->is_training());
  };
  std::vector<Tensor> batches{x.slice(0, 0, 4), x.slice(0, 4, 8), x.slice(0, 8, 12)};
  swa_utils::update_bn(batches, model);
  check();
  norm->running_mean.fill_(7);
  std::vector<data::Example<>> examples;
  for (const Tensor& batch : batches) examples.emplace_back(batch, batch);
  swa_utils::update_bn(examples, *model, Device(kCPU));
  check();
  nn::Linear none(2, 2);
  struct Untouched {
    std::vector<Tensor>::iterator begin() { throw std::runtime_error("was read"); }
    std::vector<Tensor>::iterator end() { return {}; }
  } untouched;
  swa_utils::update_bn(untouched, none);
}

TEST_CASE("SWALR anneals the learning rate to swa_lr as in torch and then keeps it") {
  using swa_utils::SWALR;
  const auto with = [](std::int64_t epochs, SWALR::Anneal anneal, int steps) {
    SGD optimizer({zeros({1}).requires_grad_()}, SGDOptions(0.5));
    SWALR schedule(optimizer, 0.05, epochs, anneal);
    return rates(schedule, steps);
  };
  close(with(4, SWALR::Anneal::cos, 5), {0.5, 0.4340990258, 0.275, 0.1159009742, 0.05, 0.05});
  close(with(3, SWALR::Anneal::linear, 5), {0.5, 0.35, 0.2, 0.05, 0.05, 0.05});
  close(with(0, SWALR::Anneal::cos, 2), {0.05, 0.05, 0.05});
  SGD optimizer({zeros({1}).requires_grad_()}, SGDOptions(0.5));
  CHECK_THROWS_WITH(SWALR(optimizer, std::vector<double>{0.1, 0.2}), support::Contains("got 2"));
  CHECK_THROWS_WITH(SWALR(optimizer, 0.1, -1), support::Contains("got -1"));
}

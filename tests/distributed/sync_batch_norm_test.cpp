// SyncBatchNorm: values and derivatives equal those of one process with the whole batch.
#include <ebb/nn/modules/sync_batch_norm.h>

#include "ddp.h"

using namespace ddp;

namespace {

// Returns the batches of all ranks; rank 1 has none.
std::vector<Tensor> batches(ebb::DType dtype = ebb::kDouble) {
  std::vector<Tensor> all;
  for (int r = 0; r < world_size(); ++r)
    all.push_back((input_of(r, 5, {r == 1 ? 0 : 3 + r, 4, 2, 3}) + 100).to(dtype));
  return all;
}

Tensor own_part(const Tensor& joined, const std::vector<Tensor>& all) {
  std::int64_t at = 0;
  for (int r = 0; r < rank(); ++r) at += all[r].size(0);
  return joined.narrow(0, at, all[rank()].size(0));
}

// Passes the gradient on rank 0 only.
struct FirstRankOnly : ebb::autograd::Function<FirstRankOnly> {
  static Tensor forward(ebb::autograd::AutogradContext*, const Tensor& x) { return x.clone(); }
  static ebb::variable_list backward(ebb::autograd::AutogradContext*, const ebb::variable_list& grads) {
    return {rank() == 0 ? grads[0] : Tensor()};
  }
};

}  // namespace

TEST_CASE("batch norms over 1 to 4 ranks equal the one of a process with the whole batch") {
  for (const int count : {1, 2, 4}) expect_success("[.sync]", count);
}

TEST_CASE("values statistics and first and second derivatives equal those of the joined batch", "[.sync]") {
  ranks::join();
  const std::vector<Tensor> all = batches();
  ebb::nn::BatchNorm2d reference(ebb::nn::BatchNormOptions(4).momentum(0.3)), norm(reference->options);
  reference->to(ebb::kDouble);
  {
    const ebb::NoGradGuard no_grad;
    reference->weight.copy_(ebb::arange(1, 5));
    reference->bias.copy_(ebb::arange(4));
  }
  norm->to(ebb::kDouble);
  norm->load_state_dict(reference->state_dict());
  convert_sync_batchnorm(norm);
  convert_sync_batchnorm(norm);  // has no effect
  const Tensor joined = ebb::cat(all).requires_grad_(), x = all[rank()].clone().requires_grad_();
  const Tensor y = norm(x), expected = reference(joined);
  CHECK(norm->is_training());
  CHECK(ebb::allclose(y, own_part(expected, all)));
  for (std::size_t i = 0; i < 3; ++i) CHECK(ebb::allclose(norm->buffers()[i], reference->buffers()[i]));
  check_equal_on_ranks(norm->buffers());

  // The loss of all ranks is the sum of this function of their outputs.
  const auto loss = [](const Tensor& value) { return (value * value.cos()).sum(); };
  const auto slopes =
      ebb::autograd::grad({loss(expected)}, {joined, reference->weight, reference->bias}, {}, true, true);
  const auto mine = ebb::autograd::grad({loss(y)}, {x, norm->weight, norm->bias}, {}, true);
  CHECK(ebb::allclose(mine[0], own_part(slopes[0], all)));
  for (std::size_t i = 1; i < 3; ++i) {
    Tensor sum = mine[i].clone();
    all_reduce(sum);
    CHECK(ebb::allclose(sum, slopes[i]));
  }
  const auto recorded = ebb::autograd::grad({loss(y)}, {x, norm->weight, norm->bias}, {}, true, true);
  CHECK(ebb::allclose(recorded[0], mine[0]));
  const auto curvature = [&](const Tensor& value) { return value.sin().sum(); };
  const auto twice = ebb::autograd::grad({curvature(slopes[0])}, {joined, reference->weight}, {}, true);
  const auto mine_twice = ebb::autograd::grad({curvature(recorded[0])}, {x, norm->weight}, {}, true);
  CHECK(ebb::allclose(mine_twice[0], own_part(twice[0], all)));
  Tensor sum = mine_twice[1].clone();
  all_reduce(sum);
  CHECK(ebb::allclose(sum, twice[1]));

  norm->eval();
  reference->eval();
  const Tensor evaluated = own_part(reference(joined), all);
  CHECK(ebb::allclose(norm(x), evaluated));
  if (rank() == 0) CHECK(norm(x).sizes() == x.sizes());  // evaluation needs no other rank
}

TEST_CASE("norms of all kinds dtypes and layouts are converted", "[.sync]") {
  ranks::join();
  for (const ebb::DType dtype : {ebb::kFloat, ebb::kBFloat16, ebb::kHalf}) {
    const std::vector<Tensor> all = batches(dtype);
    ebb::nn::Sequential net(ebb::nn::BatchNorm2d(ebb::nn::BatchNormOptions(4).affine(false)),
                            ebb::nn::SyncBatchNorm(ebb::nn::BatchNormOptions(4).momentum(ebb::nullopt)));
    ebb::nn::Sequential reference(
        ebb::nn::BatchNorm2d(ebb::nn::BatchNormOptions(4).affine(false)),
        ebb::nn::SyncBatchNorm(ebb::nn::BatchNormOptions(4).momentum(ebb::nullopt)));
    convert_sync_batchnorm(net);
    const Tensor x = all[rank()].contiguous(ebb::MemoryFormat::ChannelsLast).requires_grad_();
    const Tensor joined = ebb::cat(all).requires_grad_();
    const Tensor y = net(x), expected = reference(joined);
    CHECK(y.dtype() == dtype);
    const double tolerance = dtype == ebb::kFloat ? 1e-3 : 0.05;  // the mean is 100 times the deviation
    CHECK(ebb::allclose(y.to(ebb::kFloat), own_part(expected, all).to(ebb::kFloat), tolerance, tolerance));
    y.sum().backward();
    CHECK(x.grad().dtype() == dtype);
    check_equal_on_ranks(net->buffers());
  }
  ebb::nn::BatchNorm1d flat(ebb::nn::BatchNormOptions(6).track_running_stats(false));
  flat->to(ebb::kDouble);
  convert_sync_batchnorm(flat);
  std::vector<Tensor> all;
  for (int r = 0; r < world_size(); ++r) all.push_back(input_of(r));
  const Tensor joined = ebb::cat(all);
  const Tensor expected = (joined - joined.mean(0)) / (joined.var(0, false) + 1e-5).sqrt();
  CHECK(ebb::allclose(flat(all[rank()]), own_part(expected, all)));
}

TEST_CASE("a net with converted norms trains as one process does", "[.sync]") {
  ranks::join();
  struct Net : ebb::nn::Module {
    Net() {
      ebb::manual_seed(4 + rank());
      conv = register_module("conv", ebb::nn::Conv2d(4, 3, 1));
      norm = register_module("norm", ebb::nn::BatchNorm2d(3));  // a member of fixed type
      to(ebb::kDouble);
    }
    Tensor forward(const Tensor& x) { return norm(conv(x)).tanh(); }
    ebb::nn::Conv2d conv{nullptr};
    ebb::nn::BatchNorm2d norm{nullptr};
  };
  auto net = std::make_shared<Net>(), alone = std::make_shared<Net>();
  DistributedDataParallel parallel(convert_sync_batchnorm(net));
  alone->load_state_dict(net->state_dict());
  std::vector<Tensor> all;
  for (int r = 0; r < world_size(); ++r) all.push_back(input_of(r, 2, {2, 4, 3, 3}));
  parallel(all[rank()]).square().mean().backward();
  alone->forward(ebb::cat(all)).square().mean().backward();
  for (std::size_t i = 0; i < net->parameters().size(); ++i)
    CHECK(ebb::allclose(net->parameters()[i].grad(), alone->parameters()[i].grad(), 1e-5, 1e-10));
  for (std::size_t i = 0; i < 2; ++i) CHECK(ebb::allclose(net->buffers()[i], alone->buffers()[i]));
}

TEST_CASE("norms and buckets do not mix when ranks use different parameters", "[.sync]") {
  ranks::join();
  ebb::nn::Linear layers[3] = {ebb::nn::Linear(6, 6), ebb::nn::Linear(6, 6), ebb::nn::Linear(6, 6)};
  ebb::nn::Sequential all(layers[0], ebb::nn::BatchNorm1d(6), layers[1], layers[2]);
  struct Skips : ebb::nn::Module {
    explicit Skips(const ebb::nn::Sequential& net) : parts(register_module("parts", net.ptr())) {}
    Tensor forward(const Tensor& x) {
      const Tensor y = norm()(parts->at<ebb::nn::LinearImpl>(0).forward(x));
      const Tensor z = rank() % 2 ? y : parts->at<ebb::nn::LinearImpl>(2).forward(y);
      return parts->at<ebb::nn::LinearImpl>(3).forward(z);
    }
    ebb::nn::BatchNorm1d norm() { return std::dynamic_pointer_cast<ebb::nn::BatchNorm1dImpl>(parts->ptr(1)); }
    std::shared_ptr<ebb::nn::SequentialImpl> parts;
  };
  DistributedDataParallel parallel(convert_sync_batchnorm(std::make_shared<Skips>(all)),
                                   DistributedDataParallelOptions().bucket_cap_mb(1e-5));
  for (int step = 0; step < 10; ++step) {
    all->zero_grad(/*set_to_none=*/true);
    parallel(ebb::rand({4, 6})).square().sum().backward();
    std::vector<Tensor> gradients;
    for (const Tensor& parameter : all->parameters()) gradients.push_back(parameter.grad());
    check_equal_on_ranks(gradients);
  }
}

TEST_CASE("a rank without a gradient takes part in the sums of the others", "[.sync]") {
  ranks::join();
  const Tensor x = input_of(rank()).requires_grad_();
  const Tensor y = sync_batch_norm(x, {}, {}, {}, {}, 0.1, 1e-5);
  FirstRankOnly::apply(y).square().sin().sum().backward();
  CHECK(x.grad().abs().sum().item<double>() > 0);
}

TEST_CASE("a converted norm takes inputs of any number of dimensions and stays usable", "[.sync]") {
  ranks::join();
  ebb::nn::BatchNorm2d norm(4);
  convert_sync_batchnorm(norm);
  for (const std::vector<std::int64_t>& sizes :
       std::vector<std::vector<std::int64_t>>{{3, 4}, {3, 4, 2}, {3, 4, 2, 2, 2}}) {
    CHECK(norm(ebb::rand(sizes)).sizes() == ebb::IntArrayRef(sizes));
    CHECK(norm->is_training());
  }
  norm->eval();
  CHECK(norm(ebb::ones({5, 4, 1, 1})).sizes() == ebb::IntArrayRef({5, 4, 1, 1}));
}

TEST_CASE("batches that are empty on all ranks do not change the running statistics", "[.sync]") {
  ranks::join();
  const Tensor x = ebb::ones({0, 2}).requires_grad_(), mean = ebb::full({2}, 3.),
               variance = ebb::full({2}, 4.);
  const Tensor y = sync_batch_norm(x, {}, {}, mean, variance, 0.1, 1e-5);
  CHECK(y.sizes() == x.sizes());
  y.sum().backward();
  CHECK(ebb::equal(mean, ebb::full({2}, 3.)));
  CHECK(ebb::equal(variance, ebb::full({2}, 4.)));
}

TEST_CASE("wrong inputs of synchronous norms name their shapes", "[.sync]") {
  ranks::join();
  ebb::nn::BatchNorm2d norm(4);
  convert_sync_batchnorm(norm);
  CHECK_THAT(error_of([&] { norm(ebb::ones({2, 3, 1, 1})); }),
             support::Contains("[batch, 4, ...], got shape [2, 3"));
  CHECK(norm->is_training());
  CHECK_THAT(error_of([&] { sync_batch_norm(ebb::ones({3}), {}, {}, {}, {}, 0.1, 1e-5); }),
             support::Contains("1 dimensions, but needs at least 2"));
  CHECK_THAT(error_of([&] { sync_batch_norm(ebb::ones({3, 2}, ebb::kLong), {}, {}, {}, {}, 0.1, 1e-5); }),
             support::Contains("needs a floating dtype"));
  CHECK_THAT(error_of([&] { sync_batch_norm(ebb::ones({3, 2}), ebb::ones({3}), {}, {}, {}, 0.1, 1e-5); }),
             support::Contains("has 2 channels"));
  CHECK_THAT(error_of([&] { sync_batch_norm(ebb::ones({3, 2}), {}, {}, {}, {}, 0.1, 0); }),
             support::Contains("eps is 0"));
}

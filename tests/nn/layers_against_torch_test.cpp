// Layers that libtorch or Python has, against numbers of torch 2.15.
#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/modules/activation.h>
#include <ebb/nn/modules/adaptive_softmax.h>
#include <ebb/nn/modules/cross_map_lrn.h>
#include <ebb/nn/modules/dropout.h>
#include <ebb/nn/modules/norm.h>
#include <ebb/nn/modules/padding.h>
#include <ebb/nn/modules/sync_batch_norm.h>
#include <ebb/nn/modules/triplet_loss.h>
#include <ebb/nn/modules/unpooling.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/fractional_pool.h>
#include <ebb/ops/random.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>
#include <ebb/ops/tensor_data.h>

#include <sstream>
#include <vector>

#include "support/catch.h"

using ebb::Variable;
namespace nn = ebb::nn;

namespace {

void require_close(const Variable& x, const std::vector<double>& expected, double margin = 1e-9) {
  const Variable flat = x.detach().to(ebb::kDouble).contiguous();
  REQUIRE(flat.numel() == static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("element " << i);
    CHECK(flat.data_ptr<double>()[i] == Approx(expected[i]).margin(margin));
  }
}

template <class Module>
std::string printed(const Module& module) {
  std::ostringstream stream;
  stream << module;
  return stream.str();
}

}  // namespace

TEST_CASE("AdaptiveLogSoftmaxWithLoss gives torch's numbers") {
  nn::AdaptiveLogSoftmaxWithLoss m(nn::AdaptiveLogSoftmaxWithLossOptions(4, 7, {2, 5}).div_value(2));
  m->to(ebb::kDouble);
  std::vector<std::string> names;
  {
    ebb::NoGradGuard no_grad;
    double shift = 0;
    for (const auto& p : m->named_parameters()) {
      names.push_back(p.key());
      p.value().copy_(
          (ebb::arange(p.value().numel(), ebb::kDouble) * 0.37 + shift++).sin().view(p.value().sizes()));
    }
  }
  CHECK(names == std::vector<std::string>{"head.weight", "tail.0.0.weight", "tail.0.1.weight",
                                          "tail.1.0.weight", "tail.1.1.weight"});
  const Variable x = (ebb::arange(12, ebb::kDouble) * 0.7).cos().view({3, 4});
  const nn::ASMoutput out = m->forward(x, ebb::tensor({1, 3, 6}, ebb::kLong));
  require_close(out.output, {-0.41821071761751377, -4.447884775868339, -5.829719985338045});
  CHECK(out.loss == Approx(3.5652718262746323));
  require_close(m->log_prob(x).select(0, 1),
                {-2.8488590785829406, -4.478021691211646, -6.0950106209311565, -4.447884775868339,
                 -2.3702394617095273, -0.8690736834809409, -0.906394232895464});
  require_close(m->predict(x), {1, 5, 1});
  require_close(m->forward(x[0], ebb::tensor(1, ebb::kLong)).output, {-0.41821071761751377});
  out.output.sum().backward();
  CHECK(m->head->weight.grad().defined());
  CHECK_THROWS_WITH(m->forward(x, ebb::tensor({1, 3, 7}, ebb::kLong)), support::Contains("[0, 6]"));
  CHECK_THROWS_WITH(nn::AdaptiveLogSoftmaxWithLoss(4, 7, std::vector<std::int64_t>{5, 2}),
                    support::Contains("increasing"));
}

TEST_CASE("CrossMapLRN2d looks at fewer channels for an even size") {
  const Variable y = (ebb::arange(5, ebb::kDouble) * 0.9).sin().view({1, 5, 1, 1});
  nn::CrossMapLRN2d m(nn::CrossMapLRN2dOptions(4).alpha(0.5).beta(0.6).k(2));
  require_close(m(y), {0, 0.4887118935585022, 0.6038162112236023, 0.2688044011592865, -0.28788772225379944},
                1e-7);
  CHECK(printed(m) == "ebb::nn::CrossMapLRN2d(4, alpha=0.5, beta=0.6, k=2)");
}

TEST_CASE("paddings shuffles and pieces") {
  const Variable square = ebb::arange(4, ebb::kDouble).view({1, 1, 2, 2});
  require_close(nn::CircularPad2d(nn::CircularPad2dOptions({1, 0, 0, 2}))(square),
                {1, 0, 1, 3, 2, 3, 1, 0, 1, 3, 2, 3});
  require_close(nn::ZeroPad1d(nn::ZeroPad1dOptions({1, 0}))(ebb::ones({1, 1, 2}, ebb::kDouble)), {0, 1, 1});
  CHECK(nn::ZeroPad3d(nn::ZeroPad3dOptions(1))(ebb::ones({1, 1, 1, 1, 1})).sizes() ==
        ebb::IntArrayRef({1, 1, 3, 3, 3}));
  CHECK(nn::CircularPad1d(nn::CircularPad1dOptions(1))(ebb::ones({1, 1, 3})).size(2) == 5);
  CHECK(nn::CircularPad3d(nn::CircularPad3dOptions(1))(ebb::ones({1, 1, 2, 2, 2})).size(4) == 4);
  require_close(nn::ChannelShuffle(2)(ebb::arange(4, ebb::kDouble).view({1, 4, 1})), {0, 2, 1, 3});
  const Variable x = ebb::tensor({-4., -1., 1., 4.}, ebb::kDouble);
  require_close(nn::Hardsigmoid()(x), {0, 1. / 3, 2. / 3, 1});
  require_close(nn::Hardswish()(x), {0, -1. / 3, 2. / 3, 4});
}

TEST_CASE("MaxUnpool takes the size that the pooling came from") {
  const Variable x = ebb::tensor({6., 8.}, ebb::kDouble).view({1, 1, 1, 2});
  const Variable at = ebb::tensor({5, 7}, ebb::kLong).view({1, 1, 1, 2});
  nn::MaxUnpool2d m(nn::MaxUnpool2dOptions(2).stride(2));
  require_close(m->forward(x, at, std::vector<std::int64_t>{3, 5}),
                {0, 0, 0, 0, 0, 6, 0, 8, 0, 0, 0, 0, 0, 0, 0});
  CHECK(m->forward(x, at).sizes() == ebb::IntArrayRef({1, 1, 2, 4}));
  CHECK(printed(m) == "ebb::nn::MaxUnpool2d(kernel_size=[2, 2], stride=[2, 2], padding=[0, 0])");
}

TEST_CASE("fractional pooling puts its windows where torch does") {
  const Variable x = ebb::arange(1, 36, ebb::kDouble).pow(1.3).remainder(11).view({1, 1, 5, 7});
  const auto [values, places] =
      ebb::fractional_max_pool2d(x, {2, 3}, {3, 4}, ebb::tensor({.3, .8}, ebb::kDouble).view({1, 1, 2}));
  require_close(places, {9, 9, 5, 5, 9, 17, 17, 13, 30, 24, 24, 27});
  const Variable volume = ebb::arange(1, 121, ebb::kDouble).pow(1.3).remainder(11).view({1, 1, 4, 5, 6});
  const auto [v3, p3] = ebb::fractional_max_pool3d(volume, {2, 2, 3}, {2, 3, 3},
                                                   ebb::tensor({.3, .8, .55}, ebb::kDouble).view({1, 1, 3}));
  require_close(p3, {36, 39, 39, 36, 39, 39, 24, 27, 27, 92, 92, 94, 67, 74, 107, 109, 81, 81});
  nn::FractionalMaxPool2d m(nn::FractionalMaxPool2dOptions(2).output_ratio(0.5));
  CHECK(m(ebb::rand({2, 3, 6, 8})).sizes() == ebb::IntArrayRef({2, 3, 3, 4}));
  CHECK_THROWS_WITH(nn::FractionalMaxPool2d(2), support::Contains("requires specifying"));
}

TEST_CASE("SyncBatchNorm is BatchNorm in one process") {
  const Variable x = ebb::rand({4, 3, 5, 2}, ebb::kDouble);
  nn::SyncBatchNorm a(3);
  nn::BatchNorm2d b(3);
  a->to(ebb::kDouble), b->to(ebb::kDouble);
  CHECK(ebb::allclose(a(x), b(x)));
  a->eval(), b->eval();
  CHECK(ebb::allclose(a(x), b(x)));
  CHECK(a->named_buffers().keys() == b->named_buffers().keys());
  CHECK(a->num_batches_tracked.item<std::int64_t>() == 1);
}

TEST_CASE("Dropout1d drops whole channels") {
  nn::Dropout1d m(nn::Dropout1dOptions(0.5));
  for (const Variable& y : {m(ebb::ones({2, 16, 3})).view({32, 3}), m(ebb::ones({16, 3}))})
    CHECK(ebb::equal(y, y.select(1, 0).unsqueeze(1).expand_as(y)));
  m->eval();
  CHECK(ebb::equal(m(ebb::ones({2, 3})), ebb::ones({2, 3})));
}

TEST_CASE("TripletMarginWithDistanceLoss takes a distance") {
  nn::TripletMarginWithDistanceLoss m(
      nn::TripletMarginWithDistanceLossOptions()
          .distance_function([](const Variable& a, const Variable& b) { return (a - b).abs().sum(-1); })
          .margin(2));
  const Variable zero = ebb::zeros({1, 2}, ebb::kDouble), one = ebb::ones({1, 2}, ebb::kDouble);
  require_close(m(zero, one, one * 1.5), {1});
}

// grid_sampler and interpolate against values of torch 2.15, and their errors.
#include <ebb/autograd/backward.h>
#include <ebb/core/warning.h>
#include <ebb/nn/functional/padding.h>
#include <ebb/nn/functional/vision.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/creation/tensor_data.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/pool.h>
#include <ebb/ops/random.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "support/catch.h"

#include <array>
#include <cmath>
#include <vector>

using ebb::Variable;
namespace F = ebb::nn::functional;

namespace {

Variable image() { return (ebb::arange(12, ebb::kDouble) * 0.7).cos().view({1, 1, 3, 4}); }

void require_close(const Variable& x, const std::vector<double>& expected) {
  const Variable flat = x.contiguous();
  REQUIRE(flat.numel() == static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("element " << i);
    CHECK(flat.data_ptr<double>()[i] == Approx(expected[i]).epsilon(1e-9).margin(1e-10));
  }
}

struct Expected {
  std::int64_t mode, padding;
  bool align_corners;
  std::vector<double> values;
};

}  // namespace

TEST_CASE("grid_sampler has the values of torch in every mode") {
  const Variable grid = ebb::tensor({-.9, .3, .5, -1.2, .1, .2, 1.1, .95}, ebb::kDouble).view({1, 2, 2, 2});
  const std::vector<Expected> all = {
      {0, 0, false, {-0.118452349427, -0.03348789617, -0.188576956101, 0.0264569912015}},
      {0, 0, true, {-0.416187307206, 0.00101106482017, -0.349146101927, 0.131776169296}},
      {0, 1, false, {-0.169217642038, -0.16743948085, -0.188576956101, 0.153373862038}},
      {0, 1, true, {-0.416187307206, 0.00126383102522, -0.349146101927, 0.155030787407}},
      {0, 2, false, {-0.169217642038, -0.16743948085, -0.188576956101, 0.153373862038}},
      {0, 2, true, {-0.416187307206, -0.0632024399098, -0.349146101927, 0.23553028438}},
      {1, 0, false, {-0.942222340669, 0, -0.490260821341, 0}},
      {1, 0, true, {-0.942222340669, 0.1699671429, -0.490260821341, 0.153373862038}},
      {1, 1, false, {-0.942222340669, 0.1699671429, -0.490260821341, 0.153373862038}},
      {1, 2, true, {-0.942222340669, 0.1699671429, -0.490260821341, 0.153373862038}},
      {2, 0, false, {-0.242031882945, -0.05188627982, -0.323415133618, 0.00108678834883}},
      {2, 0, true, {-0.684343873143, -0.0311386905936, -0.514457179519, 0.0943420057637}},
      {2, 1, false, {-0.392175279957, -0.225924991926, -0.365908484292, 0.115146185022}},
      {2, 1, true, {-0.670453181656, -0.0222169242561, -0.536436072138, 0.11137353926}},
      {2, 2, false, {-0.398192449051, -0.236788894589, -0.365908484292, 0.0158453678466}},
      {2, 2, true, {-0.595922682553, -0.105205077209, -0.497332454323, 0.178771915012}}};
  for (const Expected& e : all) {
    INFO("mode " << e.mode << ", padding " << e.padding << ", corners " << e.align_corners);
    require_close(ebb::grid_sampler(image(), grid, e.mode, e.padding, e.align_corners), e.values);
  }
}

TEST_CASE(
    "at NaN and infinite coordinates grid_sampler returns zero or the border, depending on the padding") {
  const double nan = NAN, inf = INFINITY;
  const Variable grid =
      ebb::tensor({nan, 0., inf, 0., -1e30, 1e30, 0., nan}, ebb::kDouble).view({1, 2, 2, 2});
  for (const std::int64_t mode : {0, 1, 2}) {
    const Variable zeros = ebb::grid_sampler(ebb::ones({1, 1, 3, 4}, ebb::kDouble), grid, mode, 0, false);
    require_close(zeros, {0, 0, 0, 0});
    const Variable border = ebb::grid_sampler(ebb::ones({1, 1, 3, 4}, ebb::kDouble), grid, 1, 1, false);
    require_close(border, {1, 1, 1, 1});
  }
}

namespace {

// The result and the gradients of the image and of the points, for a gradient of ones.
std::array<Variable, 3> sampled(const Variable& image, const Variable& points, int mode, int padding) {
  const Variable x = image.detach().requires_grad_(), grid = points.detach().requires_grad_();
  const Variable y = ebb::grid_sampler(x, grid, mode, padding, false);
  const ebb::variable_list grads = ebb::autograd::grad({y}, {x, grid}, {ebb::ones_like(y)});
  return {y, grads[0], grads[1]};
}

// Compares a channel, and a row of points, with the results for all channels and points.
void check_parts(const Variable& image, const Variable& points, int mode, int padding) {
  INFO("mode " << mode << ", padding " << padding << ", " << image.dtype() << ", " << image.dim()
               << " dimensions");
  const auto all = sampled(image, points, mode, padding);
  const auto channel = sampled(image.slice(1, 17, 18), points, mode, padding);
  CHECK(ebb::equal(all[0].slice(1, 17, 18), channel[0]));
  CHECK(ebb::equal(all[1].slice(1, 17, 18), channel[1]));
  const auto row = sampled(image, points.slice(1, 2, 3), mode, padding);
  CHECK(ebb::equal(all[0].slice(2, 2, 3), row[0]));
  CHECK(ebb::equal(all[2].slice(1, 2, 3), row[2]));
}

}  // namespace

TEST_CASE("grid_sampler computes each channel and each point as if it were alone") {
  // There are more channels and points than a job of the kernels takes.
  for (const ebb::DType dtype : {ebb::kFloat, ebb::kDouble, ebb::kBFloat16})
    for (const int padding : {0, 1, 2}) {
      const Variable points = (ebb::rand({2, 15, 9, 2}) * 3 - 1.5).to(dtype);
      for (const int mode : {0, 1, 2}) check_parts(ebb::randn({2, 19, 4, 5}, dtype), points, mode, padding);
      const Variable in_volume = (ebb::rand({2, 3, 5, 9, 3}) * 3 - 1.5).to(dtype);
      for (const int mode : {0, 1})
        check_parts(ebb::randn({2, 19, 3, 4, 5}, dtype), in_volume, mode, padding);
    }
}

TEST_CASE("second derivatives of grid_sampler equal those of torch 2.15") {
  struct Expected {
    std::int64_t mode, padding;
    std::vector<double> by_grid;
    double by_image;  // the sum of each element times its position
  };
  const Expected e = GENERATE(values<Expected>({
      {0, 0, {16.5539924387, 19.993191552, 0.5072256, -0.8995968}, 69.3217394638},
      {0, 1, {16.5539924387, 19.993191552, 0, 0}, 23.5650367438},
      {0, 2, {16.5539924387, 19.993191552, 0, 0}, 23.5650367438},
      {2, 0, {97.1286932084, 105.3316439246, 0.8543639129, -6.7323103189}, 140.3064921556},
      {2, 1, {49.7965026903, 91.4123040699, 76.036386261, -20.8754428058}, -21.0384077626},
      {2, 2, {49.8252207445, 91.4327220925, 105.5426491311, -45.4926525156}, -375.1332598737},
  }));
  const Variable places = ebb::arange(12, ebb::kDouble);
  const Variable x = ((places * 7).remainder(11) / 4 - 1).view({1, 1, 3, 4}).requires_grad_();
  const Variable grid =
      ebb::tensor({0.3, -0.45, -0.85, 1.2}, ebb::kDouble).view({1, 1, 2, 2}).requires_grad_();
  const Variable y = ebb::grid_sampler(x, grid, e.mode, e.padding, false).pow(2).sum();
  const auto once = ebb::autograd::grad({y}, {x, grid}, {}, true, true);
  const auto twice = ebb::autograd::grad({once[0].pow(2).sum() + once[1].pow(2).sum()}, {x, grid});
  require_close(twice[1], e.by_grid);
  require_close((twice[0].flatten() * places).sum().view({1}), {e.by_image});
}

TEST_CASE("grid_sample warns if align_corners is not given") {
  struct Counter : ebb::WarningHandler {
    int count = 0;
    void process(const ebb::Warning&) override { ++count; }
  } counter;
  const ebb::WarningHandlerGuard guard(&counter);
  const Variable grid = ebb::zeros({1, 1, 1, 2}, ebb::kDouble);
  F::grid_sample(image(), grid);
  CHECK(counter.count == 1);
  F::grid_sample(image(), grid, F::GridSampleFuncOptions().align_corners(false).mode(ebb::kBicubic));
  CHECK(counter.count == 1);
}

TEST_CASE("affine_grid does not align corners unless it is told to") {
  const Variable identity = ebb::tensor({1, 0, 0, 0, 1, 0}, ebb::kDouble).view({1, 2, 3});
  // The centers of two pixels, and the corners.
  require_close(F::affine_grid(identity, {1, 1, 1, 2}).select(-1, 0), {-0.5, 0.5});
  require_close(F::affine_grid(identity, {1, 1, 1, 2}, true).select(-1, 0), {-1, 1});
}

TEST_CASE("interpolate has the values of torch with and without antialias") {
  const auto resized = [](auto mode, bool antialias) {
    return F::interpolate(
        image(),
        F::InterpolateFuncOptions().size(std::vector<std::int64_t>{2, 3}).mode(mode).antialias(antialias));
  };
  const auto scaled = [](auto mode, bool antialias) {
    return F::interpolate(image(), F::InterpolateFuncOptions()
                                       .scale_factor(std::vector<double>{1.4, 0.6})
                                       .mode(mode)
                                       .align_corners(true)
                                       .antialias(antialias));
  };
  require_close(resized(ebb::kBilinear, true), {0.22822316837, 0.0246183828143, -0.195196176896,
                                                0.174098824424, 0.280540745484, 0.202262891904});
  require_close(scaled(ebb::kBilinear, true),
                {0.516201842882, -0.279908355433, -0.0848880795884, -0.159493524799, -0.442234042613,
                 0.0263594203301, 0.532741795167, 0.288111878311});
  require_close(resized(ebb::kBicubic, true), {0.223599098009, -0.00989879667732, -0.235976875295,
                                               0.13328755869, 0.28208297564, 0.21943816772});
  require_close(scaled(ebb::kBicubic, true),
                {0.601084765787, -0.42470933364, -0.133935341171, -0.200848112195, -0.56657454225,
                 0.107977652913, 0.595776184542, 0.278113099669});
  require_close(resized(ebb::kBilinear, false), {0.485289923801, 0.17221381024, -0.275853713105,
                                                 0.374395654007, 0.479320645444, 0.208525654974});
  require_close(scaled(ebb::kBicubic, false),
                {1, -0.5048461046, -0.521647331848, -0.0274554641714, -0.617239642853, 0.252897484582,
                 0.77556587851, 0.153373862038});
  CHECK_THROWS_WITH(
      F::interpolate(image(),
                     F::InterpolateFuncOptions().scale_factor(std::vector<double>{2}).antialias(true)),
      support::Contains("Anti-alias"));
}

TEST_CASE("upsample_bilinear2d rounds Byte images and preserves channels-last") {
  const Variable bytes = ebb::tensor({0, 100, 201, 255}, ebb::kLong).to(ebb::kByte).view({1, 1, 2, 2});
  const Variable out = ebb::upsample_bilinear2d(bytes, {1, 1}, false);
  CHECK(out.dtype() == ebb::kByte);
  CHECK(out.item<std::int64_t>() == 139);
  const Variable last = ebb::rand({2, 3, 4, 5}).contiguous(ebb::MemoryFormat::ChannelsLast);
  const Variable wide = ebb::upsample_bilinear2d(last, {8, 7}, false);
  CHECK(wide.is_contiguous(ebb::MemoryFormat::ChannelsLast));
  CHECK(ebb::allclose(wide, ebb::upsample_bilinear2d(last.contiguous(), {8, 7}, false)));
}

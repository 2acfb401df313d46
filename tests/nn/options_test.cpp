// Options: setters chain, getters read and write, and names of modules stay those that users write.
#include <ebb/ebb.h>

#include "support/catch.h"

using namespace ebb;
using namespace ebb::nn;

TEST_CASE("options chain, on temporaries and on variables") {
  auto options = Conv2dOptions(3, 4, 5).stride({2, 1}).padding(kSame).bias(false);
  options.stride(3).groups(1);
  CHECK((*options.stride())[0] == 3);
  CHECK((*options.stride())[1] == 3);
  CHECK(options.padding().mode() == std::string("same"));
  CHECK_FALSE(options.bias());
  static_assert(std::is_same_v<decltype(options.bias(true)), Conv2dOptions&>);
}

TEST_CASE("options are written through their getters") {
  optim::AdamOptions adam(0.5);
  adam.lr() *= 2;
  std::get<0>(adam.betas()) = 0.25;
  const optim::AdamOptions& read = adam;
  CHECK(read.lr() == 1);
  CHECK(read.get_lr() == 1);
  CHECK(std::get<0>(read.betas()) == 0.25);

  ELUOptions elu;
  elu.alpha() = 3;
  CHECK(ELU(elu)->options.alpha() == 3);
  data::DataLoaderOptions loader(4);
  loader.workers() = 3;
  CHECK(loader.max_jobs() == 6);
}

TEST_CASE("a module's options can be changed after it is made") {
  Threshold threshold(0, 7);
  const Variable x = tensor({-1.0, 1.0});
  CHECK(threshold(x)[0].item<double>() == 7);
  threshold->options.value(9);
  CHECK(threshold(x)[0].item<double>() == 9);
}

TEST_CASE("modules have the names that libtorch gives their classes") {
  CHECK(ReLU()->name() == "ebb::nn::ReLUImpl");
  CHECK(Conv2d(1, 1, 1)->name() == "ebb::nn::Conv2dImpl");
  CHECK(ConvTranspose3d(1, 1, 1)->name() == "ebb::nn::ConvTranspose3dImpl");
  CHECK(BatchNorm1d(1)->name() == "ebb::nn::BatchNorm1dImpl");
  CHECK(ReflectionPad2d(1)->name() == "ebb::nn::ReflectionPad2dImpl");
  CHECK(AdaptiveMaxPool2d(1)->name() == "ebb::nn::AdaptiveMaxPool2dImpl");
}

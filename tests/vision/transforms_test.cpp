// Image transforms: random parameters, generators, datasets.
#include <ebb/vision.h>

#include "goldens.h"

using namespace ebb;
using namespace ebb::vision::transforms;
using support::Contains;

namespace {

const Variable& image() {
  static const Variable bytes = arange(3 * 12 * 10).remainder(256).to(kByte).reshape({3, 12, 10});
  return bytes;
}

// Compares with three draws of torchvision after torch.manual_seed(3).
template <class T>
void check_drawn(const char* name, T transform, double tolerance = 0) {
  INFO(name);
  manual_seed(3);
  const Variable with_default = stack({transform(image()), transform(image()), transform(image())});
  check_close(with_default, golden(std::string("drawn.") + name), tolerance);
  const Variable before = rand({1});
  transform.generator(Generator(3));
  const Variable with_own = stack({transform(image()), transform(image()), transform(image())});
  CHECK(equal(with_own, with_default));
  manual_seed(3);
  stack({T(transform).generator(nullopt)(image()), T(transform).generator(nullopt)(image()),
         T(transform).generator(nullopt)(image())});
  CHECK(equal(rand({1}), before));  // a separate generator does not advance the default one
}

}  // namespace

TEST_CASE("random transforms draw the same parameters as torchvision") {
  check_drawn("crop", RandomCrop({7, 8}).padding({2}));
  check_drawn("crop", RandomCrop({7, 8}, 2));
  check_drawn("crop_needed", RandomCrop({14, 4}).pad_if_needed(true));
  check_drawn("resized_crop", RandomResizedCrop({5, 6}), 1);
  check_drawn("hflip", RandomHorizontalFlip());
  check_drawn("vflip", RandomVerticalFlip(0.3));
  check_drawn("rotation", RandomRotation(10, 80));
  check_drawn("erasing", RandomErasing(0.9));
  check_drawn("jitter", ColorJitter(0.4, 0.3, 0.5, 0.2), 1);
  check_drawn("grayscale", RandomGrayscale(0.5));
  check_drawn("blur", GaussianBlur(3));
}

TEST_CASE("RandomCrop with padding crops the image after it is padded with the fill value") {
  const Variable bytes = image().add(1);
  for (const double fill : {0.0, 9.0}) {
    manual_seed(5);
    const Variable drawn = RandomCrop({12, 10}, {3, 4}).fill({fill})(bytes);
    manual_seed(5);
    CHECK(equal(drawn, RandomCrop({12, 10})(functional::pad(bytes, {3, 4}, {fill}))));
  }
  CHECK(RandomCrop(32, 4)(ones({3, 32, 32})).sizes() == IntArrayRef({3, 32, 32}));
  CHECK(equal(RandomCrop({14, 12}, {1})(bytes), functional::pad(bytes, {1})));
  CHECK_THROWS_WITH(RandomCrop({15, 12}, 1)(bytes), Contains("set pad_if_needed"));
  CHECK(RandomCrop(20, 1).pad_if_needed(true)(bytes).sizes() == IntArrayRef({3, 20, 20}));
}

TEST_CASE("Compose runs its transforms and lambdas in order") {
  const Compose compose(
      Resize({6, 5}), [](const Variable& x) { return x.add(1); }, CenterCrop(4), Pad(1),
      ToDtype(kFloat, true), Normalize({0.5}, {0.25}), Lambda([](const Variable& x) { return x.neg(); }));
  const Variable out = compose(image());
  namespace F = functional;
  const Variable by_hand = F::pad(F::center_crop(F::resize(image(), {6, 5}).add(1), 4), 1);
  check_close(out, F::normalize(F::to_dtype(by_hand, kFloat, true), {0.5}, {0.25}).neg(), 0);
}

TEST_CASE("image transforms work as dataset transforms") {
  data::datasets::MNIST digits(source_dir() + "/python_free_examples/data/digits");
  auto dataset = digits.map(Compose(Resize(5), Normalize({0.5}, {0.5}))).map(data::transforms::Stack<>());
  auto loader = data::make_data_loader(std::move(dataset), data::DataLoaderOptions(50).workers(2));
  for (const auto& batch : *loader) {
    CHECK(batch.data.sizes() == IntArrayRef({50, 1, 5, 5}));
    break;
  }
}

TEST_CASE("RandomResizedCrop and RandomErasing skip random rectangles that do not fit into the image") {
  manual_seed(0);
  const Variable wide = image().narrow(1, 0, 1);  // 1 x 10
  CHECK(RandomResizedCrop({2, 2}).scale({1, 1})(wide).sizes() == IntArrayRef({3, 2, 2}));
  CHECK(RandomErasing(1).scale({1, 1})(image()).is_same(image()));
  const Variable square = ones({3, 8, 8});  // an erased rectangle is smaller than the image
  CHECK(RandomErasing(1).scale({1, 1}).ratio({1, 1})(square).is_same(square));
  const Variable noise = RandomErasing(1).value({})(zeros({3, 8, 8}));
  CHECK(noise.ne(0).any().item<bool>());
}

TEST_CASE("RandomResizedCrop of a very narrow image crops the center with the nearest allowed ratio") {
  const Variable tall = arange(1600, kFloat).view({1, 400, 4}), wide = tall.view({1, 4, 400});
  // 4 / (3/4) = 5.33 rows of 4, and 4 * (4/3) = 5.33 columns of 4.
  CHECK(equal(RandomResizedCrop({5, 4}).scale({1, 1})(tall), tall.narrow(1, 197, 5)));
  CHECK(equal(RandomResizedCrop({4, 5}).scale({1, 1})(wide), wide.narrow(2, 197, 5)));
  CHECK(equal(RandomResizedCrop({8, 4}).scale({1, 1}).ratio({0.5, 0.5})(tall), tall.narrow(1, 196, 8)));
}

TEST_CASE("random transforms refuse invalid options") {
  CHECK_THROWS_WITH(RandomCrop(20)(image()), Contains("set pad_if_needed"));
  CHECK_THROWS_WITH(RandomCrop({20})(image()), Contains("must be positive, got 20 and 0"));
  CHECK_THROWS_WITH(RandomHorizontalFlip(1.5)(image()), Contains("probability"));
  CHECK_THROWS_WITH(RandomRotation(5, -5)(image()), Contains("range"));
  CHECK_THROWS_WITH(ColorJitter(-1), Contains("brightness must not be negative"));
  CHECK_THROWS_WITH(ColorJitter(0, 0, 0, 0.7), Contains("half a circle"));
}

// load_parts: splits a dataset by class into a base part and a new part.
#include "classes.h"

#include "common/images.h"

#include <vector>

using ebb::Tensor;
using ebb::data::datasets::MNIST;

namespace {

using Classes = std::vector<std::int64_t>;

Labelled of_classes(const MNIST& data, const Classes& classes) {
  std::vector<Tensor> images, labels;
  for (std::size_t k = 0; k < classes.size(); ++k) {
    const Tensor at = data.targets().eq(classes[k]).nonzero().squeeze(1);
    images.push_back(data.images().index_select(0, at));
    labels.push_back(ebb::full({at.size(0)}, static_cast<std::int64_t>(k), ebb::kLong));
  }
  return {ebb::cat(images), ebb::cat(labels)};
}

void read_parts(TwoParts& parts, const char* folder, const Classes& base, const Classes& fresh) {
  const MNIST train(folder), test(folder, MNIST::Mode::kTest);
  parts.base_classes = static_cast<std::int64_t>(base.size());
  parts.new_classes = static_cast<std::int64_t>(fresh.size());
  parts.base_train = of_classes(train, base);
  parts.base_test = of_classes(test, base);
  parts.new_train = of_classes(train, fresh);
  parts.new_test = of_classes(test, fresh);
}

// Moves each image to a random position in a larger image of frame x frame pixels.
void scatter(Labelled& data, std::int64_t frame) {
  const Tensor& images = data.inputs;
  const std::int64_t n = images.size(0), size = images.size(2), places = frame - size + 1;
  const Tensor out = ebb::zeros({n, 1, frame, frame});
  const Tensor corners = ebb::randint(places, {n, 2}, ebb::kLong);
  const auto corner = corners.accessor<std::int64_t, 2>();
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t row = corner[i][0], column = corner[i][1];
    out[i].slice(1, row, row + size).slice(2, column, column + size).copy_(images[i]);
  }
  data.inputs = out;
}

// The digits are at random positions. Translation invariance can be learnt from other digits, but not from
// three images. (With these clean digits in the middle of the image, training from scratch is better.)
TwoParts load_digits() {
  TwoParts parts{"digits at random places; 4, 7, 8 and 9 are new", 0, 0, 40, 3e-3, 0.1, {}, {}, {}, {}};
  read_parts(parts, example::kDigits, {0, 1, 2, 3, 5, 6}, {4, 7, 8, 9});
  for (Labelled* data : {&parts.base_train, &parts.base_test, &parts.new_train, &parts.new_test})
    scatter(*data, 12);
  return parts;
}

TwoParts load_fashion(bool brief) {
  TwoParts parts{
      "Fashion-MNIST; pullovers, coats, shirts, bags and boots are new", 0, 0, 4, 1e-3, 0.03, {}, {}, {}, {}};
  read_parts(parts, example::kFashionMnist, {0, 1, 3, 5, 7}, {2, 4, 6, 8, 9});
  if (brief) {
    parts.base_train = few_of_each(parts.base_train, 1500);
    parts.new_test = few_of_each(parts.new_test, 250);
  }
  return parts;
}

}  // namespace

TwoParts load_parts(bool digits, bool brief) {
  return digits || !MNIST::present(example::kFashionMnist) ? load_digits() : load_fashion(brief);
}

Labelled few_of_each(const Labelled& data, std::int64_t count) {
  std::vector<Tensor> chosen;
  const auto classes = data.labels.max().item<std::int64_t>() + 1;
  for (std::int64_t k = 0; k < classes; ++k) {
    const Tensor at = data.labels.eq(k).nonzero().squeeze(1);
    const Tensor order = ebb::randperm(at.size(0), ebb::kLong).slice(0, 0, count);
    chosen.push_back(at.index_select(0, order));
  }
  return data.rows(ebb::cat(chosen));
}

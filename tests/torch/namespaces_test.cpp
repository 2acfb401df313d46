// The namespaces torch, at and c10: reopened, specialised, used together.
#include <torch/torch.h>

#include "support/catch.h"

namespace F = torch::nn::functional;

// As programs add a layer to torch's own.
namespace torch {
namespace nn {
struct DoubleImpl : Cloneable<DoubleImpl> {
  void reset() override {}
  Tensor forward(const Tensor& x) { return 2 * x; }
};
TORCH_MODULE(Double);
}  // namespace nn

namespace program {
Tensor three() { return full({1}, 3); }
}  // namespace program
}  // namespace torch

// A sample of a program's own, and how a batch of them is stacked.
struct Point {
  torch::Tensor place;
  int64_t label = 0;
};

namespace torch::data::transforms {
template <>
struct Stack<Point> : public Collation<Point> {
  Point apply_batch(std::vector<Point> points) override {
    std::vector<torch::Tensor> places;
    int64_t labels = 0;
    for (Point& point : points) places.push_back(point.place), labels += point.label;
    return {torch::stack(places), labels};
  }
};
}  // namespace torch::data::transforms

struct Points : torch::data::datasets::Dataset<Points, Point> {
  Point get(size_t index) override { return {torch::full({2}, static_cast<double>(index)), 1}; }
  torch::optional<size_t> size() const override { return 6; }
};

namespace at::native {
Tensor plus_one(const Tensor& x) { return add(x, 1); }
}  // namespace at::native

TEST_CASE("torch, at and c10 name the same things") {
  static_assert(std::is_same_v<torch::Tensor, at::Tensor> &&
                std::is_same_v<torch::Tensor, torch::autograd::Variable>);
  static_assert(std::is_same_v<c10::ScalarType, torch::Dtype> && std::is_same_v<at::Device, c10::Device>);
  static_assert(c10::kFloat == at::kFloat && torch::kFloat32 == at::kFloat &&
                at::kCUDA == c10::DeviceType::CUDA);
  static_assert(std::is_same_v<at::indexing::Slice, torch::indexing::Slice>);
  static_assert(std::is_same_v<c10::Error, torch::Error>);
  static_assert(std::is_same_v<torch::IntArrayRef, at::IntArrayRef> &&
                std::is_same_v<at::Scalar, c10::Scalar>);
  CHECK(at::add(torch::ones(1), at::ones(1)).item<float>() == 2);
}

TEST_CASE("torch's namespaces can be reopened") {
  auto chain = torch::nn::Sequential(torch::nn::Double(), torch::nn::ReLU());
  CHECK(chain->forward(torch::program::three()).item<float>() == 6);
  CHECK(at::native::plus_one(torch::zeros(1)).item<float>() == 1);
  CHECK(F::relu(torch::full({1}, -1)).item<float>() == 0);
}

TEST_CASE("templates of torch's can be specialised") {
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      Points().map(torch::data::transforms::Stack<Point>()), 3);
  int64_t batches = 0;
  double sum = 0;
  for (Point& batch : *loader) {
    CHECK(batch.place.sizes() == torch::IntArrayRef{3, 2});
    CHECK(batch.label == 3);
    sum += batch.place.sum().item<double>();
    ++batches;
  }
  CHECK(batches == 2);
  CHECK(sum == 30);
}

TEST_CASE("all three can be used at once") {
  using namespace torch;
  using namespace at;
  using namespace c10;
  nn::Linear layer(2, 3);
  const Tensor x = ones({4, 2}, TensorOptions().dtype(kFloat).device(kCPU));
  CHECK(layer(x).sizes() == IntArrayRef{4, 3});
  CHECK(x.index({indexing::Slice(0, 2), 0}).numel() == 2);
  for (const auto i : irange(2)) CHECK(str(i).size() == 1);
  autograd::Variable leaf = full({1}, 2.0, requires_grad(true));
  leaf.pow(2).backward();
  CHECK(leaf.grad().item<float>() == 4);
  CHECK(cuda::device_count() < 100);
}

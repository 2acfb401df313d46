// Transform, the base of image transforms, and Compose.
#pragma once

#include <ebb/data/transforms.h>

#include <functional>
#include <utility>
#include <vector>

namespace ebb::vision::transforms {

/// Converts an image [..., C, H, W], floating or Byte. A random transform draws its parameters once for all
/// leading dimensions, for example a batch. A transform is callable. It is also a
/// data::transforms::TensorTransform, so that `dataset.map(Resize(32))` transforms the data of each example.
/// Add Stack for batches: `.map(Resize(32)).map(Stack<>())`.
///
/// Random transforms draw the same numbers as torchvision, from their `generator` or from the default one.
/// After manual_seed(s), crops equal those after torch.manual_seed(s). The workers of a loader share a
/// generator, so with several workers the timing decides which numbers each image gets.
class EBB_API Transform : public data::transforms::TensorTransform<> {
 public:
  virtual Variable forward(const Variable& image) const = 0;
  Variable operator()(Variable image) override { return forward(image); }
  Variable operator()(const Variable& image) const { return forward(image); }
};

/// Applies callables one after another: `Compose(Resize(40), RandomCrop(32), ToDtype(kFloat, true))`.
class EBB_API Compose : public Transform {
 public:
  using Step = std::function<Variable(const Variable&)>;

  explicit Compose(std::vector<Step> steps) : steps_(std::move(steps)) {}
  template <class... Steps>
    requires(std::is_constructible_v<Step, Steps> && ...)
  explicit Compose(Steps... steps) {
    (steps_.emplace_back(std::move(steps)), ...);
  }
  Variable forward(const Variable& image) const override;

 private:
  std::vector<Step> steps_;
};

/// A function as a transform.
class EBB_API Lambda : public Transform {
 public:
  explicit Lambda(std::function<Variable(const Variable&)> f) : f_(std::move(f)) {}
  Variable forward(const Variable& image) const override { return f_(image); }

 private:
  std::function<Variable(const Variable&)> f_;
};

}  // namespace ebb::vision::transforms

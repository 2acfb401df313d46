// What transforms of images are, and several in a row.
#pragma once

#include <ebb/data/transforms.h>

#include <functional>
#include <utility>
#include <vector>

namespace ebb::vision::transforms {

/// Turns an image [..., C, H, W], floating or Byte, into another. Leading dimensions, a batch's say, share
/// what a random transform draws. A callable, and a data::transforms::TensorTransform, so that
/// `dataset.map(Resize(32))` transforms the data of each example; `.map(Resize(32)).map(Stack<>())`.
///
/// Random transforms draw from their `generator`, or the default one where there is none, what torchvision
/// draws: after manual_seed(s), crops are those of torch.manual_seed(s). A loader's workers share a
/// generator, so that with several of them which image gets which numbers is up to their timing.
class EBB_API Transform : public data::transforms::TensorTransform<> {
 public:
  virtual Variable forward(const Variable& image) const = 0;
  Variable operator()(Variable image) override { return forward(image); }
  Variable operator()(const Variable& image) const { return forward(image); }
};

/// One callable after the other: `Compose(Resize(40), RandomCrop(32), ToDtype(kFloat, true))`.
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

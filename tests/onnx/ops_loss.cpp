// Losses.
#include "onnx/call.h"

namespace onnx {
namespace {

std::int64_t reduction_of(const Call& c) {
  const std::string name = c.text("reduction", "mean");
  EBB_CHECK(name == "mean" || name == "sum" || name == "none", "reduction: ", name);
  return name == "mean" ? ebb::Reduction::Mean : name == "sum" ? ebb::Reduction::Sum : ebb::Reduction::None;
}

Tensors nll(const Call& c) {
  return {ebb::nll_loss_nd(c[0], c[1], c.maybe(2), reduction_of(c), c.integer("ignore_index", -100))};
}

Tensors cross_entropy(const Call& c) {
  return {ebb::cross_entropy_loss(c[0], c[1], c.maybe(2), reduction_of(c), c.integer("ignore_index", -100)),
          ebb::log_softmax(c[0], 1)};
}

}  // namespace

void add_loss(Ops& ops) {
  ops["NegativeLogLikelihoodLoss"] = nll;
  ops["SoftmaxCrossEntropyLoss"] = cross_entropy;
}

}  // namespace onnx

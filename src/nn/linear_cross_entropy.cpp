// linear_cross_entropy: the cross-entropy of a linear map's result, for all samples or in chunks of samples.
#include <ebb/autograd/checkpoint.h>
#include <ebb/nn/modules/linear_cross_entropy.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "nn/module_tools.h"

namespace ebb::nn {

namespace functional {

namespace {

constexpr const char* kName = "linear_cross_entropy";

/// Returns cross_entropy of the logits (N, C, d_1, ..., d_K), or (C, ...) for one sample.
Variable loss_of(const Variable& input, const Variable& linear_weight, const Variable& target,
                 const LinearCrossEntropyFuncOptions& o, reduction_t reduction) {
  const std::int64_t width = linear_weight.size(-1);
  const Variable& bias = o.linear_bias();
  Variable logits =
      linear(input, linear_weight.reshape({-1, width}), bias.defined() ? bias.reshape({-1}) : bias);
  if (linear_weight.dim() > 2) {
    DimVector sizes(input.sizes());
    sizes.pop_back();
    for (std::int64_t d = 0; d + 1 < linear_weight.dim(); ++d) sizes.push_back(linear_weight.size(d));
    logits = logits.reshape(sizes);
  }
  return cross_entropy(logits, target,
                       CrossEntropyFuncOptions()
                           .weight(o.weight())
                           .reduction(reduction)
                           .ignore_index(o.ignore_index())
                           .label_smoothing(o.label_smoothing()));
}

/// Computes the mean from the sum: divides by the number of samples, or by the total class weight of those
/// that are not ignored.
Variable mean_of(const Variable& sum, const Variable& target, const LinearCrossEntropyFuncOptions& o) {
  if (is_floating(target.dtype()))
    return sum / (static_cast<double>(target.numel()) / static_cast<double>(target.size(1)));
  const Variable counts = target.ne(o.ignore_index());
  if (!o.weight().defined()) return sum / counts.sum();
  const Variable classes = target.masked_fill(counts.logical_not(), 0).flatten();
  return sum / (o.weight().index_select(0, classes) * counts.flatten()).sum();
}

}  // namespace

Variable linear_cross_entropy(const Variable& input, const Variable& linear_weight, const Variable& target,
                              const LinearCrossEntropyFuncOptions& o) {
  EBB_CHECK(linear_weight.dim() >= 2 && (input.dim() == 2 || (input.dim() == 1 && linear_weight.dim() == 2)),
            kName,
            ": expected input (N, in) or (in) and linear_weight (C, in), or (N, in) and (C, d_1, ..., in), ",
            "got shapes ", input.sizes(), " and ", linear_weight.sizes(),
            ". Flatten sequences to (N, in), and their targets to (N).");
  const optional<std::int64_t>& chunk = o.batch_chunk_size();
  EBB_CHECK(!chunk || *chunk > 0, kName, ": batch_chunk_size must be positive, got ", chunk.value_or(0), ".");
  if (!chunk || input.dim() == 1 || input.size(0) <= *chunk)
    return loss_of(input, linear_weight, target, o, o.reduction());
  EBB_CHECK(target.dim() > 0 && target.size(0) == input.size(0), kName, ": expected a target for each of ",
            input.size(0), " samples, got shape ", target.sizes(), ".");
  const bool mean = o.reduction() == kMean;
  const reduction_t each = mean ? reduction_t(kSum) : o.reduction();
  std::vector<Variable> parts;
  for (std::int64_t begin = 0; begin < input.size(0); begin += *chunk) {
    const std::int64_t count = std::min(*chunk, input.size(0) - begin);
    const Variable of_part = target.narrow(0, begin, count);
    parts.push_back(
        autograd::checkpoint([=](const Variable& x) { return loss_of(x, linear_weight, of_part, o, each); },
                             input.narrow(0, begin, count)));
  }
  if (o.reduction() == kNone) return cat(parts);
  const Variable sum = stack(parts).sum();
  return mean ? mean_of(sum, target, o) : sum;
}

}  // namespace functional

LinearCrossEntropyLossImpl::LinearCrossEntropyLossImpl(LinearCrossEntropyLossOptions options_)
    : options(std::move(options_)) {
  LinearCrossEntropyLossImpl::reset();
}

void LinearCrossEntropyLossImpl::reset() {
  EBB_CHECK(!options.weight().defined() || options.weight().sizes() == IntArrayRef({options.num_classes()}),
            "LinearCrossEntropyLoss: expected a weight for each of ", options.num_classes(),
            " classes, got shape ", options.weight().sizes(), ".");
  EBB_CHECK(options.label_smoothing() >= 0 && options.label_smoothing() <= 1,
            "LinearCrossEntropyLoss: expected label_smoothing to be in range [0, 1], got ",
            options.label_smoothing(), ".");
  std::int64_t results = options.num_classes();
  for (const std::int64_t size : options.out_features()) results *= size;
  weight = register_buffer("weight", own_handle(options.weight(), weight));
  linear =
      register_module("linear", Linear(LinearOptions(options.in_features(), results).bias(options.bias())));
}

Variable LinearCrossEntropyLossImpl::forward(const Variable& input, const Variable& target) {
  return at_path(*this, [&] {
    std::vector<std::int64_t> sizes{options.num_classes()};
    sizes.insert(sizes.end(), options.out_features().begin(), options.out_features().end());
    const Variable bias = linear->bias.defined() ? linear->bias.reshape(sizes) : linear->bias;
    sizes.push_back(options.in_features());
    return functional::linear_cross_entropy(input, linear->weight.reshape(sizes), target,
                                            functional::LinearCrossEntropyFuncOptions()
                                                .linear_bias(bias)
                                                .weight(weight)
                                                .reduction(options.reduction())
                                                .ignore_index(options.ignore_index())
                                                .label_smoothing(options.label_smoothing())
                                                .batch_chunk_size(options.batch_chunk_size()));
  });
}

template class Cloneable<LinearCrossEntropyLossImpl>;

}  // namespace ebb::nn

// Losses that contain their output layer, for many classes. linear_cross_entropy is the cross-entropy of a
// linear map's result. It is computed for all samples together or in chunks of samples.
// AdaptiveLogSoftmaxWithLoss is a softmax over many classes, most of them rare.
#include <ebb/autograd/checkpoint.h>
#include <ebb/nn/modules/adaptive_softmax.h>
#include <ebb/nn/modules/linear_cross_entropy.h>
#include <ebb/nn/modules/sequential.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "nn/module_tools.h"

#include <cmath>

namespace ebb::nn {

namespace functional {

namespace {

constexpr const char* kLinearCrossEntropy = "linear_cross_entropy";

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

/// Computes the mean from the sum. For class indices, divides by the number of samples that are not ignored,
/// or by their total class weight. For class probabilities, divides by the number of samples.
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
            kLinearCrossEntropy,
            ": expected input (N, in) or (in) and linear_weight (C, in), or (N, in) and (C, d_1, ..., in), ",
            "got shapes ", input.sizes(), " and ", linear_weight.sizes(),
            ". Flatten sequences to (N, in), and their targets to (N).");
  const optional<std::int64_t>& chunk = o.batch_chunk_size();
  EBB_CHECK(!chunk || *chunk > 0, kLinearCrossEntropy, ": batch_chunk_size must be positive, got ",
            chunk.value_or(0), ".");
  if (!chunk || input.dim() == 1 || input.size(0) <= *chunk)
    return loss_of(input, linear_weight, target, o, o.reduction());
  EBB_CHECK(target.dim() > 0 && target.size(0) == input.size(0), kLinearCrossEntropy,
            ": expected a target for each of ", input.size(0), " samples, got shape ", target.sizes(), ".");
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

ASMoutput::ASMoutput(Variable output_, double loss_) : output(std::move(output_)), loss(loss_) {}

AdaptiveLogSoftmaxWithLossImpl::AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions options_)
    : options(std::move(options_)), shortlist_size(0), n_clusters(0), head_size(0) {
  AdaptiveLogSoftmaxWithLossImpl::reset();
}

void AdaptiveLogSoftmaxWithLossImpl::reset() {
  const std::vector<std::int64_t>& requested = options.cutoffs();
  bool ascending = !requested.empty() && options.div_value() > 0;
  std::int64_t before = 0;
  for (const std::int64_t c : requested) {
    ascending = ascending && c > before && c < options.n_classes();
    before = c;
  }
  EBB_CHECK(
      ascending,
      "AdaptiveLogSoftmaxWithLoss: cutoffs should be a sequence of unique, positive integers sorted in an "
      "increasing order, where each value is between 1 and n_classes-1; got ",
      IntArrayRef(requested), " for ", options.n_classes(), " classes.");
  cutoffs = requested;
  cutoffs.push_back(options.n_classes());
  shortlist_size = cutoffs[0];
  n_clusters = static_cast<std::int64_t>(cutoffs.size()) - 1;
  head_size = shortlist_size + n_clusters;
  const std::int64_t in = options.in_features();
  head = register_module("head", Linear(LinearOptions(in, head_size).bias(options.head_bias())));
  tail = register_module("tail", ModuleList());
  for (std::int64_t i = 0; i < n_clusters; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto width = static_cast<std::int64_t>(
        std::floor(static_cast<double>(in) / std::pow(options.div_value(), static_cast<double>(i + 1))));
    // libtorch constructs both layers in the arguments of one call, and g++ evaluates the last argument
    // first. The order here is the same, so that the same initial weights are drawn.
    const Linear second(LinearOptions(width, cutoffs[at + 1] - cutoffs[at]).bias(false));
    const Linear first(LinearOptions(in, width).bias(false));
    tail->push_back(Sequential(first, second));
  }
}

void AdaptiveLogSoftmaxWithLossImpl::reset_parameters() {
  head->reset_parameters();
  for (std::size_t i = 0; i < tail->size(); ++i)
    for (const std::shared_ptr<Module>& layer : tail[i]->children()) layer->as<Linear>()->reset_parameters();
}

ASMoutput AdaptiveLogSoftmaxWithLossImpl::forward(const Variable& input, const Variable& target) {
  return at_path(*this, [&]() -> ASMoutput {
    const char* op = "AdaptiveLogSoftmaxWithLoss";
    EBB_CHECK(input.defined() && target.defined(), op, ": expected two tensors, got input ", input,
              " and target ", target, ".");
    EBB_CHECK(target.dim() <= 1, op, ": 0D or 1D target tensor expected, multi-target not supported.");
    EBB_CHECK(input.dim() == target.dim() + 1, op,
              ": 1D target tensor expects 2D input tensors, 0D target 1D ones; got input ", input.sizes(),
              " and target ", target.sizes(), ".");
    const bool batched = target.dim() > 0;
    const Variable x = batched ? input : input.unsqueeze(0), to = batched ? target : target.unsqueeze(0);
    EBB_CHECK(x.size(0) == to.size(0), op,
              ": Input and target should have the same size in the batch dimension, got ", x.size(0), " and ",
              to.size(0), ".");
    std::int64_t used = 0;
    Variable output = zeros({to.size(0)}, x.options().requires_grad(false));
    Variable gather_indices = empty_like(to.detach());
    std::int64_t low = 0;
    for (std::size_t i = 0; i < cutoffs.size(); ++i) {
      const std::int64_t high = cutoffs[i];
      const Variable rows = (to >= low).logical_and(to < high).nonzero().squeeze(1);
      if (rows.numel() > 0) {
        if (i == 0) {
          gather_indices.index_copy_(0, rows, to.index_select(0, rows));
        } else {
          const Variable relative = to.index_select(0, rows) - low;
          const Variable cluster = tail[i - 1]->as<Sequential>()->forward(x.index_select(0, rows));
          gather_indices.index_fill_(0, rows, shortlist_size + static_cast<std::int64_t>(i) - 1);
          const Variable local = cluster.log_softmax(1).gather(1, relative.unsqueeze(1)).squeeze(1);
          output = output.index_copy(0, rows, local);
        }
        used += rows.numel();
      }
      low = high;
    }
    EBB_CHECK(used == to.size(0), op, ": target values should be in [0, ", options.n_classes() - 1,
              "], but values in range [", to.min().item<std::int64_t>(), ", ", to.max().item<std::int64_t>(),
              "] were found.");
    const Variable head_log_prob = head->forward(x).log_softmax(1);
    output = output + head_log_prob.gather(1, gather_indices.unsqueeze(1)).squeeze(1);
    const double loss = (-output.detach()).mean().item<double>();
    return {batched ? output : output.squeeze(0), loss};
  });
}

Variable AdaptiveLogSoftmaxWithLossImpl::_get_full_log_prob(const Variable& input,
                                                            const Variable& head_output) {
  const Variable head_log_prob = head_output.log_softmax(1);
  std::vector<Variable> parts{head_log_prob.slice(1, 0, shortlist_size)};
  for (std::int64_t i = 0; i < n_clusters; ++i) {
    const Variable cluster = tail[i]->as<Sequential>()->forward(input).log_softmax(1);
    parts.push_back(cluster + head_log_prob.select(1, shortlist_size + i).unsqueeze(1));
  }
  return cat(parts, 1);
}

Variable AdaptiveLogSoftmaxWithLossImpl::log_prob(const Variable& input) {
  return at_path(*this, [&] { return _get_full_log_prob(input, head->forward(input)); });
}

Variable AdaptiveLogSoftmaxWithLossImpl::predict(const Variable& input) {
  return at_path(*this, [&]() -> Variable {
    const Variable head_output = head->forward(input);
    Variable output = head_output.argmax(1);
    const Variable elsewhere = (output >= shortlist_size).nonzero().squeeze(1);
    if (elsewhere.numel() == 0) return output;
    const Variable full =
        _get_full_log_prob(input.index_select(0, elsewhere), head_output.index_select(0, elsewhere));
    return output.index_copy(0, elsewhere, full.argmax(1));
  });
}

void AdaptiveLogSoftmaxWithLossImpl::pretty_print(std::ostream& stream) const {
  stream << named_by_program("ebb::nn::AdaptiveLogSoftmaxWithLoss");
}

template class Cloneable<AdaptiveLogSoftmaxWithLossImpl>;

}  // namespace ebb::nn

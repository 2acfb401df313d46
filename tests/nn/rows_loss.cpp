// Rows of losses, each with a reference formula for the reductions none, mean and sum.
#include "nn/module_rows.h"

#include <cmath>

namespace modules {

namespace {

using Each = std::function<Variable(In)>;

Variable reduced(const Variable& x, int how) { return how == 0 ? x : how == 1 ? x.mean() : x.sum(); }

// Adds a row for each reduction; `each` returns the unreduced losses.
template <class Holder, class Options>
void add(std::vector<Row>& rows, const std::string& name, const variable_list& inputs, const Each& each,
         const Options& options) {
  const auto add_one = [&](const std::string& how, int number, auto reduction) {
    Options asked = options;
    asked.reduction(reduction);
    Formula formula;
    if (each)
      formula = [each, number](In in, const Tensors&) -> variable_list {
        return {reduced(each(in), number)};
      };
    rows.push_back(row<Holder>(name + " " + how, inputs, formula, asked));
  };
  add_one("of each", 0, ebb::kNone);
  add_one("mean", 1, ebb::kMean);
  add_one("sum", 2, ebb::kSum);
}

Variable plain_softplus(const Variable& x) { return (1 + x.exp()).log(); }
Variable norm_of(const Variable& x) { return (x + 1e-6).square().sum(-1).sqrt(); }

// Returns the losses of classes on dimension 1 for targets that are class probabilities, and their weighted
// mean.
Variable of_shares(const Variable& x, const Variable& shares, const Variable& weight, double smoothing) {
  const std::int64_t classes = x.size(1);
  const Variable logs = x - x.exp().sum(1, true).log();
  ebb::DimVector along(static_cast<std::size_t>(x.dim()), 1);
  along[1] = classes;
  return -(logs * (shares * (1 - smoothing) + smoothing / static_cast<double>(classes)) * weight.view(along))
              .sum(1);
}

void add_classes(std::vector<Row>& rows) {
  const Variable weight = ebb::tensor({0.5, 2.0, 1.25}, ebb::kDouble);
  const nn::CrossEntropyLossOptions weighted =
      nn::CrossEntropyLossOptions().weight(weight).label_smoothing(0.2);
  // Targets of N dimensions that are probabilities: the mean is over targets, not over weights.
  for (const Sizes& sizes : {Sizes{4, 3}, Sizes{2, 3, 4}, Sizes{2, 3, 2, 2}}) {
    const Variable shares = wave(sizes, 2).exp() / wave(sizes, 2).exp().sum(1, true);
    const std::string name = "CrossEntropyLoss of shares in " + std::to_string(sizes.size()) + " dimensions";
    add<nn::CrossEntropyLoss>(
        rows, name, {wave(sizes), shares}, [weight](In in) { return of_shares(in[0], in[1], weight, 0.2); },
        weighted);
  }
  // Targets that are class indices, one of them ignored: the mean is over the weights of the others.
  const Variable classes = integers({2, 0, -1, 1}), lines = integers({2, 0, -1, 1, 1, 2}, {2, 3});
  const auto counted = [](In in) { return in[1].ne(-1).to(ebb::kDouble); };
  const auto one_hot = [](In in) {
    const Variable hot = ebb::nn::functional::one_hot(in[1].clamp_min(0), 3).to(ebb::kDouble);
    return hot.dim() == 2 ? hot : hot.movedim(-1, 1);
  };
  for (const variable_list& in :
       {variable_list{wave({4, 3}), classes}, variable_list{wave({2, 3, 3}), lines}})
    for (const int how : {0, 1, 2}) {
      const auto formula = [=](In x, const Tensors&) -> variable_list {
        const Variable each = of_shares(x[0], one_hot(x), weight, 0.0) * counted(x);
        const Variable total =
            (weight.index_select(0, x[1].clamp_min(0).flatten()).view(x[1].sizes()) * counted(x)).sum();
        return {how == 1 ? each.sum() / total : reduced(each, how)};
      };
      const std::string name = "of classes in " + std::to_string(in[0].dim()) +
                               " dimensions, reduced by way " + std::to_string(how);
      nn::CrossEntropyLossOptions options = nn::CrossEntropyLossOptions().weight(weight).ignore_index(-1);
      nn::NLLLossOptions nll = nn::NLLLossOptions().weight(weight).ignore_index(-1);
      if (how == 0) options.reduction(ebb::kNone), nll.reduction(ebb::kNone);
      if (how == 2) options.reduction(ebb::kSum), nll.reduction(ebb::kSum);
      rows.push_back(row<nn::CrossEntropyLoss>("CrossEntropyLoss " + name, in, formula, options));
      rows.back().names = {"weight"};
      variable_list logs = in;
      logs[0] = in[0].log_softmax(1);
      rows.push_back(row<nn::NLLLoss>(
          "NLLLoss " + name, logs, [=](In x, const Tensors& t) { return formula({x[0], x[1]}, t); }, nll));
    }
}

void add_pairs(std::vector<Row>& rows) {
  const Variable x = wave({3, 4}), y = wave({3, 4}, 1.4),
                 weight = ebb::tensor({0.5, 2.0, 1.25, 0.75}, ebb::kDouble);
  const Variable signs = wave({3, 4}, 2).sign(), chances = x.sigmoid(), truths = y.sigmoid();
  add<nn::L1Loss>(rows, "L1Loss", {x, y}, [](In in) { return (in[0] - in[1]).abs(); }, nn::L1LossOptions());
  add<nn::MSELoss>(
      rows, "MSELoss", {x, y}, [](In in) { return (in[0] - in[1]).square(); }, nn::MSELossOptions());
  add<nn::SmoothL1Loss>(
      rows, "SmoothL1Loss", {x, y},
      [](In in) {
        const Variable d = (in[0] - in[1]).abs();
        return ebb::where(d < 0.6, d.square() / 1.2, d - 0.3);
      },
      nn::SmoothL1LossOptions().beta(0.6));
  add<nn::HuberLoss>(
      rows, "HuberLoss", {x, y},
      [](In in) {
        const Variable d = (in[0] - in[1]).abs();
        return ebb::where(d < 0.6, d.square() / 2, (d - 0.3) * 0.6);
      },
      nn::HuberLossOptions().delta(0.6));
  add<nn::BCELoss>(
      rows, "BCELoss", {chances, truths},
      [weight](In in) { return -weight * (in[1] * in[0].log() + (1 - in[1]) * (1 - in[0]).log()); },
      nn::BCELossOptions().weight(weight));
  add<nn::BCEWithLogitsLoss>(
      rows, "BCEWithLogitsLoss", {x, truths},
      [weight](In in) {
        return weight * ((1 - in[1]) * in[0] + (1 + (3 * weight - 1) * in[1]) * plain_softplus(-in[0]));
      },
      nn::BCEWithLogitsLossOptions().weight(weight).pos_weight(weight * 3));
  add<nn::KLDivLoss>(
      rows, "KLDivLoss", {x, truths}, [](In in) { return in[1] * (in[1].log() - in[0]); },
      nn::KLDivLossOptions());
  add<nn::KLDivLoss>(
      rows, "KLDivLoss of logarithms", {x, y}, [](In in) { return in[1].exp() * (in[1] - in[0]); },
      nn::KLDivLossOptions().log_target(true));
  add<nn::PoissonNLLLoss>(
      rows, "PoissonNLLLoss", {x, truths * 4},
      [](In in) {
        const Variable s = in[1] * in[1].log() - in[1] + 0.5 * (2 * M_PI * in[1]).log();
        return in[0].exp() - in[1] * in[0] + ebb::where(in[1] > 1, s, ebb::zeros_like(s));
      },
      nn::PoissonNLLLossOptions().full(true));
  add<nn::GaussianNLLLoss>(
      rows, "GaussianNLLLoss", {x, y, chances},
      [](In in) { return 0.5 * (in[2].log() + (in[0] - in[1]).square() / in[2]) + 0.5 * std::log(2 * M_PI); },
      nn::GaussianNLLLossOptions().full(true));
  add<nn::SoftMarginLoss>(
      rows, "SoftMarginLoss", {x, signs.to(ebb::kLong)}, [](In in) { return plain_softplus(-in[0] * in[1]); },
      nn::SoftMarginLossOptions());
  add<nn::HingeEmbeddingLoss>(
      rows, "HingeEmbeddingLoss", {x, signs},
      [](In in) { return ebb::where(in[1] > 0, in[0], (1.5 - in[0]).clamp_min(0)); },
      nn::HingeEmbeddingLossOptions().margin(1.5));
  add<nn::MarginRankingLoss>(
      rows, "MarginRankingLoss", {x, y, signs},
      [](In in) { return (-in[2] * (in[0] - in[1]) + 0.3).clamp_min(0); },
      nn::MarginRankingLossOptions().margin(0.3));
  add<nn::CosineEmbeddingLoss>(
      rows, "CosineEmbeddingLoss", {x, y, ebb::tensor({1., -1., 1.}, ebb::kDouble)},
      [](In in) {
        const Variable c = (in[0] * in[1]).sum(1) / (in[0].square().sum(1) * in[1].square().sum(1)).sqrt();
        return ebb::where(in[2] > 0, 1 - c, (c + 0.2).clamp_min(0));
      },
      nn::CosineEmbeddingLossOptions().margin(-0.2));
}

void add_margins(std::vector<Row>& rows) {
  const Variable x = wave({3, 4}), y = wave({3, 4}, 1.4), z = wave({3, 4}, 2.9),
                 weight = ebb::tensor({0.5, 2.0, 1.25, 0.75}, ebb::kDouble);
  const Variable classes = integers({2, 0, 3});
  add<nn::MultiMarginLoss>(
      rows, "MultiMarginLoss of squares", {x, classes},
      [weight](In in) {
        const Variable right = in[0].gather(1, in[1].unsqueeze(1)),
                       factor = weight.index_select(0, in[1]).unsqueeze(1);
        const Variable others = 1 - ebb::nn::functional::one_hot(in[1], 4).to(ebb::kDouble);
        return (factor * (1.5 - right + in[0]).clamp_min(0).square() * others).sum(1) / 4;
      },
      nn::MultiMarginLossOptions().p(2).margin(1.5).weight(weight));
  add<nn::MultiLabelMarginLoss>(rows, "MultiLabelMarginLoss",
                                {x, integers({1, 3, -1, 0, 2, -1, 0, 0, 0, 1, 2, 3}, {3, 4})}, nullptr,
                                nn::MultiLabelMarginLossOptions());
  add<nn::MultiLabelSoftMarginLoss>(
      rows, "MultiLabelSoftMarginLoss", {x, y.sigmoid()},
      [weight](In in) {
        return (weight * (in[1] * plain_softplus(-in[0]) + (1 - in[1]) * plain_softplus(in[0]))).mean(1);
      },
      nn::MultiLabelSoftMarginLossOptions().weight(weight));
  add<nn::TripletMarginLoss>(
      rows, "TripletMarginLoss that swaps", {x, y, z},
      [](In in) {
        const Variable far = ebb::minimum(norm_of(in[0] - in[2]), norm_of(in[1] - in[2]));
        return (norm_of(in[0] - in[1]) - far + 2.5).clamp_min(0);
      },
      nn::TripletMarginLossOptions().margin(2.5).swap(true));
  add<nn::TripletMarginWithDistanceLoss>(
      rows, "TripletMarginWithDistanceLoss", {x, y, z},
      [](In in) {
        const auto far = [](const Variable& a, const Variable& b) { return (a - b).abs().sum(-1); };
        return (far(in[0], in[1]) - far(in[0], in[2]) + 2.5).clamp_min(0);
      },
      nn::TripletMarginWithDistanceLossOptions().margin(2.5).distance_function(
          [](const Variable& a, const Variable& b) { return (a - b).abs().sum(-1); }));
  add<nn::CTCLoss>(rows, "CTCLoss",
                   {wave({5, 2, 4}).log_softmax(2), integers({1, 2, 3, 1, 1, 2}, {2, 3}), integers({5, 4}),
                    integers({3, 2})},
                   nullptr, nn::CTCLossOptions().zero_infinity(true));
  for (std::size_t i = rows.size() - 3; i < rows.size(); ++i) {
    rows[i].has_derivatives = false;  // the derivatives hold only for log_softmax(2), as in torch
    rows[i].batch = 1;
  }
  add<nn::LinearCrossEntropyLoss>(rows, "LinearCrossEntropyLoss", {wave({3, 5}), integers({1, 3, 0})},
                                  nullptr,
                                  nn::LinearCrossEntropyLossOptions(5, 4).bias(true).label_smoothing(0.1));
}

}  // namespace

std::vector<Row> loss_rows() {
  std::vector<Row> rows;
  add_pairs(rows);
  add_margins(rows);
  add_classes(rows);
  for (Row& row : rows) row.sequence = nullptr;  // these modules have two tensor arguments
  return rows;
}

}  // namespace modules

// Losses, as functions and as modules.
#include "fidelity.h"

// Losses: all reductions, weights and rare arguments.
namespace losses {

namespace F = torch::nn::functional;

void run() {
  const Tensor x = ramp({3, 4}, -2, 2), y = ramp({3, 4}, -1.5, 2.5, 1.4), p = ramp({3, 4}, 0.1, 0.9),
               q = ramp({3, 4}, 0.05, 0.95, 2.0);
  const Tensor target = torch::tensor({1, 3, 0}), weight = ramp({4}, 0.5, 2);

  // The same loss with each reduction.
  for (int reduction : {0, 1, 2}) {
    const std::string tag = "." + std::to_string(reduction);
    const Tensors xy = {x, y};
    const Tensor sign = torch::tensor({1., -1., 1.}, torch::kFloat64), row = x[0].slice(0, 0, 3);
    grads("mse" + tag, [&](const Tensors& t) { return torch::mse_loss(t[0], t[1], reduction); }, xy);
    grads("l1" + tag, [&](const Tensors& t) { return torch::l1_loss(t[0], t[1], reduction); }, xy);
    grads(
        "smooth_l1" + tag,
        [&](const Tensors& t) { return torch::smooth_l1_loss(t[0], t[1], reduction, 0.7); }, xy);
    grads("huber" + tag, [&](const Tensors& t) { return torch::huber_loss(t[0], t[1], reduction, 0.7); }, xy);
    grads("bce" + tag, [&](const Tensors& t) { return torch::binary_cross_entropy(t[0], q, {}, reduction); },
          {p});
    grads("bce.weight" + tag,
          [&](const Tensors& t) { return torch::binary_cross_entropy(t[0], q, weight, reduction); }, {p});
    grads("bce_logits" + tag,
          [&](const Tensors& t) {
            return torch::binary_cross_entropy_with_logits(t[0], q, weight, ramp({4}, 1, 2), reduction);
          },
          {x});
    grads("kl_div" + tag, [&](const Tensors& t) { return torch::kl_div(t[0], t[1], reduction); }, {x, p});
    grads(
        "kl_div.log" + tag, [&](const Tensors& t) { return torch::kl_div(t[0], t[1], reduction, true); }, xy);
    grads("nll" + tag, [&](const Tensors& t) { return torch::nll_loss(t[0], target, weight, reduction); },
          {x});
    grads("cross_entropy" + tag,
          [&](const Tensors& t) { return torch::cross_entropy_loss(t[0], target, {}, reduction); }, {x});
    grads(
        "cross_entropy.all" + tag,
        [&](const Tensors& t) { return torch::cross_entropy_loss(t[0], target, weight, reduction, 3, 0.2); },
        {x});
    grads(
        "cross_entropy.probabilities" + tag,
        [&](const Tensors& t) { return torch::cross_entropy_loss(t[0], t[1], weight, reduction, -100, 0.1); },
        {x, p});
    grads("hinge_embedding" + tag,
          [&](const Tensors& t) { return torch::hinge_embedding_loss(t[0], sign, 0.8, reduction); }, {row});
    grads("margin_ranking" + tag,
          [&](const Tensors& t) { return torch::margin_ranking_loss(t[0], t[1], sign, 0.3, reduction); },
          {row, ramp({3}, -1, 1, 2.2)});
    grads("triplet" + tag,
          [&](const Tensors& t) {
            return torch::triplet_margin_loss(t[0], t[1], t[2], 1.5, 2, 1e-6, false, reduction);
          },
          {x, y, p});
    grads("triplet.swap" + tag,
          [&](const Tensors& t) {
            return torch::triplet_margin_loss(t[0], t[1], t[2], 1.5, 2, 1e-6, true, reduction);
          },
          {x, y, p});
    grads("poisson_nll" + tag,
          [&](const Tensors& t) { return torch::poisson_nll_loss(t[0], p * 5, true, true, 1e-8, reduction); },
          {x});
    grads("poisson_nll.plain" + tag,
          [&](const Tensors& t) { return torch::poisson_nll_loss(t[0], q, false, false, 1e-8, reduction); },
          {p});
    grads(
        "cosine_embedding" + tag,
        [&](const Tensors& t) { return torch::cosine_embedding_loss(t[0], t[1], sign, 0.1, reduction); }, xy,
        1);
    grads("soft_margin" + tag,
          [&](const Tensors& t) { return torch::soft_margin_loss(t[0], y.sign(), reduction); }, {x});
  }

  section("functional", [&] {
    grads("F.cross_entropy", [&](const Tensors& t) { return F::cross_entropy(t[0], target); }, {x});
    grads("F.cross_entropy.options",
          [&](const Tensors& t) {
            return F::cross_entropy(t[0], target,
                                    F::CrossEntropyFuncOptions()
                                        .weight(weight)
                                        .ignore_index(1)
                                        .reduction(torch::kSum)
                                        .label_smoothing(0.1));
          },
          {x});
    grads("F.cross_entropy.image",
          [&](const Tensors& t) {
            return F::cross_entropy(t[0], torch::tensor({{{0, 1}, {2, 1}}, {{1, 1}, {0, 2}}}));
          },
          {ramp({2, 3, 2, 2})});
    grads("F.nll",
          [&](const Tensors& t) {
            return F::nll_loss(F::log_softmax(t[0], 1), target, F::NLLLossFuncOptions().ignore_index(3));
          },
          {x});
    grads("F.mse",
          [&](const Tensors& t) { return F::mse_loss(t[0], t[1], F::MSELossFuncOptions(torch::kSum)); },
          {x, y});
    grads("F.l1",
          [&](const Tensors& t) { return F::l1_loss(t[0], t[1], F::L1LossFuncOptions(torch::kNone)); },
          {x, y});
    grads("F.smooth_l1",
          [&](const Tensors& t) {
            return F::smooth_l1_loss(t[0], t[1], F::SmoothL1LossFuncOptions(torch::kMean), 0.5);
          },
          {x, y});
    grads("F.huber",
          [&](const Tensors& t) {
            return F::huber_loss(t[0], t[1], F::HuberLossFuncOptions().reduction(torch::kSum).delta(0.5));
          },
          {x, y});
    grads("F.bce",
          [&](const Tensors& t) {
            return F::binary_cross_entropy(t[0], q, F::BinaryCrossEntropyFuncOptions().weight(weight));
          },
          {p});
    grads("F.bce_logits",
          [&](const Tensors& t) {
            return F::binary_cross_entropy_with_logits(
                t[0], q, F::BinaryCrossEntropyWithLogitsFuncOptions().pos_weight(weight));
          },
          {x});
    grads("F.kl_div",
          [&](const Tensors& t) {
            return F::kl_div(t[0], t[1], F::KLDivFuncOptions().reduction(torch::kBatchMean));
          },
          {x, p});
    grads("F.gaussian",
          [&](const Tensors& t) { return (0.5 * (torch::log(t[2]) + (t[0] - t[1]).square() / t[2])).mean(); },
          {x, y, p});
    grads(
        "F.triplet",
        [&](const Tensors& t) {
          return F::triplet_margin_loss(t[0], t[1], t[2], F::TripletMarginLossFuncOptions().margin(2.0).p(1));
        },
        {x, y, p}, 1);
    grads("F.poisson",
          [&](const Tensors& t) {
            return F::poisson_nll_loss(t[0], p, F::PoissonNLLLossFuncOptions().log_input(true).full(false));
          },
          {x});
    grads("F.hinge",
          [&](const Tensors& t) {
            return F::hinge_embedding_loss(t[0], y.sign(), F::HingeEmbeddingLossFuncOptions().margin(2));
          },
          {x});
    grads("F.margin",
          [&](const Tensors& t) {
            return F::margin_ranking_loss(t[0], t[1], x.sign(),
                                          F::MarginRankingLossFuncOptions().margin(0.5));
          },
          {y, p});
  });

  section("edges", [&] {
    const Tensor far = torch::tensor({1000., -1000., 0.}, torch::kFloat64);
    grads("edge.bce_logits",
          [](const Tensors& t) {
            return torch::binary_cross_entropy_with_logits(t[0],
                                                           torch::tensor({0., 1., 1.}, torch::kFloat64));
          },
          {far});
    grads(
        "edge.bce",
        [](const Tensors& t) {
          return torch::binary_cross_entropy(t[0], torch::tensor({1., 0., 1.}, torch::kFloat64));
        },
        {torch::tensor({0., 1., 1.}, torch::kFloat64)}, 1);
    grads(
        "edge.ignored",
        [](const Tensors& t) {
          return torch::cross_entropy_loss(t[0], torch::full({3}, -100, torch::kLong));
        },
        {x}, 1);
    grads(
        "edge.ignored_sum",
        [](const Tensors& t) {
          return torch::cross_entropy_loss(t[0], torch::full({3}, -100, torch::kLong), {}, 2);
        },
        {x}, 1);
    grads("edge.smooth_l1",
          [](const Tensors& t) {
            return torch::smooth_l1_loss(t[0], torch::zeros({3}, torch::kFloat64), 0, 1.0);
          },
          {torch::tensor({1., -1., 0.}, torch::kFloat64)});
    grads("edge.l1", [](const Tensors& t) { return torch::l1_loss(t[0], t[0].detach()); }, {x}, 1);
    grads(
        "edge.kl_zero",
        [](const Tensors& t) { return torch::kl_div(t[0], torch::zeros({3, 4}, torch::kFloat64), 2); }, {x},
        1);
    grads("edge.cross_entropy_far",
          [](const Tensors& t) { return torch::cross_entropy_loss(t[0], torch::tensor({1})); },
          {far.unsqueeze(0)});
    grads("edge.single", [](const Tensors& t) { return torch::cross_entropy_loss(t[0], torch::tensor(1)); },
          {x[0].contiguous()});
    // Reduction by sum: libtorch 1.13 divides the gradient of the target by the size of the target and not of
    // the broadcast.
    grads("edge.mse_broadcast", [](const Tensors& t) { return torch::mse_loss(t[0], t[1], 2); },
          {x, ramp({4})});
    report("edge.empty", torch::mse_loss(torch::zeros({0}), torch::zeros({0})));
    report_error("target.range", [&] { torch::cross_entropy_loss(x, torch::tensor({1, 4, 0})); });
    report_error("target.negative", [&] { torch::nll_loss(x, torch::tensor({1, -1, 0})); });
    report_error("target.batch", [&] { torch::cross_entropy_loss(x, torch::tensor({1, 2})); });
    report_error("target.dtype", [&] { torch::nll_loss(x, torch::tensor({1., 2., 0.})); });
    report_error("weight.size", [&] { torch::cross_entropy_loss(x, target, ramp({3})); });
    report_error("bce.range", [&] { torch::binary_cross_entropy(x, q); });
    report_error("bce.shape", [&] { F::binary_cross_entropy(p, q[0]); });
    report_error("smoothing", [&] { torch::cross_entropy_loss(x, target, {}, 1, -100, 1.5); });
    report_error("huber.delta", [&] { torch::huber_loss(x, y, 1, -1.0); });
    report_error("smooth.beta", [&] { torch::smooth_l1_loss(x, y, 1, -1.0); });
    report_error("mse.shape", [&] { torch::mse_loss(x, ramp({5})); });
  });
}

const Program program("losses", run);

}  // namespace losses

// The loss modules with their options.
namespace loss_modules {

namespace nn = torch::nn;

void run() {
  const Tensor x = ramp({3, 4}, -2, 2), y = ramp({3, 4}, -1.5, 2.5, 1.4), p = ramp({3, 4}, 0.1, 0.9);
  const Tensor target = torch::tensor({1, 3, 0});
  section("plain", [&] {
    report("CrossEntropyLoss", nn::CrossEntropyLoss()(x, target));
    report("NLLLoss", nn::NLLLoss()(torch::log_softmax(x, 1), target));
    report("MSELoss", nn::MSELoss()(x, y));
    report("L1Loss", nn::L1Loss()(x, y));
    report("SmoothL1Loss", nn::SmoothL1Loss()(x, y));
    report("HuberLoss", nn::HuberLoss()(x, y));
    report("BCELoss", nn::BCELoss()(p, p.flip({0})));
    report("BCEWithLogitsLoss", nn::BCEWithLogitsLoss()(x, p));
    report("KLDivLoss", nn::KLDivLoss()(x, p));
    report("HingeEmbeddingLoss", nn::HingeEmbeddingLoss()(x, y.sign()));
    report("MarginRankingLoss", nn::MarginRankingLoss()(x, y, p.sign()));
    report("TripletMarginLoss", nn::TripletMarginLoss()(x, y, p));
    report("PoissonNLLLoss", nn::PoissonNLLLoss()(x, p));
    report("CosineEmbeddingLoss", nn::CosineEmbeddingLoss()(x, y, torch::ones({3})));
    report("SoftMarginLoss", nn::SoftMarginLoss()(x, y.sign()));
  });
  section("options", [&] {
    report("CrossEntropyLoss.o", nn::CrossEntropyLoss(nn::CrossEntropyLossOptions()
                                                          .weight(ramp({4}, 1, 2))
                                                          .label_smoothing(0.1)
                                                          .reduction(torch::kSum))(x, target));
    report("NLLLoss.o", nn::NLLLoss(nn::NLLLossOptions().ignore_index(3).reduction(torch::kNone))(x, target));
    report("MSELoss.o", nn::MSELoss(nn::MSELossOptions().reduction(torch::kSum))(x, y));
    report("MSELoss.k", nn::MSELoss(torch::kNone)(x, y));
    report("L1Loss.o", nn::L1Loss(nn::L1LossOptions(torch::kNone))(x, y));
    report("SmoothL1Loss.o", nn::SmoothL1Loss(nn::SmoothL1LossOptions().beta(0.5))(x, y));
    report("HuberLoss.o", nn::HuberLoss(nn::HuberLossOptions().delta(0.5))(x, y));
    report("BCELoss.o", nn::BCELoss(nn::BCELossOptions().reduction(torch::kSum))(p, p));
    report("BCEWithLogitsLoss.o",
           nn::BCEWithLogitsLoss(nn::BCEWithLogitsLossOptions().pos_weight(ramp({4}, 1, 2)))(x, p));
    report("KLDivLoss.o",
           nn::KLDivLoss(nn::KLDivLossOptions().reduction(torch::kBatchMean).log_target(true))(x, y));
    report("TripletMarginLoss.o",
           nn::TripletMarginLoss(nn::TripletMarginLossOptions().margin(0.3).swap(true))(x, y, p));
    report("MarginRankingLoss.o", nn::MarginRankingLoss(nn::MarginRankingLossOptions().margin(0.4).reduction(
                                      torch::kSum))(x, y, p.sign()));
    report("PoissonNLLLoss.o",
           nn::PoissonNLLLoss(nn::PoissonNLLLossOptions().log_input(false).full(true))(p, p * 4));
  });
  section("training", [&] {
    Tensor w = ramp({4, 4}).requires_grad_();
    nn::CrossEntropyLoss criterion;
    auto loss = criterion->forward(x.mm(w), target);
    loss.backward();
    report("loss", loss);
    report("loss.grad", w.grad());
    report_value("loss.dim", static_cast<double>(loss.dim()));
  });
}

const Program program("loss_modules", run);

}  // namespace loss_modules

// The loss modules with their options.
#include "fidelity.h"

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

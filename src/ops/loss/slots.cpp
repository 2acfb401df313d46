#include "ops/loss/kernels.h"

namespace ebb::kernels {

template <class F>
constinit PointwiseLossSlot<F> PointwiseLoss<F>::forward{"loss", &cpu::pointwise_loss<F>};
template <class F>
constinit PointwiseLossBackwardSlot<F> PointwiseLoss<F>::backward{"loss_backward",
                                                                  &cpu::pointwise_loss_backward<F>};

template struct PointwiseLoss<math::L1Loss>;
template struct PointwiseLoss<math::KlDivLoss>;
template struct PointwiseLoss<math::MseLoss>;
template struct PointwiseLoss<math::SmoothL1Loss>;
template struct PointwiseLoss<math::HuberLoss>;
template struct PointwiseLoss<math::SoftMarginLoss>;
template struct PointwiseLoss<math::BceLoss>;
template struct PointwiseLoss<math::BceWithLogitsLoss>;

constinit KernelSlot<void(NdArray&, NdArray&, const NdArray&, const ClassTargets&)> nll_loss{"nll_loss",
                                                                                             &cpu::nll_loss};
constinit KernelSlot<void(NdArray&, const NdArray&, const NdArray&, const ClassTargets&)> nll_loss_backward{
    "nll_loss_backward", &cpu::nll_loss_backward};
constinit KernelSlot<void(NdArray&, NdArray&, NdArray&, const NdArray&, const ClassTargets&)> cross_entropy{
    "cross_entropy_loss", &cpu::cross_entropy};
constinit KernelSlot<void(NdArray&, const NdArray&, const NdArray&, const NdArray&, const NdArray&,
                          const ClassTargets&)>
    cross_entropy_backward{"cross_entropy_loss_backward", &cpu::cross_entropy_backward};

}  // namespace ebb::kernels

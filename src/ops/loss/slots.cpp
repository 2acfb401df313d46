// The kernel slots of the losses over classes.
#include "kernel/levels.h"
#include "ops/loss/ctc.h"
#include "ops/loss/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::nll_loss)> nll_loss{"nll_loss", levels_of<cpu::nll_loss>};
constinit KernelSlot<decltype(cpu::nll_loss_backward)> nll_loss_backward{"nll_loss_backward",
                                                                         levels_of<cpu::nll_loss_backward>};
constinit KernelSlot<decltype(cpu::cross_entropy)> cross_entropy{"cross_entropy_loss",
                                                                 levels_of<cpu::cross_entropy>};
constinit KernelSlot<decltype(cpu::cross_entropy_backward)> cross_entropy_backward{
    "cross_entropy_loss_backward", levels_of<cpu::cross_entropy_backward>};
constinit KernelSlot<decltype(cpu::ctc_loss)> ctc_loss{"ctc_loss", levels_of<cpu::ctc_loss>};
constinit KernelSlot<decltype(cpu::ctc_loss_backward)> ctc_loss_backward{"ctc_loss_backward",
                                                                         levels_of<cpu::ctc_loss_backward>};

}  // namespace ebb::kernels

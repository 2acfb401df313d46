// The kernel slots of recurrent layers.
#include "ops/rnn/kernels.h"

#include "kernel/levels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::rnn_forward)> rnn_forward{"rnn", levels_of<cpu::rnn_forward>};
constinit KernelSlot<decltype(cpu::rnn_backward)> rnn_backward{"rnn_backward", levels_of<cpu::rnn_backward>};
constinit KernelSlot<decltype(cpu::rnn_layer)> rnn_layer{"rnn_layer", levels_of<cpu::rnn_layer>};
constinit KernelSlot<decltype(cpu::rnn_layer_backward)> rnn_layer_backward{
    "rnn_layer_backward", levels_of<cpu::rnn_layer_backward>};

}  // namespace ebb::kernels

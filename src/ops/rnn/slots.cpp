// The kernel slots of recurrent layers.
#include "ops/rnn/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::rnn_forward)> rnn_forward{"rnn", &cpu::rnn_forward};
constinit KernelSlot<decltype(cpu::rnn_backward)> rnn_backward{"rnn_backward", &cpu::rnn_backward};
constinit KernelSlot<decltype(cpu::rnn_layer)> rnn_layer{"rnn_layer", &cpu::rnn_layer};
constinit KernelSlot<decltype(cpu::rnn_layer_backward)> rnn_layer_backward{"rnn_layer_backward",
                                                                           &cpu::rnn_layer_backward};

}  // namespace ebb::kernels

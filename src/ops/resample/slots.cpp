// The kernel slots of the resample family.
#include "ops/resample/kernels.h"

#include "kernel/levels.h"

namespace ebb::kernels {

constinit KernelSlot<decltype(cpu::grid_sample)> grid_sample{"grid_sampler", levels_of<cpu::grid_sample>};
constinit KernelSlot<decltype(cpu::grid_sample_backward_input)> grid_sample_backward_input{
    "grid_sampler_backward_input", levels_of<cpu::grid_sample_backward_input>};
constinit KernelSlot<decltype(cpu::grid_sample_backward_grid)> grid_sample_backward_grid{
    "grid_sampler_backward_grid", levels_of<cpu::grid_sample_backward_grid>};
constinit KernelSlot<decltype(cpu::axis_table)> axis_table{"upsample_table", levels_of<cpu::axis_table>};
constinit KernelSlot<decltype(cpu::resize_axis)> resize_axis{"upsample", levels_of<cpu::resize_axis>};

}  // namespace ebb::kernels

// The kernel slots of the reductions.
#include "ops/reduce/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<void(NdArray& out, const NdArray& x, DimMask dims, double divisor)> sum{"sum",
                                                                                             &cpu::sum};
constinit KernelSlot<ReduceKernel> nansum{"nansum", &cpu::nansum};
constinit KernelSlot<ReduceKernel> prod{"prod", &cpu::prod};
constinit KernelSlot<ReduceKernel> amax{"amax", &cpu::amax};
constinit KernelSlot<ReduceKernel> amin{"amin", &cpu::amin};
constinit KernelSlot<ReduceKernel> any{"any", &cpu::any};
constinit KernelSlot<ReduceKernel> all{"all", &cpu::all};
constinit KernelSlot<ReduceKernel> count_nonzero{"count_nonzero", &cpu::count_nonzero};
constinit KernelSlot<void(NdArray& out, const NdArray& x, DimMask dims, double p)> norm{"norm", &cpu::norm};
constinit KernelSlot<void(NdArray& out, NdArray& mean, const NdArray& x, DimMask dims, double divisor,
                          bool root)>
    variance{"var", &cpu::variance};
constinit KernelSlot<void(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim,
                          bool largest)>
    extreme_index{"max", &cpu::extreme_index};

}  // namespace ebb::kernels

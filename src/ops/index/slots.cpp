#include "ops/index/kernels.h"

namespace ebb::kernels {

constinit KernelSlot<void(NdArray&, ArrayRef<NdArray>, IntArrayRef, IntArrayRef, const IndexRules&)>
    index_offsets{"index_offsets", &cpu::index_offsets};
constinit KernelSlot<void(NdArray&, const NdArray&, const NdArray&)> take_rows{"take_rows", &cpu::take_rows};
constinit KernelSlot<void(NdArray&, const NdArray&, const NdArray&, bool)> put_rows{"put_rows",
                                                                                    &cpu::put_rows};
constinit KernelSlot<void(NdArray&, const NdArray&, std::int64_t, const NdArray&)> gather{"gather",
                                                                                          &cpu::gather};
constinit KernelSlot<void(NdArray&, std::int64_t, const NdArray&, const NdArray&, ScatterOp)> scatter{
    "scatter", &cpu::scatter};
constinit KernelSlot<void(NdArray&, const NdArray&, const NdArray&)> masked_fill{"masked_fill",
                                                                                 &cpu::masked_fill};
constinit KernelSlot<void(NdArray&, const NdArray&)> nonzero{"nonzero", &cpu::nonzero};

}  // namespace ebb::kernels

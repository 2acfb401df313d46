// The subset of NVIDIA's nvtx3/nvToolsExt.h that ebb needs; tests receive the events (emu/nvtx.cpp).
#pragma once

#include <cstdint>

using nvtxRangeId_t = std::uint64_t;

int nvtxRangePushA(const char* message);
int nvtxRangePop();
void nvtxMarkA(const char* message);
nvtxRangeId_t nvtxRangeStartA(const char* message);
void nvtxRangeEnd(nvtxRangeId_t id);

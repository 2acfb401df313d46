// Shape ops: views, joining and splitting, rearranging, padding, windows.
#pragma once

#include <ebb/ops/shape/fft_shift.h>
#include <ebb/ops/shape/join.h>
#include <ebb/ops/shape/pad.h>
#include <ebb/ops/shape/rearrange.h>
#include <ebb/ops/shape/views.h>

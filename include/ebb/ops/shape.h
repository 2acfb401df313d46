// Ops that change shapes: views, joining and splitting, rearranging, padding, windows.
#pragma once

#include <ebb/ops/shape/views.h>

#include <ebb/ops/shape/view_methods.h>

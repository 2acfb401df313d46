// Tensor creation: factories, windows, copies and conversions.
#pragma once

#include <ebb/ops/creation/copy.h>
#include <ebb/ops/creation/factories.h>
#include <ebb/ops/creation/windows.h>

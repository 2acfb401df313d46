// The current device of a scope.
#pragma once

#include <c10/core/DeviceGuard.h>
#include <torch/csrc/namespaces.h>

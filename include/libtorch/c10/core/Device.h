// Device.
#pragma once

#include <ebb/core/device.h>
#include <torch/csrc/namespaces.h>

// A batch spread over devices.
#pragma once

#include <ebb/nn.h>
#include <torch/csrc/namespaces.h>

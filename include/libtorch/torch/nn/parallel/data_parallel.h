// A batch spread over devices.
#pragma once

#include <ebb/nn.h>
#include <ebb/nn/parallel.h>
#include <torch/csrc/namespaces.h>

// Whether ops record.
#pragma once

#include <ebb/autograd/grad_mode.h>
#include <torch/csrc/namespaces.h>

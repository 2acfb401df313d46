// Samplers: custom_batch_request.
#pragma once

#include <ebb/data.h>
#include <torch/csrc/namespaces.h>

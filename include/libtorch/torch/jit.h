// TorchScript, which ebb does not have.
#pragma once

#include <torch/script.h>

// The former name of torch/csrc/Export.h.
#pragma once

#include <torch/csrc/Export.h>

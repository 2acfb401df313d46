// Tags that options are chosen by.
#pragma once

#include <ebb/nn/enums.h>
#include <torch/csrc/namespaces.h>

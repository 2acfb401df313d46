// OrderedDict.
#pragma once

#include <ebb/nn/ordered_dict.h>
#include <torch/csrc/namespaces.h>

// save and load.
#pragma once

#include <ebb/serialize.h>
#include <torch/csrc/namespaces.h>
#include <torch/types.h>

// What a loop over a loader holds.
#pragma once

#include <ebb/data.h>
#include <torch/csrc/namespaces.h>

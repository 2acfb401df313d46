// The error of a worker.
#pragma once

#include <ebb/data.h>
#include <torch/csrc/namespaces.h>

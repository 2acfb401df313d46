// A sample and its target.
#pragma once

#include <ebb/data/example.h>
#include <torch/csrc/namespaces.h>

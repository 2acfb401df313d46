// The version.
#pragma once

#include <torch/csrc/namespaces.h>
#include <torch/version.h>

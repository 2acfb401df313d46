// <torch/enum.h> by its longer name.
#pragma once

#include <torch/csrc/namespaces.h>
#include <torch/enum.h>

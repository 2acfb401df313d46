// <torch/all.h> by its longer name.
#pragma once

#include <torch/all.h>
#include <torch/csrc/namespaces.h>

// Archives.
#pragma once

#include <ebb/archive.h>
#include <torch/csrc/namespaces.h>

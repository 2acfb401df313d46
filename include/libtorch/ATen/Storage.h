// Storage.
#pragma once

#include <ebb/core/storage.h>
#include <torch/csrc/namespaces.h>

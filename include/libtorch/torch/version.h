// The version of libtorch that ebb stands in for: 1.13.1, with what 2.x has added.
#pragma once

#define TORCH_VERSION_MAJOR 1
#define TORCH_VERSION_MINOR 13
#define TORCH_VERSION_PATCH 1
#define TORCH_VERSION_ABI_TAG 0
#define TORCH_VERSION "1.13.1"

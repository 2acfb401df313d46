// The version of libtorch whose interface ebb has: 1.13.1, with additions of 2.x.
#pragma once

#define TORCH_VERSION_MAJOR 1
#define TORCH_VERSION_MINOR 13
#define TORCH_VERSION_PATCH 1
#define TORCH_VERSION_ABI_TAG 0
#define TORCH_VERSION "1.13.1"

// C10_EXPORT and others, with which libtorch marks visible symbols. Symbols of a program need no mark.
#pragma once

#define C10_EXPORT __attribute__((visibility("default")))
#define C10_IMPORT C10_EXPORT
#define C10_HIDDEN __attribute__((visibility("hidden")))
#define C10_API C10_EXPORT
#define C10_API_ENUM C10_EXPORT
#define C10_CUDA_API C10_EXPORT
#define TORCH_API C10_EXPORT
#define TORCH_CUDA_CPP_API C10_EXPORT
#define TORCH_CUDA_CU_API C10_EXPORT
#define TORCH_PYTHON_API C10_EXPORT
#define TORCH_XPU_API C10_EXPORT
#define CAFFE2_API C10_EXPORT

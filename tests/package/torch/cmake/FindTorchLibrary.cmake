# Finds libtorch below TORCH_ROOT, without its CMake files.
find_path(TORCH_INCLUDE_DIR torch/torch.h HINTS ${TORCH_ROOT}
  PATH_SUFFIXES include include/torch/csrc/api/include NO_DEFAULT_PATH)
find_library(TORCH_LIBRARY torch HINTS ${TORCH_ROOT} PATH_SUFFIXES lib NO_DEFAULT_PATH)
find_library(C10_LIBRARY c10 HINTS ${TORCH_ROOT} PATH_SUFFIXES lib NO_DEFAULT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(TorchLibrary REQUIRED_VARS TORCH_INCLUDE_DIR TORCH_LIBRARY C10_LIBRARY)

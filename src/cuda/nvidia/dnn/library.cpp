// Finds and opens cuDNN, and formats its errors.
#include "cuda/nvidia/dnn/library.h"

#include "cuda/nvidia/dnn/descriptor.h"
#include "cuda/nvidia/library_folders.h"

#include <dlfcn.h>
#include <unistd.h>

#include <string>

namespace ebb::cuda::dnn {
namespace {

// The first version that has plans without a device and the batch norm that ebb needs.
constexpr std::size_t kOldest = 90800;
static_assert(CUDNN_VERSION >= kOldest);

const std::string kSuffix = ".so." + std::to_string(CUDNN_MAJOR), kName = "libcudnn" + kSuffix;

template <class F>
bool find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

bool fill(Library& l, void* library) {
  return find(library, "cudnnGetVersion", l.version) &&
         find(library, "cudnnGetErrorString", l.error_string) &&
         find(library, "cudnnGetLastErrorString", l.last_error_string) &&
         find(library, "cudnnCreate", l.create) && find(library, "cudnnSetStream", l.set_stream) &&
         find(library, "cudnnBackendCreateDescriptor", l.create_descriptor) &&
         find(library, "cudnnBackendDestroyDescriptor", l.destroy_descriptor) &&
         find(library, "cudnnBackendSetAttribute", l.set_attribute) &&
         find(library, "cudnnBackendGetAttribute", l.get_attribute) &&
         find(library, "cudnnBackendFinalize", l.finalize) &&
         find(library, "cudnnBackendExecute", l.execute) &&
         find(library, "cudnnCreateTensorDescriptor", l.create_tensor) &&
         find(library, "cudnnDestroyTensorDescriptor", l.destroy_tensor) &&
         find(library, "cudnnSetTensorNdDescriptor", l.set_tensor) &&
         find(library, "cudnnGetTensorNdDescriptor", l.get_tensor) &&
         find(library, "cudnnCreateRNNDescriptor", l.create_rnn) &&
         find(library, "cudnnDestroyRNNDescriptor", l.destroy_rnn) &&
         find(library, "cudnnSetRNNDescriptor_v8", l.set_rnn) &&
         find(library, "cudnnCreateRNNDataDescriptor", l.create_rnn_data) &&
         find(library, "cudnnDestroyRNNDataDescriptor", l.destroy_rnn_data) &&
         find(library, "cudnnSetRNNDataDescriptor", l.set_rnn_data) &&
         find(library, "cudnnGetRNNWeightSpaceSize", l.rnn_weight_space_size) &&
         find(library, "cudnnGetRNNWeightParams", l.rnn_weight_params) &&
         find(library, "cudnnGetRNNTempSpaceSizes", l.rnn_temp_space_sizes) &&
         find(library, "cudnnRNNForward", l.rnn_forward) &&
         find(library, "cudnnRNNBackwardData_v8", l.rnn_backward_data) &&
         find(library, "cudnnRNNBackwardWeights_v8", l.rnn_backward_weights);
}

// Returns whether a part of the library exists in the same folder. cuDNN opens its parts itself, and ends the
// program if a part that it needs is missing.
bool has_part(const Library& l, const char* name) {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<void*>(l.version), &info) || !info.dli_fname) return false;
  const std::string path = info.dli_fname;
  const std::string part = path.substr(0, path.find_last_of('/') + 1) + name + kSuffix;
  return access(part.c_str(), R_OK) == 0;
}

// Opens the library at a path, or by a name that the loader can find. Returns null if it is too old or
// incomplete.
const Library* open(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return nullptr;
  Library functions{};
  // The library is never closed once it is in use, because plans in static variables are destroyed last.
  if (fill(functions, library) && has_part(functions, "libcudnn_graph") && functions.version() >= kOldest)
    return new Library(functions);
  dlclose(library);
  return nullptr;
}

const Library* load() {
  const Library* found = open(kName);
  for (const std::string& folder : library_folders("cudnn"))
    if (!found) found = open(folder + kName);
  return found;
}

}  // namespace

const Library* find_library() {
  static const Library* const found = load();
  return found;
}

bool has_recurrent_layers() {
  static const bool has =
      find_library() && has_part(library(), "libcudnn_ops") && has_part(library(), "libcudnn_adv");
  return has;
}

namespace {

std::string text_of(cudnnStatus_t status, const char* call) {
  char detail[1024] = "";
  library().last_error_string(detail, sizeof(detail));
  std::string text = std::string(call) + ": " + library().error_string(status);
  if (detail[0] != '\0') text += std::string(" (") + detail + ")";
  return text;
}

}  // namespace

Failure::Failure(cudnnStatus_t status, const char* call)
    : std::runtime_error(text_of(status, call)), status_(status) {}

bool Failure::is_unsupported() const {
  // If a part of the library is missing, cuDNN reports the problem as unsupported, too. This function then
  // returns false, because a missing part is an error of the installation.
  return CUDNN_STATUS_CATEGORY(static_cast<int>(status_)) == CUDNN_STATUS_NOT_SUPPORTED &&
         status_ != CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE;
}

}  // namespace ebb::cuda::dnn

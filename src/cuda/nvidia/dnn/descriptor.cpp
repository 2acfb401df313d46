// cuDNN's descriptors as C++ values.
#include "cuda/nvidia/dnn/descriptor.h"

namespace ebb::cuda::dnn {
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
  // A part of the library that is missing is the machine's fault, though cuDNN counts it among these.
  return CUDNN_STATUS_CATEGORY(static_cast<int>(status_)) == CUDNN_STATUS_NOT_SUPPORTED &&
         status_ != CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE;
}

}  // namespace ebb::cuda::dnn

// cuDNN's backend API. All its objects are descriptors: create, set attributes, finalize.
#pragma once

#include "cuda/nvidia/dnn/library.h"

#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ebb::cuda::dnn {

/// A failed call of cuDNN: the call and cuDNN's message.
class Failure : public std::runtime_error {
 public:
  Failure(cudnnStatus_t status, const char* call);
  /// Returns whether the failure only means that cuDNN has no algorithm for the problem. Other failures are
  /// errors of the program or the machine.
  bool is_unsupported() const;

 private:
  cudnnStatus_t status_;
};

inline void check(cudnnStatus_t status, const char* call) {
  if (status != CUDNN_STATUS_SUCCESS) [[unlikely]]
    throw Failure(status, call);
}

/// The cuDNN tag of a C++ type.
template <class T>
constexpr cudnnBackendAttributeType_t kTag = [] {
  if constexpr (std::same_as<T, std::int64_t>)
    return CUDNN_TYPE_INT64;
  else if constexpr (std::same_as<T, bool>)
    return CUDNN_TYPE_BOOLEAN;
  else if constexpr (std::same_as<T, char>)
    return CUDNN_TYPE_CHAR;
  else if constexpr (std::same_as<T, float>)
    return CUDNN_TYPE_FLOAT;
  else if constexpr (std::same_as<T, double>)
    return CUDNN_TYPE_DOUBLE;
  else if constexpr (std::same_as<T, cudnnHandle_t>)
    return CUDNN_TYPE_HANDLE;
  else if constexpr (std::same_as<T, cudnnDataType_t>)
    return CUDNN_TYPE_DATA_TYPE;
  else if constexpr (std::same_as<T, cudnnConvolutionMode_t>)
    return CUDNN_TYPE_CONVOLUTION_MODE;
  else if constexpr (std::same_as<T, cudnnPointwiseMode_t>)
    return CUDNN_TYPE_POINTWISE_MODE;
  else if constexpr (std::same_as<T, cudnnReduceTensorOp_t>)
    return CUDNN_TYPE_REDUCTION_OPERATOR_TYPE;
  else if constexpr (std::same_as<T, cudnnBackendHeurMode_t>)
    return CUDNN_TYPE_HEUR_MODE;
  else if constexpr (std::same_as<T, cudnnBackendNumericalNote_t>)
    return CUDNN_TYPE_NUMERICAL_NOTE;
  else if constexpr (std::same_as<T, cudnnBackendNormMode_t>)
    return CUDNN_TYPE_NORM_MODE;
  else if constexpr (std::same_as<T, cudnnBackendNormFwdPhase_t>)
    return CUDNN_TYPE_NORM_FWD_PHASE;
  else if constexpr (std::same_as<T, cudnnResampleMode_t>)
    return CUDNN_TYPE_RESAMPLE_MODE;
  else if constexpr (std::same_as<T, cudnnPaddingMode_t>)
    return CUDNN_TYPE_PADDING_MODE;
  else if constexpr (std::same_as<T, cudnnNanPropagation_t>)
    return CUDNN_TYPE_NAN_PROPOGATION;
  else if constexpr (std::same_as<T, cudnnBackendTensorReordering_t>)
    return CUDNN_TYPE_TENSOR_REORDERING_MODE;
  else if constexpr (std::same_as<T, void*>)
    return CUDNN_TYPE_VOID_PTR;
  else
    static_assert(sizeof(T) == 0, "a type that cuDNN has no attributes of");
}();

class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) {
    check(library().create_descriptor(type, &descriptor_), "cudnnBackendCreateDescriptor");
  }
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, nullptr)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Descriptor() {
    if (descriptor_) library().destroy_descriptor(descriptor_);
  }

  template <class T>
  Descriptor& set(cudnnBackendAttributeName_t name, const T* values, std::int64_t count) {
    check(library().set_attribute(descriptor_, name, kTag<T>, count, values), "cudnnBackendSetAttribute");
    return *this;
  }
  template <class T>
  Descriptor& set(cudnnBackendAttributeName_t name, const std::vector<T>& values) {
    return set(name, values.data(), static_cast<std::int64_t>(values.size()));
  }
  template <class T>
  Descriptor& set(cudnnBackendAttributeName_t name, const T& value) {
    return set(name, &value, 1);
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& value) {
    return set_descriptors(name, {value.descriptor_});
  }
  Descriptor& set_descriptors(cudnnBackendAttributeName_t name,
                              const std::vector<cudnnBackendDescriptor_t>& values) {
    check(library().set_attribute(descriptor_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                  static_cast<std::int64_t>(values.size()), values.data()),
          "cudnnBackendSetAttribute");
    return *this;
  }
  Descriptor& finalize() {
    check(library().finalize(descriptor_), "cudnnBackendFinalize");
    return *this;
  }

  /// Reads up to values.size() values of an attribute, and reduces the size to the number of values that
  /// exist.
  template <class T>
  void get(cudnnBackendAttributeName_t name, std::vector<T>& values) const {
    const std::int64_t n = get(name, kTag<T>, values.size(), values.data());
    if (static_cast<std::size_t>(n) < values.size()) values.resize(static_cast<std::size_t>(n));
  }
  template <class T>
  T get(cudnnBackendAttributeName_t name) const {
    T value{};
    get(name, kTag<T>, 1, &value);
    return value;
  }
  /// Fills a descriptor that was created but not finalized.
  void get(cudnnBackendAttributeName_t name, Descriptor& value) const {
    get(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.descriptor_);
  }
  std::vector<char> get_text(cudnnBackendAttributeName_t name) const {
    std::vector<char> text(static_cast<std::size_t>(get(name, CUDNN_TYPE_CHAR, 0, nullptr)));
    get(name, text);
    return text;
  }
  /// Returns all descriptors of an attribute, which have the type `type`.
  std::vector<Descriptor> get_all(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type) const {
    std::vector<Descriptor> all;
    std::vector<cudnnBackendDescriptor_t> raw;
    for (std::int64_t i = get(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, nullptr); i > 0; --i)
      raw.push_back(all.emplace_back(type).raw());
    const std::int64_t n = get(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, raw.size(), raw.data());
    // The first query returned an upper bound.
    while (static_cast<std::int64_t>(all.size()) > n) all.pop_back();
    return all;
  }

  cudnnBackendDescriptor_t raw() const { return descriptor_; }

 private:
  std::int64_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t tag, std::size_t room,
                   void* values) const {
    std::int64_t n = 0;
    check(library().get_attribute(descriptor_, name, tag, static_cast<std::int64_t>(room), &n, values),
          "cudnnBackendGetAttribute");
    return n;
  }

  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

}  // namespace ebb::cuda::dnn

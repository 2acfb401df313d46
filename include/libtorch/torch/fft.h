// torch::fft. Its functions need complex numbers, which ebb does not have. Each call is a compile error that
// says so.
#pragma once

#include <ebb/autograd/variable.h>

#include <torch/csrc/namespaces.h>

namespace ebb::fft {

/// The return type of each transform. Its instantiation is a compile error.
template <class...>
struct NeedsComplexNumbers {
  static_assert(sizeof(NeedsComplexNumbers*) == 0,
                "torch::fft's transforms need complex tensors, which ebb does not have.");
};

template <class... Args>
Tensor fft(const Args&...) {
  return NeedsComplexNumbers<Args...>(), Tensor();
}
template <class... Args>
Tensor ifft(const Args&...) {
  return NeedsComplexNumbers<Args...>(), Tensor();
}
template <class... Args>
Tensor rfft(const Args&...) {
  return NeedsComplexNumbers<Args...>(), Tensor();
}
template <class... Args>
Tensor irfft(const Args&...) {
  return NeedsComplexNumbers<Args...>(), Tensor();
}
template <class... Args>
Tensor hfft(const Args&...) {
  return NeedsComplexNumbers<Args...>(), Tensor();
}
template <class... Args>
Tensor ihfft(const Args&...) {
  return NeedsComplexNumbers<Args...>(), Tensor();
}
template <class... Args>
Tensor fft2(const Args&...) {
  return NeedsComplexNumbers<Args...>(), Tensor();
}
template <class... Args>
Tensor ifft2(const Args&...) {
  return NeedsComplexNumbers<Args...>(), Tensor();
}
template <class... Args>
Tensor rfft2(const Args&...) {
  return NeedsComplexNumbers<Args...>(), Tensor();
}
template <class... Args>
Tensor irfft2(const Args&...) {
  return NeedsComplexNumbers<Args...>(), Tensor();
}
template <class... Args>
Tensor hfft2(const Args&...) {
  return NeedsComplexNumbers<Args...>(), Tensor();
}
template <class... Args>
Tensor ihfft2(const Args&...) {
  return NeedsComplexNumbers<Args...>(), Tensor();
}
template <class... Args>
Tensor fftn(const Args&...) {
  return NeedsComplexNumbers<Args...>(), Tensor();
}
template <class... Args>
Tensor ifftn(const Args&...) {
  return NeedsComplexNumbers<Args...>(), Tensor();
}
template <class... Args>
Tensor rfftn(const Args&...) {
  return NeedsComplexNumbers<Args...>(), Tensor();
}
template <class... Args>
Tensor irfftn(const Args&...) {
  return NeedsComplexNumbers<Args...>(), Tensor();
}
template <class... Args>
Tensor hfftn(const Args&...) {
  return NeedsComplexNumbers<Args...>(), Tensor();
}
template <class... Args>
Tensor ihfftn(const Args&...) {
  return NeedsComplexNumbers<Args...>(), Tensor();
}

}  // namespace ebb::fft

// A host loop that replaces the GPU kernel.
#include "cube.h"

template <class T>
void cube_on_device(T* y, const T* x, const T* grad, std::int64_t n, void*) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = cube_of(x[i], grad ? grad + i : nullptr);
}

template void cube_on_device(float*, const float*, const float*, std::int64_t, void*);
template void cube_on_device(double*, const double*, const double*, std::int64_t, void*);

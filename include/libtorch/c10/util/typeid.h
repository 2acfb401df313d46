// caffe2::TypeMeta: dtypes as values.
#pragma once

#include <c10/core/ScalarType.h>

namespace caffe2 {
using namespace ebb;
}

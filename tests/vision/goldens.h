// Results of torchvision for small images (data/make.py).
#pragma once

#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/compare.h"
#include "support/files.h"

inline const ebb::Variable& golden(const std::string& name) {
  static const ebb::safetensors::File file =
      ebb::safetensors::read(source_dir() + "/tests/vision/data/goldens.safetensors");
  for (const auto& [each, tensor] : file.tensors)
    if (each == name) return tensor;
  FAIL("there is no golden " << name);
  return file.tensors.front().second;
}

/// Checks equal shape and dtype, and that no value differs by more than `tolerance`.
inline void check_close(const ebb::Variable& got, const ebb::Variable& want, double tolerance) {
  REQUIRE(got.dtype() == want.dtype());
  support::require_close(got, want, 0, tolerance);
}

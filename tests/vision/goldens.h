// What torchvision makes of small images (data/make.py).
#pragma once

#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/source_dir.h"

inline const ebb::Variable& golden(const std::string& name) {
  static const ebb::safetensors::File file =
      ebb::safetensors::read(source_dir() + "/tests/vision/data/goldens.safetensors");
  for (const auto& [each, tensor] : file.tensors)
    if (each == name) return tensor;
  FAIL("there is no golden " << name);
  return file.tensors.front().second;
}

/// Same shape and dtype, and no value further off than `tolerance`.
inline void check_close(const ebb::Variable& got, const ebb::Variable& want, double tolerance) {
  REQUIRE(got.sizes() == want.sizes());
  REQUIRE(got.dtype() == want.dtype());
  CHECK(got.to(ebb::kDouble).sub(want.to(ebb::kDouble)).abs().max().item<double>() <= tolerance);
}

// What of ONNX's node tests ebb does not run, and why.
#pragma once

#include <string>
#include <vector>

#include "onnx/proto.h"

namespace onnx {

struct Skip {
  const char* what;  ///< an op, or a pattern of case names
  const char* reason;
};

/// Ops that ebb does not share with ONNX.
const std::vector<Skip>& skipped_ops();
/// Single cases: what of an op ebb has no word for.
const std::vector<Skip>& skipped_cases();

/// The entry that a case falls under; null if it is to run.
const Skip* skip_for(const std::string& name, const Model& model);

}  // namespace onnx

// The node tests of ONNX: each is a model with inputs and expected outputs. Also the skipped tests.
#pragma once

#include "onnx/call.h"
#include "onnx/proto.h"

#include <string>
#include <vector>

namespace onnx {

/// The folder of Debian's libonnx-testdata, or of EBB_ONNX_DATA; empty if there is none.
std::string data_folder();

/// The sorted names of all cases.
std::vector<std::string> case_names(const std::string& folder);

struct Case {
  std::string name;
  Model model;
  Tensors inputs, outputs;
};

/// Loads only the graph, because the inputs and outputs may have types that ebb does not support.
Model load_model(const std::string& folder, const std::string& name);
Case load_case(const std::string& folder, const std::string& name);

/// Computes the outputs of a graph with the ops of ebb, node by node. Throws for unsupported ops and
/// attributes.
Tensors evaluate(const Model& model, const Tensors& inputs);

/// Describes the difference between `actual` and the outputs of `test` in number, shape, dtype or value.
/// Returns an empty string if there is none.
std::string difference(const Tensors& actual, const Case& test);

// The skipped node tests, with the reasons.

struct Skip {
  const char* what;  ///< an op, or a pattern of case names
  const char* reason;
};

/// ONNX ops that ebb does not have.
const std::vector<Skip>& skipped_ops();
/// Single cases with unsupported options of an op.
const std::vector<Skip>& skipped_cases();

/// The entry that applies to a case, or null if the case must run.
const Skip* skip_for(const std::string& name, const Model& model);

}  // namespace onnx

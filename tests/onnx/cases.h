// The node tests that ship with ONNX, a model each with inputs and the outputs to expect; and those left out.
#pragma once

#include "onnx/call.h"
#include "onnx/proto.h"

#include <string>
#include <vector>

namespace onnx {

/// Where Debian's libonnx-testdata, or EBB_ONNX_DATA, keeps them; empty if there are none.
std::string data_folder();

/// The names of all of them, sorted.
std::vector<std::string> case_names(const std::string& folder);

struct Case {
  std::string name;
  Model model;
  Tensors inputs, outputs;
};

/// The graph alone: the inputs and outputs may be of kinds that ebb cannot hold.
Model load_model(const std::string& folder, const std::string& name);
Case load_case(const std::string& folder, const std::string& name);

/// The outputs of a graph, node by node, in ebb's ops. Throws for ops and attributes ebb has no word for.
Tensors evaluate(const Model& model, const Tensors& inputs);

/// What is wrong with `actual` as the outputs of `test`: their number, a shape, a dtype or a value. Empty if
/// nothing is.
std::string difference(const Tensors& actual, const Case& test);

// The node tests of ONNX that ebb does not run, with the reason.

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

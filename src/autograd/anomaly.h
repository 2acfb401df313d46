// The records of anomaly mode. The public guards are in ebb/autograd/anomaly.h.
#pragma once

#include <ebb/autograd/node.h>

namespace ebb::autograd {

/// Records the node whose backward is recording `node`, if any.
void note_origin(Node& node);
/// Throws if a gradient that `node` returned contains NaN. The message names the forward op.
void check_nan(const Node& node, const GradList& grads);
/// In anomaly mode: warns that the node's backward failed, and shows the stack trace of its forward op.
void warn_of_failure(const Node& node);
/// Returns text to append to an error in the node's backward: the record of note_origin, and the module whose
/// forward recorded the node.
std::string origin_text(const Node& node);

}  // namespace ebb::autograd

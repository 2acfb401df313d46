// Anomaly mode's records; the public guards are in ebb/autograd/anomaly.h.
#pragma once

#include <ebb/autograd/node.h>

namespace ebb::autograd {

/// Remembers in which backward, if any, `node` is being recorded.
void note_origin(Node& node);
/// Throws when one of the gradients `node` returned holds a NaN; the message names the forward op.
void check_nan(const Node& node, const GradList& grads);
/// In anomaly mode: warns that the node's backward failed, and shows the calls by which its forward was
/// recorded.
void warn_of_failure(const Node& node);
/// The text to append to the message of an error in node's backward: what note_origin remembered, and the
/// module whose forward recorded it.
std::string origin_text(const Node& node);

}  // namespace ebb::autograd

// Tensors of several names, which a file holds once.
#pragma once

#include <ebb/io/safetensors.h>

namespace ebb::safetensors {

/// Is it one tensor under two names?
bool shared(const Variable& a, const Variable& b);

/// What goes into a file.
struct Contents {
  NamedTensors tensors;
  Metadata metadata;
};
/// The tensors, each under its first name; of further names of one the metadata says which it has, as
/// safetensors.torch.save_model does.
Contents each_once(const NamedTensors& tensors, Metadata metadata = {});
/// All names again: those that metadata gives to tensors come last, and stand for the same memory.
NamedTensors every_name(NamedTensors tensors, const Metadata& metadata);

}  // namespace ebb::safetensors

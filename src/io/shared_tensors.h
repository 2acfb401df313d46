// Shared tensors: tensors with several names, which a file contains once.
#pragma once

#include <ebb/io/safetensors.h>

namespace ebb::safetensors {

/// Returns whether a and b are the same tensor: the same object, or the same view of the same memory.
bool shared(const Variable& a, const Variable& b);

/// The contents of a file.
struct Contents {
  NamedTensors tensors;
  Metadata metadata;
};
/// Returns each tensor once, under its first name. The metadata maps the other names to the first one, as in
/// safetensors.torch.save_model.
Contents each_once(const NamedTensors& tensors, Metadata metadata = {});
/// Restores the names that each_once() has moved to the metadata. Their tensors come last and share memory
/// with the tensors of the first names.
NamedTensors every_name(NamedTensors tensors, const Metadata& metadata);

}  // namespace ebb::safetensors

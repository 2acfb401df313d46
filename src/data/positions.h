// The position of a sampler in an archive.
#pragma once

#include <ebb/archive.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/creation.h>

#include <string>

namespace ebb::data::samplers {

inline void write_position(serialize::OutputArchive& archive, const std::string& name, std::size_t value) {
  archive.write(name, scalar_tensor(static_cast<std::int64_t>(value), TensorOptions(kLong)), true);
}

/// Throws where it is no number, or does not lie within [least, most].
inline std::size_t read_position(serialize::InputArchive& archive, const char* sampler,
                                 const std::string& name, std::size_t least, std::size_t most) {
  Variable tensor;
  archive.read(name, tensor, true);
  EBB_CHECK(tensor.numel() == 1 && is_integral(tensor.dtype()), sampler, "::load: \"", name,
            "\" must be one integer, got ", tensor.dtype(), " of shape ", tensor.sizes(), ".");
  const std::int64_t value = tensor.item<std::int64_t>();
  EBB_CHECK(value >= 0 && static_cast<std::size_t>(value) >= least && static_cast<std::size_t>(value) <= most,
            sampler, "::load: \"", name, "\" is ", value, ", which does not lie within ",
            std::uint64_t{least}, " and ", std::uint64_t{most},
            ". Load it into a sampler of as many samples as it was saved from.");
  return static_cast<std::size_t>(value);
}

}  // namespace ebb::data::samplers

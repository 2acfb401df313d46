// Files of other formats, known by their first bytes.
#pragma once

#include <string_view>

namespace ebb::io {

/// Throws, saying what the file is and how it can be had as safetensors, when its first bytes tell.
void refuse_foreign(std::string_view first_bytes);

}  // namespace ebb::io

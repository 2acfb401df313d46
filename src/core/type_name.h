// Types as C++ names them.
#pragma once

#include <string>
#include <typeinfo>

namespace ebb::detail {

/// "std::vector<float>" of typeid(std::vector<float>), as far as the compiler says.
std::string demangled(const std::type_info& type);

}  // namespace ebb::detail

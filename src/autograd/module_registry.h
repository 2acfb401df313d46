// Numbers of modules. Each node stores the number of the module whose forward recorded it.
#pragma once

#include <ebb/autograd/place.h>

#include <cstdint>
#include <string>

namespace ebb::autograd {

/// Registers a module and returns a new number, which is never reused. `describe(module)` returns the
/// module's path in the module tree. Thread-safe.
std::uint32_t register_module_number(const void* module, std::string (*describe)(const void* module));
/// Unregisters a destroyed module. Does nothing for 0.
void release_module_number(std::uint32_t place) noexcept;
/// Returns the module's description of itself; empty for 0 and for a destroyed module.
std::string module_text(std::uint32_t place);

}  // namespace ebb::autograd

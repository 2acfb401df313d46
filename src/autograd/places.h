// Places in a program's tree of modules, by number: nodes remember where they were recorded.
#pragma once

#include <ebb/autograd/place.h>

#include <cstdint>
#include <string>

namespace ebb::autograd {

/// A number for a module, which is never given to another; `describe(module)` says where it hangs. From any
/// thread.
std::uint32_t open_place(const void* module, std::string (*describe)(const void* module));
/// The module is gone. Nothing for 0.
void close_place(std::uint32_t place) noexcept;
/// The description that the module gives of itself; empty for 0 and where it is gone.
std::string place_text(std::uint32_t place);

}  // namespace ebb::autograd

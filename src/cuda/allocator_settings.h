// Settings of the device allocators, from the environment and cuda::set_allocator_settings.
#pragma once

#include <string_view>

namespace ebb::cuda {

struct AllocatorSettings {
  bool async = false;                // the driver's memory pools instead of ebb's cache
  bool expandable_segments = false;  // segments that grow
};

/// Applies the settings in `text`, such as "expandable_segments:True". Error messages begin with `origin`,
/// the name of the variable or function that provided the text.
void read_settings(AllocatorSettings& settings, std::string_view origin, std::string_view text);

/// Returns the settings; reads EBB_CUDA_ALLOCATOR and EBB_CUDA_ALLOC_CONF on the first call.
AllocatorSettings allocator_settings();
/// Returns the settings and makes them final: change_allocator_settings() is an error afterwards.
AllocatorSettings final_allocator_settings();
/// Implements cuda::set_allocator_settings.
void change_allocator_settings(std::string_view text);

}  // namespace ebb::cuda

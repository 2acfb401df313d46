// What the environment and cuda::set_allocator_settings say about the allocators.
#pragma once

#include <string_view>

namespace ebb::cuda {

struct AllocatorSettings {
  bool async = false;                // the driver's own pools in place of ebb's cache
  bool expandable_segments = false;  // segments that grow
};

/// Sets what a text such as "expandable_segments:True" names; errors begin with `origin`, which says where
/// the text is from.
void read_settings(AllocatorSettings& settings, std::string_view origin, std::string_view text);

/// Reads EBB_CUDA_ALLOCATOR and EBB_CUDA_ALLOC_CONF the first time.
AllocatorSettings allocator_settings();
/// The same, after which change_allocator_settings() is an error.
AllocatorSettings final_allocator_settings();
/// See cuda::set_allocator_settings.
void change_allocator_settings(std::string_view text);

}  // namespace ebb::cuda

// Symbol visibility: everything in ebb is hidden unless marked EBB_API.
#pragma once

#include <ebb/fwd.h>

/// Declares that the result refers to memory of the object. clang then warns if the object is a temporary.
#if defined(__clang__)
#define EBB_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define EBB_LIFETIMEBOUND
#endif

#if defined(EBB_STATIC)
#define EBB_API
#else
#define EBB_API __attribute__((visibility("default")))
#endif

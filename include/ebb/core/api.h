// Symbol visibility: everything in ebb is hidden unless marked EBB_API.
#pragma once

#include <ebb/fwd.h>

/// The result refers into the object: clang warns where that is a temporary.
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

// Symbol visibility. Everything in ebb is hidden unless marked EBB_API.
#pragma once

#if defined(EBB_STATIC)
#define EBB_API
#else
#define EBB_API __attribute__((visibility("default")))
#endif

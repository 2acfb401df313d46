// Catch2's main().
#include "support/catch.h"
#define CATCH_CONFIG_MAIN
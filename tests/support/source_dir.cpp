// The only file compiled with a path of the machine: all others can come from another clone's compiler cache.
#include "support/source_dir.h"

std::string source_dir() { return EBB_SOURCE_DIR; }

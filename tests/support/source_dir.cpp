// The only file that is compiled with a path of the machine, so that a compiler cache can share all others
// between clones.
#include "support/files.h"

std::string source_dir() { return EBB_SOURCE_DIR; }

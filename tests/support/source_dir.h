// The path of the sources, for tests that read files of the project.
#pragma once

#include <string>

/// Returns the root of the source tree, without a trailing slash.
std::string source_dir();

// Where the sources lie, for tests that read files of the project.
#pragma once

#include <string>

/// The top of the source tree, without a slash at its end.
std::string source_dir();

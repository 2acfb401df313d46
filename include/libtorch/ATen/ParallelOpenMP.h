// parallel_for; ebb's threads are its own.
#pragma once

#include <ATen/Parallel.h>

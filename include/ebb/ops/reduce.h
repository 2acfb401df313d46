// Reductions, scans and softmax.
#pragma once

#include <ebb/ops/reduce/reductions.h>
#include <ebb/ops/reduce/scan.h>
#include <ebb/ops/reduce/softmax.h>

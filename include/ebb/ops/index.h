// Elements by their indices, order and groups.
#pragma once

#include <ebb/ops/index/elements.h>
#include <ebb/ops/index/embedding.h>
#include <ebb/ops/index/histogram.h>
#include <ebb/ops/index/indexing.h>
#include <ebb/ops/index/sort.h>

// Indexing ops: elements by index, sorting, embeddings and histograms.
#pragma once

#include <ebb/ops/index/elements.h>
#include <ebb/ops/index/embedding.h>
#include <ebb/ops/index/histogram.h>
#include <ebb/ops/index/indexing.h>
#include <ebb/ops/index/sort.h>

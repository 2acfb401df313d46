// Known models under their usual names, with the usual names of their weights. A library of its own,
// ebb::models.
#pragma once

#include <ebb/ebb.h>
#include <ebb/models/mlp.h>

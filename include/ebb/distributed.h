// One program in many processes (torch.distributed), in a separate library, ebb::distributed.
#pragma once

#include <ebb/distributed/checkpoint.h>
#include <ebb/distributed/collectives.h>
#include <ebb/distributed/data_parallel.h>
#include <ebb/distributed/functional.h>
#include <ebb/distributed/process_group.h>
#include <ebb/distributed/sharded_optimizer.h>
#include <ebb/distributed/sync_batch_norm.h>
#include <ebb/distributed/virtual_shards.h>
#include <ebb/ebb.h>

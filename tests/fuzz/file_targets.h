// What is fuzzed of files that hold tensors: PyTorch's, libtorch's, NumPy's, indices, checkpoints.
#pragma once

#include "fuzz/targets.h"

namespace fuzz {

bool read_torch(std::string_view bytes);         ///< a whole file: zip, before 1.6, or an archive of libtorch
bool read_torch_pickle(std::string_view bytes);  ///< what describes the data, in a sound zip
bool read_npy(std::string_view bytes);
bool read_npz(std::string_view bytes);
bool read_packed_npz(std::string_view bytes);  ///< one array, in a sound zip that packs it
bool read_index(std::string_view bytes);
bool read_shard(std::string_view bytes);  ///< a file that an index names
bool read_checkpoint(std::string_view bytes);

std::vector<std::string> torch_seeds();
std::vector<std::string> torch_pickle_seeds();
std::vector<std::string> npy_seeds();
std::vector<std::string> npz_seeds();
std::vector<std::string> packed_npz_seeds();
std::vector<std::string> shard_seeds();
std::vector<std::string> index_seeds();
std::vector<std::string> checkpoint_seeds();

inline const Target kFileTargets[] = {{"torch", read_torch, torch_seeds},
                                      {"torch_pickle", read_torch_pickle, torch_pickle_seeds},
                                      {"npy", read_npy, npy_seeds},
                                      {"npz", read_npz, npz_seeds},
                                      {"index", read_index, index_seeds},
                                      {"checkpoint", read_checkpoint, checkpoint_seeds},
                                      {"packed_npz", read_packed_npz, packed_npz_seeds},
                                      {"shard", read_shard, shard_seeds}};

}  // namespace fuzz

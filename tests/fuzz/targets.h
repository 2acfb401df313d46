// Fuzz targets: the readers of ebb, called with the bytes of a fuzzer, and valid seeds for them.
#pragma once

#include <ebb/ebb.h>

#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

/// Reads `bytes` and accesses the whole result. Returns whether they were accepted; an ebb::Error is a
/// refusal, and other exceptions pass through.
bool read_safetensors(std::string_view bytes);
bool read_idx(std::string_view bytes);
bool read_gzipped_idx(std::string_view bytes);  ///< compresses the bytes first, so that mutations are inside

bool read_csv(std::string_view bytes);
bool read_vocabulary(std::string_view bytes);

// Readers of ebb::vision.
bool read_jpeg(std::string_view bytes);
bool read_png(std::string_view bytes);  ///< with valid checksums, so that mutations are not refused by them
bool read_cifar(std::string_view bytes);

struct Target {
  const char* name;
  bool (*read)(std::string_view bytes);
  std::vector<std::string> (*seeds)();
};

// Valid seeds for each target.
std::vector<std::string> safetensors_seeds();
std::vector<std::string> idx_seeds();
std::vector<std::string> csv_seeds();
std::vector<std::string> vocabulary_seeds();
std::vector<std::string> jpeg_seeds();
std::vector<std::string> png_seeds();
std::vector<std::string> cifar_seeds();

inline const Target kTargets[] = {{"safetensors", read_safetensors, safetensors_seeds},
                                  {"idx", read_idx, idx_seeds},
                                  {"gzipped_idx", read_gzipped_idx, idx_seeds},
                                  {"csv", read_csv, csv_seeds},
                                  {"vocabulary", read_vocabulary, vocabulary_seeds}};
inline const Target kVisionTargets[] = {
    {"jpeg", read_jpeg, jpeg_seeds}, {"png", read_png, png_seeds}, {"cifar", read_cifar, cifar_seeds}};

std::string gzip(std::string_view bytes);

// Readers of tensor files: PyTorch, libtorch, NumPy, indices, checkpoints.

bool read_torch(std::string_view bytes);         ///< a whole file: zip, before 1.6, or an archive of libtorch
bool read_torch_pickle(std::string_view bytes);  ///< the pickle, in a valid zip archive
bool read_npy(std::string_view bytes);
bool read_npz(std::string_view bytes);
bool read_packed_npz(std::string_view bytes);  ///< one array, in a valid compressed zip archive
bool read_index(std::string_view bytes);
bool read_shard(std::string_view bytes);  ///< a shard that an index names
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

// Reads every byte, so that a too small buffer is detected.
inline void look_at(const ebb::Tensor& x) {
  const ebb::Tensor y = x.clone();
  EBB_CHECK(y.nbytes() == x.nbytes() && y.sizes() == x.sizes(), "clone changed the shape.");
}

// A file in memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(::memfd_create("fuzz", 0)) {
    if (descriptor_ < 0) throw std::runtime_error("memfd_create failed");
    if (::write(descriptor_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      throw std::runtime_error("cannot write to a file in memory");
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

template <class F>
bool accepted(F&& f) {
  try {
    f();
    return true;
  } catch (const ebb::Error&) {
    return false;
  }
}

}  // namespace fuzz

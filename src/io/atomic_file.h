// AtomicFile: a file that is written completely or not at all.
#pragma once

#include <ebb/core/api.h>

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace ebb::io {

/// A regular file that gets its name in commit(), after all bytes are on disk. Without commit() it is
/// removed. If the path is a symbolic link, the file to which it refers is replaced, and the link stays. A
/// new file has the default permissions of open(); a replaced file keeps its permissions. Until commit() the
/// bytes are in a temporary file next to the target, "<target>.ebb-<number>", which only its owner can read.
/// The number is the first one whose file is not locked by another write. The next write to the target
/// removes temporary files of killed processes. Concurrent writes to the same target all succeed, and the
/// last commit wins.
class EBB_API AtomicFile {
 public:
  /// Receives the path of each temporary file of a killed write before the file is removed.
  using Left = std::function<void(const std::string& path)>;

  explicit AtomicFile(const std::string& path, const Left& left = {});
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Returns whether no other write to the target was running when this one began.
  bool is_alone() const { return is_alone_; }
  void write(const void* bytes, std::size_t size);
  /// Writes at a position, which is at most the current size.
  void write_at(std::uint64_t position, const void* bytes, std::size_t size);
  void commit();

  /// Removes the temporary files of killed writes to the path.
  static void remove_abandoned(const std::string& path);

 private:
  void look_at_target();
  void create_temporary(const std::string& prefix);

  std::string path_, target_, temporary_;
  int descriptor_ = -1;
  bool replaces_ = false, is_alone_ = false;
  mode_t mode_ = 0;
  uid_t owner_ = 0;
  gid_t group_ = 0;
};

}  // namespace ebb::io

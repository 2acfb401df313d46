// A file that is written wholly or not at all, by RAII.
#pragma once

#include <ebb/core/api.h>

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace ebb::io {

/// A regular file that takes its name only when commit() has put all of it on disk; without commit() nothing
/// is left. Symbolic links stay, and what they lead to is replaced. A new file has the permissions that
/// open() gives it, a replaced one keeps its own. Until commit() the bytes are in a file beside the target
/// that only its owner reads ("<target>.ebb-<number>", the first that no other write to the target holds
/// locked); what a killed process left of such files, the next write to the same target removes. Writes to
/// one target at the same time all succeed, and the last to commit stays.
class EBB_API AtomicFile {
 public:
  /// Is shown the path of what a killed write left, before that is removed.
  using Left = std::function<void(const std::string& path)>;

  explicit AtomicFile(const std::string& path, const Left& left = {});
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Whether no other write to the target was under way when this one began.
  bool is_alone() const { return is_alone_; }
  void write(const void* bytes, std::size_t size);
  /// At a position, as far as what has been written.
  void write_at(std::uint64_t position, const void* bytes, std::size_t size);
  void commit();

  /// Removes what killed writes to the path left.
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

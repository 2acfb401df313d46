// AtomicFile: writes a temporary file next to the target and renames it.
#include "io/atomic_file.h"

#include <ebb/core/error.h>

#include "io/bytes.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <memory>
#include <utility>

namespace ebb::io {
namespace {

constexpr int kMostNames = 1000;  // the maximum number of temporary files for one target

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

// Follows the symbolic links of a path. The last one may refer to a file that does not exist.
std::string follow_links(const std::string& path) {
  std::string at = path;
  char text[PATH_MAX];
  for (int links = 0; links < 40; ++links) {
    const ssize_t length = ::readlink(at.c_str(), text, sizeof text);
    if (length <= 0) return at;  // not a link
    const std::string to(text, static_cast<std::size_t>(length));
    at = to.front() == '/' ? to : folder_of(at) + "/" + to;
  }
  errno = ELOOP;
  fail_of_errno("write", path);
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

int lock(int descriptor, int how) {
  int result = 0;
  do result = ::flock(descriptor, how);
  while (result != 0 && errno == EINTR);
  return result;
}

// Returns the path of the target's temporary files up to the number. Truncates a long name, so that the name
// with a number is not too long.
std::string prefix_of(const std::string& target) {
  return folder_of(target) + "/" + target.substr(target.rfind('/') + 1, 200) + ".ebb-";
}

// Returns whether the name still refers to the open file, and the file is a regular one.
bool is_named(int descriptor, const std::string& name) {
  struct stat open{}, named{};
  return ::fstat(descriptor, &open) == 0 && S_ISREG(open.st_mode) && ::lstat(name.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

// Removes a temporary file if it is not locked: its writer has then ended without a commit. Returns whether
// the name is free.
bool is_free(const std::string& name, const AtomicFile::Left& left) {
  const int descriptor = ::open(name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return errno == ENOENT;
  const std::unique_ptr<const int, void (*)(const int*)> closing(&descriptor, [](auto* d) { ::close(*d); });
  if (lock(descriptor, LOCK_EX | LOCK_NB) != 0 || !is_named(descriptor, name)) return false;
  if (left) left(name);
  return ::unlink(name.c_str()) == 0;
}

// Removes all abandoned temporary files. Writers use the lowest free numbers, so the search stops after 8
// free names in a row. Returns whether no name is in use.
bool free_all(const std::string& prefix, const AtomicFile::Left& left) {
  bool all = true;
  for (int number = 0, free = 0; free < 8 && number < kMostNames; ++number) {
    const bool is = is_free(prefix + std::to_string(number), left);
    free = is ? free + 1 : 0;
    all &= is;
  }
  return all;
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path, const Left& left) : path_(path), target_(follow_links(path)) {
  look_at_target();
  const std::string prefix = prefix_of(target_);
  is_alone_ = free_all(prefix, left);
  create_temporary(prefix);
}

void AtomicFile::remove_abandoned(const std::string& path) { free_all(prefix_of(path), {}); }

void AtomicFile::look_at_target() {
  struct stat named{}, found{};
  if (::stat(path_.c_str(), &named) != 0) {
    if (errno != ENOENT) fail_of_errno("write", path_);
    return;
  }
  EBB_CHECK(S_ISREG(named.st_mode), "cannot write \"", path_, "\": it is ", kind_of(named.st_mode),
            ", and only a regular file can be replaced atomically. Save to an open std::ostream instead.");
  // If the path was a link such as /proc/self/fd/3, target_ may not exist. Only its existence is checked, not
  // that it is the same file, because another save may be replacing it.
  EBB_CHECK(
      ::stat(target_.c_str(), &found) == 0, "cannot write \"", path_,
      "\": it refers to an open file without a name, which cannot be replaced. Save to an open std::ostream "
      "instead.");
  replaces_ = true;
  mode_ = named.st_mode & 0777;
  owner_ = named.st_uid;
  group_ = named.st_gid;
}

void AtomicFile::create_temporary(const std::string& prefix) {
  // If the target does not exist, the loop first creates an empty file to find out the permissions of new
  // files, and removes it. The temporary file is created with mode 0600.
  bool knows_mode = replaces_;
  for (int number = 0; number < kMostNames;) {
    temporary_ = prefix + std::to_string(number);
    descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                         knows_mode ? 0600 : 0666);
    if (descriptor_ < 0 && errno != EEXIST) break;
    struct stat info{};
    // Another write to the target may have removed the file before it was locked, because it looked
    // abandoned.
    const bool ours = descriptor_ >= 0 && (lock(descriptor_, LOCK_EX), is_named(descriptor_, temporary_)) &&
                      ::fstat(descriptor_, &info) == 0;
    if (ours && knows_mode) {
      is_alone_ &= number == 0;
      return;
    }
    if (ours) {
      mode_ = info.st_mode & 0777;
      knows_mode = true;
      ::unlink(temporary_.c_str());
    } else {
      ++number;
    }
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }
  fail_of_errno("create a temporary file beside", path_);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::unlink(temporary_.c_str());
  ::close(descriptor_);
}

void AtomicFile::write(const void* bytes, std::size_t size) {
  const char* p = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t n = ::write(descriptor_, p, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail_of_errno("write", path_);
    p += n;
    size -= static_cast<std::size_t>(n);
  }
}

void AtomicFile::write_at(std::uint64_t position, const void* bytes, std::size_t size) {
  if (::lseek(descriptor_, static_cast<off_t>(position), SEEK_SET) < 0) fail_of_errno("write", path_);
  write(bytes, size);
}

void AtomicFile::commit() {
  if (replaces_) {
    // Only a privileged process may change the owner. If this fails, the file belongs to this process.
    [[maybe_unused]] const int given = ::fchown(descriptor_, owner_, group_);
  }
  // Checks the mode before it calls chmod, because a file system without permissions may refuse chmod.
  struct stat info{};
  if (::fstat(descriptor_, &info) != 0 ||
      ((info.st_mode & 0777) != mode_ && ::fchmod(descriptor_, mode_) != 0))
    fail_of_errno("keep the permissions of", path_);
  if (::fsync(descriptor_) != 0) fail_of_errno("flush", path_);
  const std::string folder = folder_of(target_);  // allocated here, because nothing may fail after the rename
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail_of_errno("replace", path_);
  // close() releases the lock, so it must follow the rename.
  ::close(std::exchange(descriptor_, -1));
  // The rename is on disk once the folder is flushed.
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened >= 0) {
    ::fsync(opened);
    ::close(opened);
  }
}

}  // namespace ebb::io

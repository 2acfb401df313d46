// A file that appears whole or not at all.
#include "io/atomic_file.h"

#include <ebb/core/error.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <string_view>
#include <utility>

#include "io/input_file.h"

namespace ebb::io {
namespace {

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

// Where a path leads through symbolic links, the last of which may lead to nothing.
std::string follow_links(const std::string& path) {
  std::string at = path;
  char text[PATH_MAX];
  for (int links = 0; links < 40; ++links) {
    const ssize_t length = ::readlink(at.c_str(), text, sizeof text);
    if (length <= 0) return at;  // no link
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

// "<process>-<number>"
bool is_number_pair(std::string_view text) {
  const auto dash = text.find('-');
  constexpr std::string_view digits = "0123456789";
  return dash != std::string_view::npos && dash > 0 && dash + 1 < text.size() &&
         text.find_first_not_of(digits) == dash &&
         text.find_first_not_of(digits, dash + 1) == std::string_view::npos;
}

// Removes the files of that prefix that nobody holds locked: their writers are dead. Nothing here is an
// error.
void remove_abandoned(const std::string& prefix) {
  std::error_code ignored;
  for (std::filesystem::directory_iterator at(folder_of(prefix), ignored), end; !ignored && at != end;
       at.increment(ignored)) {
    const std::string name = at->path().filename().string();
    const std::string_view stem = std::string_view(prefix).substr(prefix.rfind('/') + 1);
    if (!name.starts_with(stem) || !is_number_pair(std::string_view(name).substr(stem.size()))) continue;
    const int descriptor = ::open(at->path().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) continue;
    if (lock(descriptor, LOCK_EX | LOCK_NB) == 0) ::unlink(at->path().c_str());
    ::close(descriptor);
  }
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path), target_(follow_links(path)) {
  look_at_target();
  // Long names are cut, so that the suffix fits as well.
  const std::string folder = folder_of(target_), name = target_.substr(target_.rfind('/') + 1);
  const std::string prefix = folder + "/" + name.substr(0, 200) + ".ebb-";
  remove_abandoned(prefix);
  create_temporary(prefix);
}

void AtomicFile::look_at_target() {
  struct stat named {
  }, found{};
  if (::stat(path_.c_str(), &named) != 0) {
    if (errno != ENOENT) fail_of_errno("write", path_);
    return;
  }
  EBB_CHECK(S_ISREG(named.st_mode), "cannot write \"", path_, "\": it is ", kind_of(named.st_mode),
            ", and only a regular file can be replaced wholly or not at all. Save to an open std::ostream "
            "instead.");
  // As /proc/self/fd/3 does. Only whether the target is there is asked: another save may be replacing it.
  EBB_CHECK(
      ::stat(target_.c_str(), &found) == 0, "cannot write \"", path_,
      "\": it leads to an open file that has no name to be replaced under. Save to an open std::ostream "
      "instead.");
  replaces_ = true;
  mode_ = named.st_mode & 0777;
  owner_ = named.st_uid;
  group_ = named.st_gid;
}

void AtomicFile::create_temporary(const std::string& prefix) {
  static std::atomic<unsigned> number{0};
  for (int attempts = 0; attempts < 1000; ++attempts) {
    temporary_ = prefix + std::to_string(::getpid()) + "-" + std::to_string(number++);
    descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                         replaces_ ? 0600 : 0666);
    if (descriptor_ < 0 && errno == EEXIST) continue;
    if (descriptor_ < 0) break;
    // Before it is locked, another write to the target may take it for abandoned: then it is gone now.
    struct stat info {};
    lock(descriptor_, LOCK_EX);
    if (::stat(temporary_.c_str(), &info) == 0) return;
    ::close(std::exchange(descriptor_, -1));
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
    // Only a privileged process may give a file away; another's is its own, as any file it makes.
    [[maybe_unused]] const int given = ::fchown(descriptor_, owner_, group_);
    if (::fchmod(descriptor_, mode_) != 0) fail_of_errno("keep the permissions of", path_);
  }
  if (::fsync(descriptor_) != 0) fail_of_errno("flush", path_);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail_of_errno("replace", path_);
  // The lock goes with the descriptor, and only after the name that it guards.
  ::close(std::exchange(descriptor_, -1));
  // The rename itself is on disk once the folder is.
  const int folder = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
}

}  // namespace ebb::io

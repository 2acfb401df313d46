// Cache files. A file consists of a header line, the key and the value. The header contains the kind of the
// file, the sizes of key and value, and their digest.
#include "cuda/cache_files.h"

#include <ebb/core/environment.h>
#include <ebb/core/warning.h>

#include "io/atomic_file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

namespace ebb::cuda {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLongest = std::size_t{64} << 20;  // larger files are damaged or from other programs

// The SHA-256 function of libmd, on which Debian's dpkg also depends; null if it is not installed.
using Sha256 = char* (*)(const std::uint8_t* bytes, std::size_t size, char* text);
Sha256 sha256() {
  static const auto found = [] {
    void* const library = ::dlopen("libmd.so.0", RTLD_NOW | RTLD_LOCAL);
    return library ? reinterpret_cast<Sha256>(::dlsym(library, "SHA256Data")) : nullptr;
  }();
  return found;
}

// Returns the digest in hexadecimal.
std::string digest(std::string_view bytes) {
  char text[65] = {};
  sha256()(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), text);
  return text;
}

// A file descriptor that is closed at the end of the scope.
class Opened {
 public:
  explicit Opened(int descriptor) : descriptor_(descriptor) {}
  ~Opened() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

// Creates a folder and its missing parents, accessible only to this user.
void make_folder(const fs::path& folder) {
  if (::mkdir(folder.c_str(), 0700) == 0 || errno != ENOENT || !folder.has_relative_path()) return;
  make_folder(folder.parent_path());
  ::mkdir(folder.c_str(), 0700);
}

// Returns whether only this user can write to the folder. Cached kernels are executed, so no other user may
// be able to put files there.
bool is_trusted(int folder, const fs::path& path) {
  struct stat info{};
  if (folder < 0 || ::fstat(folder, &info) != 0) return false;
  if (info.st_uid == ::geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0) return true;
  static constinit std::atomic_flag warned;
  if (warns_first(warned))
    warn("the cache folder ", path.string(), " of compiled kernels and plans ",
         info.st_uid == ::geteuid() ? "can be written by other users" : "belongs to another user",
         " and is not used. Run chmod go-w on it, or name another folder in EBB_CACHE_DIR.");
  return false;
}

std::string read_all(int descriptor) {
  struct stat info{};
  if (descriptor < 0 || ::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode) ||
      static_cast<std::size_t>(info.st_size) > kLongest)
    return {};
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t n = ::read(descriptor, bytes.data() + got, bytes.size() - got);
    if (n <= 0) break;
    got += static_cast<std::size_t>(n);
  }
  return got == bytes.size() ? bytes : std::string();
}

}  // namespace

fs::path cache_folder() {
  if (const char* own = ebb::detail::environment("EBB_CACHE_DIR")) return own;
  for (const auto& [variable, below] : {std::pair{"XDG_CACHE_HOME", "ebb"}, std::pair{"HOME", ".cache/ebb"}})
    if (const char* root = ebb::detail::environment(variable); root && fs::path(root).is_absolute())
      return fs::path(root) / below;
  return {};
}

fs::path kernel_folder() {
  if (const char* own = ebb::detail::environment("EBB_KERNEL_CACHE"))
    return std::string_view(own) == "0" ? fs::path() : fs::path(own);
  const fs::path all = cache_folder();
  return all.empty() ? all : all / "kernels";
}

CacheFiles::CacheFiles(fs::path folder, std::string kind, std::size_t most)
    : folder_(sha256() ? std::move(folder) : fs::path()), kind_(std::move(kind)), most_(most) {}

fs::path CacheFiles::path_of(const std::string& key) const { return folder_ / (digest(key) + '.' + kind_); }

std::string CacheFiles::head_of(const std::string& key, const std::string& body) const {
  return "ebb-" + kind_ + " 2 " + std::to_string(key.size()) + ' ' +
         std::to_string(body.size() - key.size()) + ' ' + digest(body) + '\n';
}

std::optional<std::string> CacheFiles::load(const std::string& key) const {
  if (folder_.empty()) return {};
  const Opened folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!is_trusted(folder.get(), folder_)) return {};
  const Opened file(::openat(folder.get(), path_of(key).filename().c_str(),
                             O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  const std::string all = read_all(file.get());
  const std::size_t end = all.find('\n') + 1;
  const std::string body = all.substr(end);
  if (!body.starts_with(key) || body.size() == key.size() || all.substr(0, end) != head_of(key, body))
    return {};
  return body.substr(key.size());
}

void CacheFiles::save(const std::string& key, const std::string& value) {
  if (folder_.empty() || value.empty()) return;
  const std::lock_guard lock(mutex_);
  make_folder(folder_);
  const Opened folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!is_trusted(folder.get(), folder_)) return;
  std::error_code error;
  if (!files_) {
    const fs::directory_iterator there(folder_, error);
    if (error) return;
    files_ = static_cast<std::size_t>(std::distance(begin(there), end(there)));
  }
  const fs::path path = path_of(key);
  if (*files_ >= most_ && !fs::exists(path, error)) return;
  try {
    const std::string head = head_of(key, key + value);
    io::AtomicFile file(path.string());
    for (const std::string_view part :
         {std::string_view(head), std::string_view(key), std::string_view(value)})
      file.write(part.data(), part.size());
    file.commit();
    ++*files_;
  } catch (const Error&) {
    return;  // the value is not cached, so the next run computes it again
  }
}

void CacheFiles::remove(const std::string& key) const {
  std::error_code error;
  if (!folder_.empty()) fs::remove(path_of(key), error);
}

}  // namespace ebb::cuda

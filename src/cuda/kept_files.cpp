// A kept file is a line that says what it is, with the sizes and a digest of what follows: the key and the
// value.
#include "cuda/kept_files.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

namespace ebb::cuda {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLongest = std::size_t{64} << 20;  // nothing that is larger was written here

// FNV-1a of 64 bits, in hexadecimal.
std::string digest(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

// A name that no other thread or program writes to.
fs::path beside(const fs::path& path) {
  static std::atomic<unsigned> count{0};
  return path.string() + '.' + std::to_string(getpid()) + '.' + std::to_string(count++);
}

}  // namespace

fs::path cache_folder() {
  if (const char* own = std::getenv("EBB_CACHE_DIR")) return own;
  for (const auto& [variable, below] : {std::pair{"XDG_CACHE_HOME", "ebb"}, std::pair{"HOME", ".cache/ebb"}})
    if (const char* root = std::getenv(variable); root && fs::path(root).is_absolute())
      return fs::path(root) / below;
  return {};
}

fs::path kernel_folder() {
  if (const char* own = std::getenv("EBB_KERNEL_CACHE"))
    return std::string_view(own) == "0" ? fs::path() : fs::path(own);
  const fs::path all = cache_folder();
  return all.empty() ? all : all / "kernels";
}

KeptFiles::KeptFiles(fs::path folder, std::string kind, std::size_t most)
    : folder_(std::move(folder)), kind_(std::move(kind)), most_(most) {}

fs::path KeptFiles::path_of(const std::string& key) const { return folder_ / (digest(key) + '.' + kind_); }

std::string KeptFiles::head_of(const std::string& key, const std::string& body) const {
  return "ebb-" + kind_ + " 1 " + std::to_string(key.size()) + ' ' +
         std::to_string(body.size() - key.size()) + ' ' + digest(body) + '\n';
}

std::optional<std::string> KeptFiles::load(const std::string& key) const {
  if (folder_.empty()) return {};
  const fs::path path = path_of(key);
  std::error_code error;
  if (const auto size = fs::file_size(path, error); error || size > kLongest) return {};
  std::ifstream file(path, std::ios::binary);
  std::string head;
  if (!std::getline(file, head)) return {};
  const std::string body{std::istreambuf_iterator<char>(file), {}};
  if (!body.starts_with(key) || body.size() == key.size() || head + '\n' != head_of(key, body)) return {};
  return body.substr(key.size());
}

void KeptFiles::save(const std::string& key, const std::string& value) {
  if (folder_.empty() || value.empty()) return;
  const fs::path path = path_of(key), part = beside(path);
  std::error_code error;
  const std::lock_guard lock(mutex_);
  if (!files_) {
    fs::create_directories(folder_, error);
    const fs::directory_iterator there(folder_, error);
    if (error) return;
    files_ = static_cast<std::size_t>(std::distance(begin(there), end(there)));
  }
  if (*files_ >= most_ && !fs::exists(path, error)) return;
  {
    std::ofstream file(part, std::ios::binary);
    file << head_of(key, key + value) << key << value;
    file.close();
    if (!file) {
      fs::remove(part, error);
      return;
    }
  }
  fs::rename(part, path, error);
  if (error)
    fs::remove(part, error);
  else
    ++*files_;
}

void KeptFiles::remove(const std::string& key) const {
  std::error_code error;
  if (!folder_.empty()) fs::remove(path_of(key), error);
}

}  // namespace ebb::cuda

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
#include <system_error>
#include <utility>

namespace ebb::cuda {
namespace fs = std::filesystem;
namespace {

constexpr char kHead[] = "ebb-kernel 1 %zu %zu %016llx\n";
constexpr std::size_t kLongest = std::size_t{64} << 20;  // nothing that is larger was written here

// FNV-1a of 64 bits.
std::uint64_t digest(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string head_of(std::string_view key, const std::string& body) {
  std::array<char, 96> head{};
  std::snprintf(head.data(), head.size(), kHead, key.size(), body.size() - key.size(),
                static_cast<unsigned long long>(digest(body)));
  return head.data();
}

// A name that no other thread or program writes to.
fs::path beside(const fs::path& path) {
  static std::atomic<unsigned> count{0};
  return path.string() + '.' + std::to_string(getpid()) + '.' + std::to_string(count++);
}

}  // namespace

fs::path kernel_folder() {
  if (const char* own = std::getenv("EBB_KERNEL_CACHE"))
    return std::string_view(own) == "0" ? fs::path() : fs::path(own);
  if (const char* all = std::getenv("EBB_CACHE_DIR")) return *all ? fs::path(all) / "kernels" : fs::path();
  for (const auto& [variable, below] :
       {std::pair{"XDG_CACHE_HOME", "ebb/kernels"}, std::pair{"HOME", ".cache/ebb/kernels"}})
    if (const char* root = std::getenv(variable); root && fs::path(root).is_absolute())
      return fs::path(root) / below;
  return {};
}

fs::path KeptFiles::path_of(std::string_view key) const {
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "%016llx.kernel", static_cast<unsigned long long>(digest(key)));
  return folder_ / name.data();
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
  if (!body.starts_with(key) || head + '\n' != head_of(key, body)) return {};
  return body.substr(key.size());
}

void KeptFiles::save(const std::string& key, const std::string& value) const {
  if (folder_.empty()) return;
  const fs::path path = path_of(key), part = beside(path);
  std::error_code error;
  fs::create_directories(folder_, error);
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
  if (error) fs::remove(part, error);
}

void KeptFiles::remove(const std::string& key) const {
  std::error_code error;
  if (!folder_.empty()) fs::remove(path_of(key), error);
}

}  // namespace ebb::cuda

// Plans as files. One is a line that says what it is, with the sizes and a digest of what follows: what the
// plan is for, byte by byte, and cuDNN's own text of it.
#include "cuda/nvidia/dnn/plan_files.h"

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

namespace ebb::cuda::dnn {
namespace fs = std::filesystem;
namespace {

constexpr char kHead[] = "ebb-cudnn-plan 1 %zu %zu %016llx\n";
constexpr std::size_t kLongest = std::size_t{64} << 20;  // nothing that is larger was written here

// FNV-1a of 64 bits.
std::uint64_t digest(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string head_of(std::string_view key, std::string_view plan, const std::string& body) {
  std::array<char, 96> head{};
  std::snprintf(head.data(), head.size(), kHead, key.size(), plan.size(),
                static_cast<unsigned long long>(digest(body)));
  return head.data();
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

PlanFiles::PlanFiles(fs::path folder, std::string stamp, std::size_t most)
    : folder_(std::move(folder)), stamp_(std::move(stamp)), most_(most) {}

// The device's number is this process's own: the stamp names the device.
std::string PlanFiles::key_of(const Problem& problem) const {
  Problem anywhere = problem;
  anywhere.device = 0;
  return stamp_ + '\n' + std::string(reinterpret_cast<const char*>(&anywhere), sizeof(anywhere));
}

fs::path PlanFiles::path_of(const std::string& key) const {
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "%016llx.plan", static_cast<unsigned long long>(digest(key)));
  return folder_ / name.data();
}

std::optional<std::string> PlanFiles::load(const Problem& problem) const {
  if (folder_.empty()) return {};
  const std::string key = key_of(problem);
  const fs::path path = path_of(key);
  std::error_code error;
  if (const auto size = fs::file_size(path, error); error || size > kLongest) return {};
  std::ifstream file(path, std::ios::binary);
  std::string head;
  if (!std::getline(file, head)) return {};
  const std::string body{std::istreambuf_iterator<char>(file), {}};
  if (!body.starts_with(key)) return {};
  std::string plan = body.substr(key.size());
  if (plan.empty() || head + '\n' != head_of(key, plan, body)) return {};
  return plan;
}

void PlanFiles::save(const Problem& problem, const std::string& plan) {
  if (folder_.empty() || plan.empty()) return;
  const std::string key = key_of(problem);
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
    file << head_of(key, plan, key + plan) << key << plan;
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

void PlanFiles::remove(const Problem& problem) {
  std::error_code error;
  if (!folder_.empty()) fs::remove(path_of(key_of(problem)), error);
}

}  // namespace ebb::cuda::dnn

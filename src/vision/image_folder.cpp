// ImageFolder: a dataset with one folder of images per class.
#include <ebb/ebb.h>
#include <ebb/vision/datasets.h>

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

namespace ebb::vision::datasets {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxDepth = 100;  // the maximum depth of folders below the folder of a class

bool is_image(const fs::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

// The identity of a folder, which is the same for all paths and links to it.
using Identity = std::pair<dev_t, ino_t>;

optional<Identity> identity_of(const fs::path& folder) {
  struct stat info{};
  if (::stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return nullopt;
  return Identity{info.st_dev, info.st_ino};
}

// Returns the images and folders in a folder in descending order of names, and whether each is a folder.
std::vector<std::pair<fs::path, bool>> listed(const fs::path& folder) {
  std::error_code error, unreadable;
  std::vector<std::pair<fs::path, bool>> all;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (const bool is_folder = it->is_directory(unreadable);
        is_folder || (is_image(it->path()) && it->is_regular_file(unreadable)))
      all.emplace_back(it->path(), is_folder);
  EBB_CHECK(!error, "ImageFolder: cannot list \"", folder.string(), "\": ", error.message(), ".");
  std::sort(all.rbegin(), all.rend());
  return all;
}

std::vector<fs::path> folders_in(const std::string& root) {
  const optional<Identity> itself = identity_of(root);
  std::vector<fs::path> folders;
  for (auto& [path, is_folder] : listed(root))
    if (is_folder && identity_of(path) != itself) folders.push_back(std::move(path));
  EBB_CHECK(!folders.empty(), "ImageFolder: \"", root,
            "\" holds no folders. It needs one for each class, with the images of the class in it.");
  std::sort(folders.begin(), folders.end());
  return folders;
}

// Returns the images in all folders below `of_class`. Links are followed, but each folder is listed only
// once. A folder is closed before its subfolders are listed, because the number of open files is limited.
std::vector<std::string> images_below(const std::string& root, const fs::path& of_class) {
  std::vector<std::string> paths;
  std::set<Identity> seen;
  if (const auto itself = identity_of(root)) seen.insert(*itself);
  std::vector<std::pair<fs::path, int>> folders{{of_class, 0}};
  while (!folders.empty()) {
    const auto [folder, depth] = std::move(folders.back());
    folders.pop_back();
    if (const auto itself = identity_of(folder); itself && !seen.insert(*itself).second) continue;
    EBB_CHECK(depth <= kMaxDepth, "ImageFolder: \"", folder.string(), "\" is more than ", kMaxDepth,
              " folders deep. Move its images up.");
    for (auto& [path, is_folder] : listed(folder)) {
      if (is_folder)
        folders.emplace_back(std::move(path), depth + 1);
      else
        paths.push_back(path.string());
    }
  }
  EBB_CHECK(
      !paths.empty(), "ImageFolder: \"", of_class.string(),
      "\" holds no images, .jpg, .jpeg or .png. Remove the folder, or put the images of its class there.");
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

ImageFolder::ImageFolder(const std::string& root, Transform transform, ImageReadMode mode)
    : transform_(std::move(transform)), mode_(mode) {
  for (const fs::path& folder : folders_in(root)) {
    const auto index = static_cast<std::int64_t>(classes_.size());
    classes_.push_back(folder.filename().string());
    class_to_idx_.emplace(classes_.back(), index);
    for (std::string& path : images_below(root, folder)) samples_.emplace_back(std::move(path), index);
  }
}

data::Example<> ImageFolder::get(std::size_t index) {
  EBB_CHECK(index < samples_.size(), "ImageFolder: index ", std::uint64_t{index},
            " is out of range for a folder of ", std::uint64_t{samples_.size()}, " images.");
  const auto& [path, target] = samples_[index];
  const Variable image = read_image(path, mode_);
  return {transform_ ? transform_(image) : image, tensor(target)};
}

}  // namespace ebb::vision::datasets

// Folders of images.
#include <ebb/ebb.h>
#include <ebb/vision/datasets.h>

#include <algorithm>
#include <filesystem>

namespace ebb::vision::datasets {
namespace {

namespace fs = std::filesystem;

bool is_image(const fs::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

std::vector<fs::path> folders_in(const std::string& root) {
  std::error_code error, unreadable;
  std::vector<fs::path> folders;
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error))
    if (it->is_directory(unreadable)) folders.push_back(it->path());
  EBB_CHECK(!error, "ImageFolder: cannot list \"", root, "\": ", error.message(), ".");
  EBB_CHECK(!folders.empty(), "ImageFolder: \"", root,
            "\" holds no folders. It needs one for each class, with the images of the class in it.");
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::vector<std::string> images_below(const fs::path& folder) {
  std::error_code error, unreadable;
  std::vector<std::string> paths;
  fs::recursive_directory_iterator it(folder, fs::directory_options::follow_directory_symlink, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error))
    if (it->is_regular_file(unreadable) && is_image(it->path())) paths.push_back(it->path().string());
  EBB_CHECK(!error, "ImageFolder: cannot list \"", folder.string(), "\": ", error.message(), ".");
  EBB_CHECK(
      !paths.empty(), "ImageFolder: \"", folder.string(),
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
    for (std::string& path : images_below(folder)) samples_.emplace_back(std::move(path), index);
  }
}

data::Example<> ImageFolder::get(std::size_t index) {
  EBB_CHECK(index < samples_.size(), "ImageFolder: there is no sample ", std::uint64_t{index}, " in ",
            std::uint64_t{samples_.size()}, ".");
  const auto& [path, target] = samples_[index];
  const Variable image = read_image(path, mode_);
  return {transform_ ? transform_(image) : image, tensor(target)};
}

}  // namespace ebb::vision::datasets

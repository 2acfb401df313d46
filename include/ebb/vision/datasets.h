// Datasets of images: folders of files, CIFAR-10 and CIFAR-100.
#pragma once

#include <ebb/data/datasets.h>
#include <ebb/vision/image_io.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ebb::vision::datasets {

/// Images in one folder a class: root/cat/1.jpg, root/dog/x/2.png (torchvision.datasets.ImageFolder). Files
/// are listed at once, below each class's folder, and read when they are asked for, by whichever of a
/// loader's workers asks. Those that end in .jpg, .jpeg or .png, in upper or lower case, count; others are
/// passed over. Links are followed; a folder that several lead to counts once in each class, and one that
/// leads back to the root not at all.
class EBB_API ImageFolder : public data::datasets::Dataset<ImageFolder> {
 public:
  using Transform = std::function<Variable(const Variable&)>;

  /// `transform` is applied to each image as it is read, Byte [C, H, W]; it is called by several workers at
  /// once. Images of unequal sizes need one that makes them equal before they are stacked. Throws for a root
  /// without folders, for a class without images, and for folders more than a hundred deep.
  explicit ImageFolder(const std::string& root, Transform transform = {},
                       ImageReadMode mode = ImageReadMode::rgb);

  /// {the image, its class kLong []}.
  data::Example<> get(std::size_t index) override;
  optional<std::size_t> size() const override { return samples_.size(); }
  /// The names of the folders, sorted; a class is its place among them.
  const std::vector<std::string>& classes() const { return classes_; }
  const std::map<std::string, std::int64_t>& class_to_idx() const { return class_to_idx_; }
  /// Paths and classes, sorted by class and then by path.
  const std::vector<std::pair<std::string, std::int64_t>>& samples() const { return samples_; }

 private:
  std::vector<std::string> classes_;
  std::map<std::string, std::int64_t> class_to_idx_;
  std::vector<std::pair<std::string, std::int64_t>> samples_;
  Transform transform_;
  ImageReadMode mode_;
};

/// What a file of CIFAR's "binary version" holds.
struct EBB_API CIFARRecords {
  Variable images;  ///< Byte [n, 3, 32, 32]
  Variable labels;  ///< Long [n, labels of each image]
};

/// Reads such a file, records of `labels` bytes (1 of CIFAR-10; 2 of CIFAR-100, coarse and fine) and 3072
/// bytes of an image. Throws for a file that is no whole number of records, and for a label that is not below
/// its `classes`.
EBB_API CIFARRecords read_cifar(const std::string& path, const std::vector<std::int64_t>& classes);

/// 32 x 32 images of ten classes (Krizhevsky 2009), 50000 to train with and 10000 to test, from the folder
/// with data_batch_1.bin to data_batch_5.bin and test_batch.bin, or with the folder cifar-10-batches-bin that
/// holds them.
class EBB_API CIFAR10 : public data::datasets::Dataset<CIFAR10> {
 public:
  enum class Mode { kTrain, kTest };
  /// Reads all of it; throws ebb::Error naming the file that is missing or not sound.
  explicit CIFAR10(const std::string& root, Mode mode = Mode::kTrain);
  /// {image kFloat [3, 32, 32] in [0, 1], label kLong []}.
  data::Example<> get(std::size_t index) override;
  optional<std::size_t> size() const override;
  bool is_train() const { return mode_ == Mode::kTrain; }
  /// All images, Byte [n, 3, 32, 32].
  const Variable& images() const { return images_; }
  /// All labels, kLong [n].
  const Variable& targets() const { return targets_; }
  static const std::vector<std::string>& classes();
  /// Whether the folder holds the six files.
  static bool present(const std::string& root);

 private:
  Mode mode_;
  Variable images_, targets_;
};

/// The same of 100 classes in 20 groups, from the folder with train.bin and test.bin, or with the folder
/// cifar-100-binary that holds them.
class EBB_API CIFAR100 : public data::datasets::Dataset<CIFAR100> {
 public:
  enum class Mode { kTrain, kTest };
  explicit CIFAR100(const std::string& root, Mode mode = Mode::kTrain);
  data::Example<> get(std::size_t index) override;
  optional<std::size_t> size() const override;
  bool is_train() const { return mode_ == Mode::kTrain; }
  const Variable& images() const { return images_; }
  /// All classes, kLong [n].
  const Variable& targets() const { return targets_; }
  /// The groups of the classes, kLong [n].
  const Variable& coarse_targets() const { return coarse_targets_; }
  static bool present(const std::string& root);

 private:
  Mode mode_;
  Variable images_, targets_, coarse_targets_;
};

}  // namespace ebb::vision::datasets

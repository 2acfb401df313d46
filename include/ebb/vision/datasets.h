// ImageFolder, CIFAR10 and CIFAR100: datasets of images.
#pragma once

#include <ebb/data/datasets.h>
#include <ebb/vision/image_io.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ebb::vision::datasets {

/// Images in one folder for each class: root/cat/1.jpg, root/dog/x/2.png (torchvision.datasets.ImageFolder).
/// The constructor lists the files below each class's folder. get() reads a file each time it is called, for
/// example in a loader's worker. Only files with the extension .jpg, .jpeg or .png, in upper or lower case,
/// are used. Links are followed. A folder reached by several links is listed once in each class, and a link
/// back to the root is ignored.
class EBB_API ImageFolder : public data::datasets::Dataset<ImageFolder> {
 public:
  using Transform = std::function<Variable(const Variable&)>;

  /// `transform` is applied to each image after it is read, Byte [C, H, W]; several workers may call it at
  /// the same time. Images of different sizes need a transform that makes the sizes equal before they are
  /// stacked. Throws for a root without folders, a class without images, and folders nested more than a
  /// hundred levels deep.
  explicit ImageFolder(const std::string& root, Transform transform = {},
                       ImageReadMode mode = ImageReadMode::rgb);

  /// Returns {image, class}. The class is a kLong tensor without dimensions.
  data::Example<> get(std::size_t index) override;
  optional<std::size_t> size() const override { return samples_.size(); }
  /// Returns the names of the folders, sorted. A class is an index into them.
  const std::vector<std::string>& classes() const { return classes_; }
  const std::map<std::string, std::int64_t>& class_to_idx() const { return class_to_idx_; }
  /// Returns paths and classes, sorted first by class and then by path.
  const std::vector<std::pair<std::string, std::int64_t>>& samples() const { return samples_; }

 private:
  std::vector<std::string> classes_;
  std::map<std::string, std::int64_t> class_to_idx_;
  std::vector<std::pair<std::string, std::int64_t>> samples_;
  Transform transform_;
  ImageReadMode mode_;
};

/// The contents of a file of CIFAR's "binary version".
struct EBB_API CIFARRecords {
  Variable images;  ///< Byte [n, 3, 32, 32]
  Variable labels;  ///< Long [n, labels of each image]
};

/// Reads a file of CIFAR's "binary version": records with `labels` bytes (1 for CIFAR-10; 2 for CIFAR-100,
/// coarse and fine) and 3072 bytes of an image. Throws for an incomplete record, and for a label that is not
/// below its limit in `classes`.
EBB_API CIFARRecords read_cifar(const std::string& path, const std::vector<std::int64_t>& classes);

/// CIFAR-10: 32 x 32 images of ten classes (Krizhevsky 2009), 50000 for training and 10000 for testing. root
/// contains data_batch_1.bin to data_batch_5.bin and test_batch.bin, or the folder cifar-10-batches-bin with
/// them.
class EBB_API CIFAR10 : public data::datasets::Dataset<CIFAR10> {
 public:
  enum class Mode { kTrain, kTest };
  /// Reads all files. Throws ebb::Error with the name of a file that is missing or invalid.
  explicit CIFAR10(const std::string& root, Mode mode = Mode::kTrain);
  /// Returns {image kFloat [3, 32, 32] in [0, 1], label kLong []}.
  data::Example<> get(std::size_t index) override;
  optional<std::size_t> size() const override;
  bool is_train() const { return mode_ == Mode::kTrain; }
  /// Returns all images, Byte [n, 3, 32, 32].
  const Variable& images() const { return images_; }
  /// Returns all labels, kLong [n].
  const Variable& targets() const { return targets_; }
  static const std::vector<std::string>& classes();
  /// Returns whether the folder contains the six files.
  static bool present(const std::string& root);

 private:
  Mode mode_;
  Variable images_, targets_;
};

/// CIFAR-100: images as in CIFAR-10, of 100 classes in 20 groups. root contains train.bin and test.bin, or
/// the folder cifar-100-binary with them.
class EBB_API CIFAR100 : public data::datasets::Dataset<CIFAR100> {
 public:
  enum class Mode { kTrain, kTest };
  explicit CIFAR100(const std::string& root, Mode mode = Mode::kTrain);
  data::Example<> get(std::size_t index) override;
  optional<std::size_t> size() const override;
  bool is_train() const { return mode_ == Mode::kTrain; }
  const Variable& images() const { return images_; }
  /// Returns all classes, kLong [n].
  const Variable& targets() const { return targets_; }
  /// Returns the groups of the classes, kLong [n].
  const Variable& coarse_targets() const { return coarse_targets_; }
  static bool present(const std::string& root);

 private:
  Mode mode_;
  Variable images_, targets_, coarse_targets_;
};

}  // namespace ebb::vision::datasets

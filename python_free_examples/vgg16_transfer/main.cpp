// Transfer learning: convolutions that have learnt from other images are kept, and only a new classifier is
// trained. Without weights the convolutions are pretrained here, on half of the classes of a data set, and
// what that is worth is measured on the other half. With torchvision's weights of VGG16 a classifier of one's
// own images is trained.
#include <ebb/ebb.h>

#include "few_images.h"
#include "image_folder.h"

#include <string>

int main(int argc, char** argv) {
  example::Program program("Trains a new classifier over the frozen convolutions of a VGG16.");
  std::string weights, images;
  bool digits = false;
  std::int64_t epochs = 0;
  program.option("--digits", digits, "images of digits, even where Fashion-MNIST is installed");
  program.option("--weights", weights, "torchvision's vgg16-397923af.pth, for --images");
  program.option("--images", images, "folder with a folder of JPEG or PNG files for each class");
  program.option(
      "--epochs", epochs,
      "passes over the images of the known classes (default: 4; for digits 40), or of --images (20)");
  return program.run(argc, argv, [&](const example::Settings& settings) {
    if (weights.empty() != images.empty()) throw example::WrongUsage("--weights and --images go together");
    if (digits && !images.empty()) throw example::WrongUsage("--digits does not go with --images");
    return weights.empty() ? compare_on_few_images(settings, digits, epochs)
                           : transfer_to_folder(settings, weights, images, epochs);
  });
}

// Lists the ONNX node tests, and the skipped ones with the reason.
#include "onnx/cases.h"

#include "support/files.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace onnx {
namespace {

Tensors load_tensors(const std::string& data_set, const char* kind) {
  Tensors tensors;
  for (int i = 0;; ++i) {
    const std::string path = data_set + "/" + kind + "_" + std::to_string(i) + ".pb";
    if (!std::filesystem::exists(path)) return tensors;
    tensors.push_back(parse_tensor(support::read_file(path)));
  }
}

}  // namespace

std::string data_folder() {
  const char* given = std::getenv("EBB_ONNX_DATA");
  const std::string folder = given ? given : "/usr/share/libonnx-testdata/data/node";
  return std::filesystem::exists(folder + "/test_abs/model.onnx") ? folder : "";
}

std::vector<std::string> case_names(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

Model load_model(const std::string& folder, const std::string& name) {
  return parse_model(support::read_file(folder + "/" + name + "/model.onnx"));
}

Case load_case(const std::string& folder, const std::string& name) {
  const std::string data_set = folder + "/" + name + "/test_data_set_0";
  return {name, load_model(folder, name), load_tensors(data_set, "input"), load_tensors(data_set, "output")};
}

// Skipped cases and the reasons.

const std::vector<Skip>& skipped_ops() {
  static const char* const control = "ebb's control flow is the program's";
  static const char* const sequences = "ebb has no op on sequences, which in C++ are std::vector";
  static const char* const optionals = "ebb has no op on optionals, which in C++ are std::optional";
  static const char* const quantized = "ebb has no quantized tensors";
  static const char* const recurrent =
      "not tried: the weights lie otherwise than in ebb's layers, which tests/nn compares";
  static const char* const random = "random: ONNX does not say which numbers";
  static const char* const strings = "ebb has no tensors of strings";
  static const char* const signals = "not among ebb's ops: it has no Fourier transforms";
  static const char* const elsewhere = "not tried: a row of the op table compares it";
  static const char* const vision = "not among ebb's ops: it has no boxes";
  static const std::vector<Skip> skips = {
      {"If", control},
      {"Loop", control},
      {"Scan", control},
      {"SequenceInsert", sequences},
      {"SequenceMap", sequences},
      {"OptionalGetElement", optionals},
      {"OptionalHasElement", optionals},
      {"ConvInteger", quantized},
      {"DequantizeLinear", quantized},
      {"DynamicQuantizeLinear", quantized},
      {"QLinearConv", quantized},
      {"QLinearMatMul", quantized},
      {"QuantizeLinear", quantized},
      {"GRU", recurrent},
      {"LSTM", recurrent},
      {"RNN", recurrent},
      {"Bernoulli", random},
      {"RandomUniformLike", random},
      {"StringNormalizer", strings},
      {"TfIdfVectorizer", "not among ebb's ops: it has no text processing"},
      {"BlackmanWindow", elsewhere},
      {"DFT", signals},
      {"HammingWindow", elsewhere},
      {"HannWindow", elsewhere},
      {"MelWeightMatrix", signals},
      {"STFT", signals},
      {"GridSample", elsewhere},
      {"NonMaxSuppression", vision},
      {"RoiAlign", vision},
      {"Det", elsewhere},
      {"Adam",
       "in ONNX the first step does not correct the averages for starting at 0; in torch and ebb every step "
       "does"},
  };
  return skips;
}

const std::vector<Skip>& skipped_cases() {
  static const char* const strings = "ebb has no tensors of strings";
  static const char* const cubic = "not tried: rows of the op table compare upsample_bicubic2d";
  static const char* const nearest = "ebb, like torch, chooses the nearest pixel in two ways only";
  static const char* const tie = "ebb, like torch, rounds up between two pixels equally near, ONNX down";
  static const std::vector<Skip> skips = {
      {"test_*_uint16", "ebb has no unsigned integers beyond 8 bits"},
      {"test_*_uint32", "ebb has no unsigned integers beyond 8 bits"},
      {"test_*_uint64", "ebb has no unsigned integers beyond 8 bits"},
      {"test_cast*BFLOAT16*", "the file stores bfloat16 as uint16, which ebb lacks"},
      {"test_cast*STRING*", strings},
      {"test_identity_opt", "the input is an optional, not a tensor"},
      {"test_identity_sequence", "the input is a sequence, not a tensor"},
      {"test_training_dropout", "what is dropped is random: ONNX does not say which"},
      {"test_training_dropout_default", "what is dropped is random: ONNX does not say which"},
      {"test_training_dropout*default_mask", "what is dropped is random: ONNX does not say which"},
      {"test_training_dropout_mask", "what is dropped is random: ONNX does not say which"},
      {"test_maxpool_2d_uint8", "ebb pools floating dtypes only"},
      {"test_maxunpool_export_with_output_shape",
       "the indices are those of a smaller tensor than the result"},
      {"test_unique_not_sorted_without_axis", "ebb sorts, whether asked to or not"},
      {"test_resize_*_cubic*", cubic},
      {"test_resize_downsample_scales_linear_align_corners",
       "ONNX aligns the corners of the size before rounding (2.4), torch and ebb those of the result (2)"},
      {"test_resize_downsample_sizes_linear_pytorch_half_pixel",
       "for a result of one pixel ONNX takes the first one, torch and ebb the middle"},
      {"test_resize_downsample_sizes_nearest", tie},
      {"test_resize_upsample_sizes_nearest", tie},
      {"test_resize_downsample_sizes_nearest_tf_half_pixel_for_nn", nearest},
      {"test_resize_upsample_sizes_nearest_*", nearest},
      {"test_resize_tf_crop_and_resize", "ebb does not crop as it resizes"},
  };
  return skips;
}

const Skip* skip_for(const std::string& name, const Model& model) {
  for (const Skip& skip : skipped_cases())
    if (fnmatch(skip.what, name.c_str(), 0) == 0) return &skip;
  for (const Skip& skip : skipped_ops())
    for (const Node& node : model.nodes)
      if (node.op == skip.what) return &skip;
  return nullptr;
}

}  // namespace onnx

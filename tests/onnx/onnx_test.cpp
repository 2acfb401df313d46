// ONNX backend node tests: references by NumPy, compared with the corresponding ops of ebb, and the skipped
// tests with the reasons. Debian's libonnx-testdata contains the data; without it the test reports that it is
// skipped.
#include "onnx/call.h"
#include "support/catch.h"
#include "support/files.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

using namespace onnx;

namespace {

struct Case {
  std::string name;
  Model model;
  Tensors inputs, outputs;
};

struct Skip {
  const char* what;  ///< an op, or a pattern of case names
  const char* reason;
};

Tensors load_tensors(const std::string& data_set, const char* kind) {
  Tensors tensors;
  for (int i = 0;; ++i) {
    const std::string path = data_set + "/" + kind + "_" + std::to_string(i) + ".pb";
    if (!std::filesystem::exists(path)) return tensors;
    tensors.push_back(parse_tensor(support::read_file(path)));
  }
}

// The folder of Debian's libonnx-testdata, or of EBB_ONNX_DATA; empty if there is none.
std::string data_folder() {
  const char* given = std::getenv("EBB_ONNX_DATA");
  const std::string folder = given ? given : "/usr/share/libonnx-testdata/data/node";
  return std::filesystem::exists(folder + "/test_abs/model.onnx") ? folder : "";
}

// The sorted names of all cases.
std::vector<std::string> case_names(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// Loads only the graph, because the inputs and outputs may have types that ebb does not support.
Model load_model(const std::string& folder, const std::string& name) {
  return parse_model(support::read_file(folder + "/" + name + "/model.onnx"));
}

Case load_case(const std::string& folder, const std::string& name) {
  const std::string data_set = folder + "/" + name + "/test_data_set_0";
  return {name, load_model(folder, name), load_tensors(data_set, "input"), load_tensors(data_set, "output")};
}

// ONNX ops that ebb does not have.
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

// Single cases with unsupported options of an op.
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

// The entry that applies to a case, or null if the case must run.
const Skip* skip_for(const std::string& name, const Model& model) {
  for (const Skip& skip : skipped_cases())
    if (fnmatch(skip.what, name.c_str(), 0) == 0) return &skip;
  for (const Skip& skip : skipped_ops())
    for (const Node& node : model.nodes)
      if (node.op == skip.what) return &skip;
  return nullptr;
}

struct Tolerance {
  double relative, absolute;
};

// The runner of ONNX uses tolerances of 1e-3 and 1e-7. NumPy computed the references in the dtype of the
// test, so a stricter tolerance holds, except for window functions, whose bodies use 3.14159 for pi.
Tolerance tolerance(ebb::DType dtype, const std::string& name) {
  if (name.find("window") != std::string::npos) return {1e-3, 1e-7};
  switch (dtype) {
    case ebb::kHalf:
      return {1e-3, 1e-7};
    case ebb::kBFloat16:
      return {8e-3, 1e-7};
    case ebb::kFloat:
      return {1e-5, 1e-7};
    case ebb::kDouble:
      return {1e-7, 1e-7};
    default:
      return {0, 0};
  }
}

bool close(double actual, double expected, Tolerance t) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (std::isinf(expected)) return actual == expected;
  return std::fabs(actual - expected) <= t.absolute + t.relative * std::fabs(expected);
}

std::string difference(const Tensor& actual, const Tensor& expected, const std::string& name) {
  using ebb::detail::text;
  if (actual.sizes() != expected.sizes())
    return text("shape ", actual.sizes(), " instead of ", expected.sizes());
  if (actual.dtype() != expected.dtype())
    return text("dtype ", actual.dtype(), " instead of ", expected.dtype());
  const Tensor a = actual.detach().to(ebb::kDouble).contiguous(), e = expected.to(ebb::kDouble).contiguous();
  std::int64_t wrong = 0, first = -1;
  for (std::int64_t i = 0; i < e.numel(); ++i) {
    if (close(a.data_ptr<double>()[i], e.data_ptr<double>()[i], tolerance(expected.dtype(), name))) continue;
    if (first < 0) first = i;
    ++wrong;
  }
  if (wrong == 0) return "";
  return text(wrong, " of ", e.numel(), " elements differ; element ", first, " is ",
              a.data_ptr<double>()[first], " instead of ", e.data_ptr<double>()[first]);
}

// Describes the difference between `actual` and the outputs of `test` in number, shape, dtype or value.
// Returns an empty string if there is none.
std::string difference(const Tensors& actual, const Case& test) {
  const Tensors& expected = test.outputs;
  if (actual.size() != expected.size())
    return ebb::detail::text(std::uint64_t{actual.size()}, " outputs instead of ",
                             std::uint64_t{expected.size()});
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const std::string what = difference(actual[i], expected[i], test.name);
    if (!what.empty()) return ebb::detail::text("output ", std::uint64_t{i}, ": ", what);
  }
  return "";
}

// The memory layout of the inputs; the values are equal.
struct Layout {
  const char* name;
  Tensor (*apply)(const Tensor&);
};
const Layout kLayouts[] = {
    {"contiguous", [](const Tensor& x) { return x; }},
    {"in column-major order", [](const Tensor& x) { return x.numpy_T().contiguous().numpy_T(); }},
    {"every second element",
     [](const Tensor& x) {
       return x.dim() == 0
                  ? x
                  : ebb::repeat_interleave(x, 2, x.dim() - 1).slice(-1, ebb::nullopt, ebb::nullopt, 2);
     }},
};

// Returns an empty string if ebb's outputs are the expected ones.
std::string run(const std::string& folder, const std::string& name) {
  try {
    const Case test = load_case(folder, name);
    for (const Layout& layout : kLayouts) {
      Tensors inputs;
      for (const Tensor& x : test.inputs) inputs.push_back(layout.apply(x));
      const std::string trouble = difference(evaluate(test.model, inputs), test);
      if (!trouble.empty()) return "inputs " + std::string(layout.name) + ": " + trouble;
    }
    return "";
  } catch (const std::exception& e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE("ONNX node tests pass or are listed as skipped with a reason") {
  const std::string folder = data_folder();
  if (folder.empty()) {
    WARN("skipped: libonnx-testdata is not installed");
    return;
  }
  std::set<const Skip*> used;
  int passed = 0, skipped = 0;
  const std::vector<std::string> names = case_names(folder);
  for (const std::string& name : names) {
    if (const Skip* skip = skip_for(name, load_model(folder, name))) {
      used.insert(skip);
      ++skipped;
      continue;
    }
    const std::string trouble = run(folder, name);
    INFO(name << ": " << trouble);
    CHECK(trouble.empty());
    passed += trouble.empty();
  }
  WARN(passed << " of " << names.size() << " cases pass; " << skipped << " are listed as skipped, with "
              << skipped_ops().size() + skipped_cases().size() << " reasons");
  for (const std::vector<Skip>* table : {&skipped_ops(), &skipped_cases()})
    for (const Skip& skip : *table) {
      INFO("no case is skipped for " << skip.what << ": " << skip.reason);
      CHECK(used.count(&skip) == 1);
    }
}

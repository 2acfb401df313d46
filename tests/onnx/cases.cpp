// Lists the reference cases of ONNX.
#include "onnx/cases.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "support/files.h"

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

}  // namespace onnx

// ReLU behind a convolution keeps NaN: cuDNN makes 0 of it unless it is told not to, and forgets in
// the texts of its plans that it was told.
#include <utility>
#include <vector>

#include "cuda/dnn/plans.h"
#include "cuda/nvidia/dnn/shared_plans.h"
#include "support/catch.h"
#include "support/files.h"

using namespace ebb;
using namespace ebb::cuda;
using namespace ebb::cuda::dnn;

namespace {

// A convolution with a bias and perhaps ReLU.
struct Asked {
  NdArray x, w, b;
  DimVector one = {1, 1};
  Task task;

  Asked(DType dtype, bool last, bool relu)
      : x(array({2, 8, 6, 8}, dtype, last)),
        w(array({8, 8, 3, 3}, dtype, last)),
        b(array({8}, dtype)),
        task(task_of({.kind = DnnConv::forward,
                      .in = x,
                      .weight = w,
                      .out = x,
                      .stride = one,
                      .padding = one,
                      .dilation = one,
                      .bias = &b,
                      .relu = relu})) {}

  Answer made() const {
    Answer answer;
    answer.graph = task.graph(task.problem, described_target());
    std::vector<Plan> plans = make_plans(task.problem, *answer.graph, described_target(), 1, INT64_MAX);
    if (!plans.empty()) answer.plan = std::move(plans[0]);
    return answer;
  }
};

// Sees what is told of NaN, by a function that stands before cuDNN's: nothing tells it afterwards.
class Told {
 public:
  static inline std::vector<cudnnNanPropagation_t> seen;
  Told() {
    seen.clear();
    through_ = std::exchange(changeable().set_attribute, &set);
  }
  ~Told() { changeable().set_attribute = through_; }
  Told(const Told&) = delete;

 private:
  static inline decltype(Library::set_attribute) through_ = nullptr;
  static Library& changeable() { return const_cast<Library&>(library()); }
  static cudnnStatus_t set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                           cudnnBackendAttributeType_t type, std::int64_t count, const void* values) {
    if (name == CUDNN_ATTR_POINTWISE_NAN_PROPAGATION)
      seen.push_back(*static_cast<const cudnnNanPropagation_t*>(values));
    return through_(descriptor, name, type, count, values);
  }
};

}  // namespace

TEST_CASE("ReLU behind a convolution is told to keep NaN") {
  for (const DType dtype : {kFloat, kHalf, kBFloat16, kDouble})
    for (const bool last : {false, true}) {
      INFO(to_string(dtype) << (last ? ", channels-last" : ", contiguous"));
      const Told told;
      CHECK(Asked(dtype, last, true).made().plan);
      CHECK(Told::seen == std::vector{CUDNN_PROPAGATE_NAN});
    }
}

TEST_CASE("plans with ReLU are not written down, for their texts leave out what becomes of NaN") {
  const Answer answer = Asked(kFloat, false, true).made();
  REQUIRE(answer.plan);
  const std::string text = text_of(*answer.plan);
  CHECK(text.find("RELU") != text.npos);
  CHECK(text.find("CUDNN_PROPAGATE_NAN") == text.npos);  // with which this case would have no point
  for (const bool relu : {false, true}) {
    const Asked asked(kFloat, false, relu);
    const support::Folder folder;
    int count = 0;
    for (int run = 0; run < 2; ++run) {
      PlanFiles files(folder.path(), "a device");
      SharedPlans shared(files, 10);
      const auto make = [&] {
        ++count;
        return asked.made();
      };
      for (int i = 0; i < 3; ++i) CHECK(shared.answer_to(asked.task.problem, described_target(), make).plan);
    }
    CHECK(count == (relu ? 6 : 1));
    CHECK(std::filesystem::is_empty(folder.path()) == relu);
  }
}

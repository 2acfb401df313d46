// Convolutions with cuDNN: the graphs that the plugin builds, descriptors, and NaN after ReLU.
#include <ebb/core/deterministic.h>
#include <ebb/cuda/cuda.h>

#include "cuda/dnn/plans.h"
#include "cuda/nvidia/dnn/descriptor.h"
#include "cuda/nvidia/dnn/shared_plans.h"
#include "support/catch.h"
#include "support/files.h"

#include <string>
#include <utility>
#include <vector>

// The convolution graphs that the plugin builds, planned for a described device. Plans are built but not
// executed.

using namespace ebb;
using namespace ebb::cuda;
using namespace ebb::cuda::dnn;

namespace {

struct Geometry {
  const char* name;
  DimVector in, weight;
  std::int64_t stride = 1, padding = 0, dilation = 1;
};
const Geometry kGeometries[] = {
    {"3x3", {32, 64, 28, 28}, {64, 64, 3, 3}, 1, 1},
    {"1x1", {8, 64, 28, 28}, {256, 64, 1, 1}},
    {"stem", {8, 3, 64, 64}, {64, 3, 7, 7}, 2, 3},
    {"depthwise", {8, 64, 28, 28}, {64, 1, 3, 3}, 1, 1},
    {"groups", {8, 64, 28, 28}, {64, 16, 3, 3}, 1, 1},
    {"dilation", {8, 64, 28, 28}, {64, 64, 3, 3}, 1, 2, 2},
    {"one axis", {8, 64, 100}, {64, 64, 3}, 1, 1},
    {"three axes", {4, 16, 8, 14, 14}, {32, 16, 3, 3, 3}, 1, 1},
    {"odd sizes", {3, 5, 7, 9}, {7, 5, 2, 3}, 2, 1},
    {"one of everything", {1, 1, 1, 1}, {1, 1, 1, 1}},
};

// The arrays of a convolution, and the task that the plugin builds for it.
struct Request {
  std::size_t axes;
  DimVector stride, padding, dilation, out_sizes;
  NdArray in, weight, out, bias;
  DnnConvolution convolution;

  Request(const Geometry& g, DnnConv kind, DType dtype, bool last, bool with_bias = false, bool relu = false,
          std::uintptr_t address = 4096)
      : axes(g.in.size() - 2),
        stride(axes, g.stride),
        padding(axes, g.padding),
        dilation(axes, g.dilation),
        out_sizes(result_sizes(g)),
        in(array(g.in, dtype, last, address)),
        weight(array(g.weight, dtype, last)),
        out(array(out_sizes, dtype, last)),
        bias(array({g.weight[0]}, dtype)),
        convolution{.kind = kind,
                    .in = in,
                    .weight = weight,
                    .out = out,
                    .stride = stride,
                    .padding = padding,
                    .dilation = dilation,
                    .bias = with_bias ? &bias : nullptr,
                    .relu = relu} {}

  static DimVector result_sizes(const Geometry& g) {
    DimVector sizes = g.in;
    sizes[1] = g.weight[0];
    for (std::size_t d = 2; d < sizes.size(); ++d)
      sizes[d] = (g.in[d] + 2 * g.padding - g.dilation * (g.weight[d] - 1) - 1) / g.stride + 1;
    return sizes;
  }

  std::vector<Plan> plans(std::size_t most = 4, std::int64_t workspace = INT64_MAX) const {
    return dnn::plans_of(task_of(convolution), most, workspace);
  }
};

template <class Check>
void for_each_case(const Check& check) {
  for (const Geometry& g : kGeometries)
    for (const DType dtype : {kFloat, kHalf, kBFloat16, kDouble})
      for (const bool last : {false, true}) {
        if (last && g.in.size() == 3) continue;
        INFO(g.name << " in " << to_string(dtype) << (last ? ", channels-last" : ", contiguous"));
        check(g, dtype, last);
      }
}

// Restores a global setting at the end of the test.
class Setting {
 public:
  Setting(void (*set)(bool), bool value) : set_(set) { set_(value); }
  ~Setting() { set_(false); }

 private:
  void (*set_)(bool);
};

}  // namespace

TEST_CASE("every convolution case has a cuDNN plan") {
  std::size_t made = 0;
  for_each_case([&](const Geometry& g, DType dtype, bool last) {
    for (const DnnConv kind : {DnnConv::forward, DnnConv::input, DnnConv::weight}) {
      INFO("kind " << static_cast<int>(kind));
      CHECK_FALSE(Request(g, kind, dtype, last).plans(1).empty());
      ++made;
    }
    CHECK_FALSE(Request(g, DnnConv::forward, dtype, last, true).plans(1).empty());
    CHECK_FALSE(Request(g, DnnConv::forward, dtype, last, true, true).plans(1).empty());
    made += 2;
  });
  CHECK(made == 380);
}

TEST_CASE("every convolution case has a deterministic plan") {
  const Setting deterministic(&use_deterministic_algorithms, true);
  for_each_case([](const Geometry& g, DType dtype, bool last) {
    for (const DnnConv kind : {DnnConv::input, DnnConv::weight}) {
      const std::vector<Plan> plans = Request(g, kind, dtype, last).plans();
      CHECK_FALSE(plans.empty());
      CHECK_FALSE(any_with(plans, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC));
    }
  });
  // The setting causes this.
  use_deterministic_algorithms(false);
  CHECK(any_with(Request(kGeometries[0], DnnConv::weight, kFloat, false).plans(100),
                 CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC));
}

TEST_CASE("float convolutions are exact unless TF32 is allowed") {
  constexpr cudnnBackendNumericalNote_t kInexact[] = {
      CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS,
      CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION, CUDNN_NUMERICAL_NOTE_FFT,
      CUDNN_NUMERICAL_NOTE_WINOGRAD};
  for (const bool last : {false, true})
    for (const DnnConv kind : {DnnConv::forward, DnnConv::input, DnnConv::weight}) {
      const Request request(kGeometries[0], kind, kFloat, last);
      const std::vector<Plan> exact = request.plans(100);
      REQUIRE_FALSE(exact.empty());
      for (const auto note : kInexact) CHECK_FALSE(any_with(exact, note));
      const Setting tf32(&allow_tf32, true);
      const std::vector<Plan> rounded = request.plans(100);
      CHECK(has_note(rounded.at(0), CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
      CHECK(rounded.size() > exact.size());
    }
}

namespace {

// The engine of the first plan.
std::int64_t first_engine(const Request& request) {
  const std::vector<Plan> plans = request.plans(1);
  Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  plans.at(0).config->get(CUDNN_ATTR_ENGINECFG_ENGINE, engine);
  return engine.get<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
}

}  // namespace

// The reason why the plugin applies bias and ReLU in a separate pass only for depthwise convolutions.
TEST_CASE("convolutions with fused bias and ReLU use the engine of plain ones unless they are depthwise") {
  for (const Geometry& g : kGeometries)
    for (const bool last : {false, true}) {
      if (last && g.in.size() == 3) continue;
      INFO(g.name << (last ? ", channels-last" : ", contiguous"));
      const bool depthwise = std::string(g.name) == "depthwise";
      const std::vector<Plan> plain = Request(g, DnnConv::forward, kFloat, last).plans(1);
      for (const bool relu : {false, true}) {
        const std::vector<Plan> fused = Request(g, DnnConv::forward, kFloat, last, true, relu).plans(1);
        REQUIRE_FALSE(fused.empty());
        CHECK(fused[0].workspace <= plain.at(0).workspace);
        CHECK((fused[0].notes == plain[0].notes) == !depthwise);
      }
    }
  // The plain convolution has an engine that no other convolution gets, also in 16 bits.
  for (const DType dtype : {kFloat, kHalf, kBFloat16})
    for (const bool last : {false, true}) {
      const std::int64_t own = first_engine({kGeometries[3], DnnConv::forward, dtype, last});
      CHECK(own != first_engine({kGeometries[3], DnnConv::forward, dtype, last, true}));
      CHECK(own != first_engine({kGeometries[0], DnnConv::forward, dtype, last}));
    }
}

TEST_CASE("16-bit convolutions use tensor cores and accumulate in float") {
  for (const DType dtype : {kHalf, kBFloat16})
    for (const DnnConv kind : {DnnConv::forward, DnnConv::input, DnnConv::weight}) {
      const std::vector<Plan> plans = Request(kGeometries[0], kind, dtype, true).plans(100);
      CHECK(has_note(plans.at(0), CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
      CHECK_FALSE(any_with(plans, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION));
      CHECK_FALSE(any_with(plans, CUDNN_NUMERICAL_NOTE_WINOGRAD));
    }
}

TEST_CASE("16-bit convolutions need less workspace in channels-last layout") {
  for (const DType dtype : {kHalf, kBFloat16})
    for (const DnnConv kind : {DnnConv::forward, DnnConv::input, DnnConv::weight}) {
      const auto workspace = [&](bool last) {
        return Request(kGeometries[0], kind, dtype, last).plans(1).at(0).workspace;
      };
      CHECK(workspace(true) < workspace(false) / 8);
    }
}

TEST_CASE("convolution plans respect the workspace limit, or need the least workspace if no plan can") {
  const Request request(kGeometries[0], DnnConv::forward, kBFloat16, false);
  const std::vector<Plan> all = request.plans(100);
  REQUIRE(all.at(0).workspace > 4096);
  for (const Plan& plan : request.plans(100, 4096)) CHECK(plan.workspace <= 4096);
  const std::vector<Plan> least = request.plans(100, -1);
  REQUIRE(least.size() == 1);
  for (const Plan& plan : all) CHECK(least[0].workspace <= plan.workspace);
}

TEST_CASE("convolutions with asymmetric padding have plans") {
  // "same" padding with an even kernel: the output is as large as the input, with one more row of padding at
  // the end.
  const Geometry even{"same", {4, 8, 12, 12}, {8, 8, 4, 4}, 1, 1};
  for (const DnnConv kind : {DnnConv::forward, DnnConv::input, DnnConv::weight}) {
    Request request(even, kind, kFloat, false);
    request.out = array({4, 8, 12, 12}, kFloat);
    CHECK_FALSE(request.plans(1).empty());
  }
}

TEST_CASE("gradients of transposed convolutions with an output_padding have plans") {
  // The last rows of the input are not covered by any window.
  const Geometry g{"beyond", {4, 8, 14, 14}, {8, 8, 3, 3}, 2, 1};
  for (const DnnConv kind : {DnnConv::forward, DnnConv::input, DnnConv::weight})
    for (const DType dtype : {kFloat, kBFloat16}) CHECK_FALSE(Request(g, kind, dtype, true).plans(1).empty());
}

TEST_CASE("cuDNN accepts the variant pack of a convolution plan") {
  for (const bool with_bias : {false, true}) {
    const Request request(kGeometries[0], DnnConv::forward, kFloat, true, with_bias);
    for (const std::uintptr_t workspace : {std::uintptr_t{0}, std::uintptr_t{8192}})
      CHECK_NOTHROW(variant_pack(task_of(request.convolution), reinterpret_cast<void*>(workspace)));
  }
}

TEST_CASE("convolutions have plans for misaligned memory") {
  for (const DType dtype : {kFloat, kHalf, kDouble}) {
    const Request request(kGeometries[0], DnnConv::forward, dtype, true, true, true,
                          4096 + static_cast<std::uintptr_t>(element_size(dtype)));
    CHECK(task_of(request.convolution).problem.alignment == element_size(dtype));
    CHECK_FALSE(request.plans(1).empty());
  }
}

TEST_CASE("convolution problem keys differ if one property that plans depend on differs") {
  const auto bytes = [](const Request& request) {
    const Problem p = task_of(request.convolution).problem;
    return std::string(reinterpret_cast<const char*>(&p), sizeof(p));
  };
  const Geometry& g = kGeometries[0];
  const std::string base = bytes({g, DnnConv::forward, kFloat, false});
  CHECK(base == bytes({g, DnnConv::forward, kFloat, false, false, false, 8192}));
  CHECK(base != bytes({g, DnnConv::input, kFloat, false}));
  CHECK(base != bytes({g, DnnConv::forward, kHalf, false}));
  CHECK(base != bytes({g, DnnConv::forward, kFloat, true}));
  CHECK(base != bytes({g, DnnConv::forward, kFloat, false, true}));
  CHECK(base != bytes({g, DnnConv::forward, kFloat, false, false, false, 4100}));
  CHECK(base != bytes({kGeometries[5], DnnConv::forward, kFloat, false}));
  for (void (*const set)(bool) : {&allow_tf32, &use_deterministic_algorithms, &benchmark_convolutions}) {
    const Setting setting(set, true);
    CHECK(base != bytes({g, DnnConv::forward, kFloat, false}));
  }
}

// Descriptors.

TEST_CASE("an error of cuDNN contains its function and status") {
  Descriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  try {
    tensor.finalize();
    FAIL("a tensor without sizes was accepted");
  } catch (const Failure& f) {
    CHECK(std::string(f.what()).starts_with("cudnnBackendFinalize: CUDNN_STATUS_BAD_PARAM"));
    CHECK_FALSE(f.is_unsupported());
  }
}

// ReLU after a convolution keeps NaN. cuDNN returns 0 for NaN by default, and the text of a plan does not
// contain the NaN mode.

namespace {

// A convolution with a bias and optionally ReLU.
struct RequestWithBias {
  NdArray x, w, b;
  DimVector one = {1, 1};
  Task task;

  RequestWithBias(DType dtype, bool last, bool relu)
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

// Records the NaN mode that is set, with a function that overrides cuDNN's, because cuDNN cannot be queried
// later.
class NanModeRecorder {
 public:
  static inline std::vector<cudnnNanPropagation_t> seen;
  NanModeRecorder() {
    seen.clear();
    through_ = std::exchange(changeable().set_attribute, &set);
  }
  ~NanModeRecorder() { changeable().set_attribute = through_; }
  NanModeRecorder(const NanModeRecorder&) = delete;

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

TEST_CASE("ReLU after a convolution is described as propagating NaN") {
  for (const DType dtype : {kFloat, kHalf, kBFloat16, kDouble})
    for (const bool last : {false, true}) {
      INFO(to_string(dtype) << (last ? ", channels-last" : ", contiguous"));
      const NanModeRecorder recorder;
      CHECK(RequestWithBias(dtype, last, true).made().plan);
      CHECK(NanModeRecorder::seen == std::vector{CUDNN_PROPAGATE_NAN});
    }
}

TEST_CASE("plans with ReLU are not serialized because the text of a plan omits the NaN mode") {
  const Answer answer = RequestWithBias(kFloat, false, true).made();
  REQUIRE(answer.plan);
  const std::string text = text_of(*answer.plan);
  CHECK(text.find("RELU") != text.npos);
  CHECK(text.find("CUDNN_PROPAGATE_NAN") == text.npos);  // otherwise this case would be pointless
  for (const bool relu : {false, true}) {
    const RequestWithBias request(kFloat, false, relu);
    const support::Folder folder;
    int count = 0;
    for (int run = 0; run < 2; ++run) {
      PlanFiles files(folder.path(), "a device");
      SharedPlans shared(files, 10);
      const auto make = [&] {
        ++count;
        return request.made();
      };
      for (int i = 0; i < 3; ++i)
        CHECK(shared.answer_to(request.task.problem, described_target(), make).plan);
    }
    CHECK(count == (relu ? 6 : 1));
    CHECK(std::filesystem::is_empty(folder.path()) == relu);
  }
}

// Every pooling that ops hand to cuDNN, planned for a device that is only described.
#include <ebb/cuda/cuda.h>

#include <string>

#include "cuda/dnn/plans.h"
#include "support/catch.h"

using namespace ebb;
using namespace ebb::cuda;
using namespace ebb::cuda::dnn;

namespace {

struct Geometry {
  const char* name;
  DimVector in;
  std::int64_t window, stride, padding = 0;
  bool rounds_up = false;
};
const Geometry kGeometries[] = {
    {"2x2", {32, 64, 28, 28}, 2, 2},           {"3x3", {8, 64, 57, 57}, 3, 2, 1},
    {"overlapping", {3, 3, 9, 8}, 3, 1, 1},    {"odd sizes", {3, 5, 7, 9}, 3, 2, 1},
    {"whole planes", {8, 64, 7, 7}, 7, 7},     {"rounded up", {2, 8, 10, 11}, 3, 2, 0, true},
    {"one axis", {4, 8, 1, 20}, 3, 2, 1},      {"three axes", {4, 16, 8, 14, 14}, 3, 2, 1},
    {"one of everything", {1, 1, 1, 1}, 1, 1},
};

struct Asked {
  DimVector window, stride, padding, out_sizes;
  NdArray in, out;
  DnnPooling pooling;

  Asked(const Geometry& g, DnnPool kind, bool transposed, DType dtype, bool last)
      : out_sizes(g.in),
        in(array(g.in, dtype, last)),
        out(array(result_sizes(g), dtype, last)),
        pooling{.kind = kind,
                .transposed = transposed,
                .in = in,
                .out = out,
                .window = window,
                .stride = stride,
                .padding = padding} {}

  DimVector result_sizes(const Geometry& g) {
    for (std::size_t d = 2; d < g.in.size(); ++d) {
      const bool is_axis = g.in[d] > 1 || g.window == 1;  // an axis of size 1 stands in front
      window.push_back(is_axis ? g.window : 1);
      stride.push_back(is_axis ? g.stride : 1);
      padding.push_back(is_axis ? g.padding : 0);
      const std::int64_t room = g.in[d] + 2 * padding.back() - window.back();
      out_sizes[d] = (g.rounds_up ? room + stride.back() - 1 : room) / stride.back() + 1;
    }
    return out_sizes;
  }
  std::vector<Plan> plans() const { return plans_of(task_of(pooling)); }
};

constexpr DnnPool kKinds[] = {DnnPool::mean, DnnPool::mean_inside};

template <class Check>
void for_each_case(const Check& check) {
  for (const Geometry& g : kGeometries)
    for (const DnnPool kind : kKinds)
      for (const bool transposed : {false, true}) {
        if (kind == DnnPool::mean && g.rounds_up) continue;
        INFO(g.name << ", kind " << static_cast<int>(kind) << (transposed ? ", transposed" : ""));
        check(g, kind, transposed);
      }
}

}  // namespace

TEST_CASE("every contiguous mean has a plan") {
  std::size_t made = 0;
  for_each_case([&](const Geometry& g, DnnPool kind, bool transposed) {
    for (const DType dtype : {kFloat, kHalf, kBFloat16, kDouble}) {
      if (g.in[1] == 1 && dtype != kDouble) continue;  // which are channels-last as well
      INFO(to_string(dtype));
      CHECK_FALSE(Asked(g, kind, transposed, dtype, false).plans().empty());
      ++made;
    }
  });
  CHECK(made == 124);
}

TEST_CASE("channels-last means of 16-bit floats have plans") {
  for_each_case([](const Geometry& g, DnnPool kind, bool transposed) {
    const bool is_sample = g.in.size() == 5 || g.rounds_up || g.name == std::string("3x3");
    if (!is_sample) return;  // a plan means a kernel compiled
    CHECK_FALSE(Asked(g, kind, transposed, kBFloat16, true).plans().empty());
  });
}

TEST_CASE("maxima are left to engines that promise to keep NaN") {
  for (const DType dtype : {kFloat, kBFloat16})
    for (const bool last : {false, true})
      for (const Plan& plan : Asked(kGeometries[0], DnnPool::max, false, dtype, last).plans())
        CHECK(has_note(plan, CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP));
}

TEST_CASE("channels-last means of floats over two axes have exact plans") {
  for (const DnnPool kind : kKinds) {
    const std::vector<Plan> plans = Asked(kGeometries[1], kind, false, kFloat, true).plans();
    REQUIRE_FALSE(plans.empty());
    CHECK_FALSE(has_note(plans[0], CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
  }
}

TEST_CASE("poolings never round to TF32") {
  allow_tf32(true);
  const Problem problem = task_of(Asked(kGeometries[0], DnnPool::mean, true, kFloat, true).pooling).problem;
  allow_tf32(false);
  CHECK_FALSE(is_allowed(problem, CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
}

TEST_CASE("poolings are told apart by what their plans depend on") {
  const auto bytes = [](const Geometry& g, DnnPool kind, bool transposed) {
    const Problem p = task_of(Asked(g, kind, transposed, kFloat, false).pooling).problem;
    return std::string(reinterpret_cast<const char*>(&p), sizeof(p));
  };
  Geometry g = kGeometries[2];
  const std::string base = bytes(g, DnnPool::mean, false);
  CHECK(base == bytes(g, DnnPool::mean, false));
  CHECK(base != bytes(g, DnnPool::mean, true));
  CHECK(base != bytes(g, DnnPool::max, false));
  CHECK(base != bytes(g, DnnPool::mean_inside, false));
  g.window = 2, g.padding = 0;
  const std::string narrow = bytes(g, DnnPool::mean, false);
  g.window = 1;
  CHECK(narrow != bytes(g, DnnPool::mean, false));
}

TEST_CASE("what an execution of a pooling binds is accepted") {
  const Asked asked(kGeometries[0], DnnPool::max, false, kFloat, true);
  CHECK_NOTHROW(variant_pack(task_of(asked.pooling), nullptr));
}

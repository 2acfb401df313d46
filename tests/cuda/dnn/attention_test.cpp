// Attention with cuDNN: plans for the calls of ops, on a described device.
#include <ebb/core/deterministic.h>

#include "cuda/dnn/plans.h"
#include "support/catch.h"

#include <string>

using namespace ebb;
using namespace ebb::cuda;
using namespace ebb::cuda::dnn;

namespace {

struct Geometry {
  std::int64_t batch, heads, key_heads, queries, keys, width, value_width;
};

struct Request {
  NdArray query, key, value, result, log_sum, key_grad, value_grad, query_grad, query_sum;
  DnnAttention forward;

  // `interleaved`: the memory layout is (N, L, H, .), as after projections.
  Request(const Geometry& g, DType dtype, bool causal, bool interleaved = false)
      : query(heads({g.batch, g.heads, g.queries, g.width}, dtype, interleaved)),
        key(heads({g.batch, g.key_heads, g.keys, g.width}, dtype, interleaved)),
        value(heads({g.batch, g.key_heads, g.keys, g.value_width}, dtype, interleaved)),
        result(array({g.batch, g.heads, g.queries, g.value_width}, dtype)),
        log_sum(array({g.batch, g.heads, g.queries}, kFloat)),
        key_grad(array(DimVector(key.sizes()), dtype)),
        value_grad(array(DimVector(value.sizes()), dtype)),
        query_grad(array(DimVector(query.sizes()), dtype)),
        query_sum(array(DimVector(query.sizes()), kFloat)),
        forward{.query = query,
                .key = key,
                .value = value,
                .result = result,
                .log_sum = log_sum,
                .scale = 0.125F,
                .causal = causal} {}
  Request(const Request&) = delete;

  static NdArray heads(const DimVector& sizes, DType dtype, bool interleaved) {
    if (!interleaved) return array(sizes, dtype);
    const std::int64_t row = sizes[1] * sizes[3];
    return array(sizes, dtype).as_strided(sizes, {sizes[2] * row, sizes[3], row, 1}, 0);
  }
  DnnAttentionBackward backward() const {
    return {.forward = forward,
            .grad = result,
            .dquery = query_grad,
            .dkey = key_grad,
            .dvalue = value_grad,
            .query_sum = query_sum,
            .delta = log_sum};
  }
};

// A plan requires compiled kernels, so there are only a few cases of each kind.
struct Case {
  Geometry geometry;
  DType dtype;
  bool causal, interleaved;
};
const Case kCases[] = {{{2, 4, 4, 256, 256, 64, 64}, kHalf, false, true},
                       {{1, 3, 3, 65, 131, 64, 64}, kBFloat16, true, false},
                       {{2, 8, 2, 128, 128, 128, 128}, kBFloat16, true, true},
                       {{1, 4, 1, 100, 333, 96, 64}, kHalf, false, false},
                       {{1, 2, 2, 128, 64, 256, 256}, kHalf, true, true},
                       {{2, 2, 2, 1, 77, 64, 64}, kBFloat16, false, true},
                       {{1, 2, 2, 70, 40, 8, 8}, kHalf, true, false}};

std::string bytes_of(const Problem& p) { return {reinterpret_cast<const char*>(&p), sizeof(p)}; }

}  // namespace

TEST_CASE("attention has cuDNN plans for forward and backward") {
  for (const auto& [g, dtype, causal, interleaved] : kCases) {
    INFO(g.heads << " heads of " << g.width << " and " << g.value_width << ", " << g.queries << " queries, "
                 << g.keys << " keys" << (causal ? ", causal" : "") << ", " << to_string(dtype));
    const Request request(g, dtype, causal, interleaved);
    const std::vector<Plan> forward = plans_of(task_of(request.forward)),
                            backward = plans_of(task_of(request.backward()));
    REQUIRE(forward.size() == 1);
    REQUIRE(backward.size() == 1);
    // The scores are not stored. Heads that share a key get separate gradients of it before these are summed.
    CHECK(forward[0].workspace < 4096);
    const std::int64_t apart = g.batch * g.heads * g.keys * (g.width + g.value_width) * 2;
    CHECK(backward[0].workspace < 4096 + (g.heads == g.key_heads ? 0 : apart));
  }
}

TEST_CASE("cuDNN attention engines with atomic sums do not have the note NONDETERMINISTIC") {
  // If there were a note, ops could use it to avoid cuDNN in deterministic mode.
  const Request request(kCases[0].geometry, kHalf, false);
  const std::vector<Plan> plans = plans_of(task_of(request.backward()));
  REQUIRE(plans.size() == 1);
  CHECK_FALSE(has_note(plans[0], CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC));
}

TEST_CASE("attention problem keys differ in every property that plans depend on") {
  const Geometry g = kCases[0].geometry;
  const Request plain(g, kHalf, false), causal(g, kHalf, true), interleaved(g, kHalf, false, true),
      other(g, kBFloat16, false);
  Request scaled(g, kHalf, false);
  scaled.forward.scale = 3;
  const std::string bytes = bytes_of(task_of(plain.forward).problem);
  CHECK(bytes_of(task_of(scaled.forward).problem) == bytes);
  CHECK(bytes_of(task_of(causal.forward).problem) != bytes);
  CHECK(bytes_of(task_of(interleaved.forward).problem) != bytes);
  CHECK(bytes_of(task_of(other.forward).problem) != bytes);
  CHECK(bytes_of(task_of(plain.backward()).problem) != bytes);
}

TEST_CASE("attention problem keys ignore strides of dimensions of size 1") {
  const Geometry g{1, 1, 1, 64, 64, 32, 32};
  const Request plain(g, kHalf, false), interleaved(g, kHalf, false, true);
  Request strange(g, kHalf, false);
  strange.query = array({1, 1, 64, 32}, kHalf).as_strided({1, 1, 64, 32}, {8, 99999, 32, 1}, 0);
  CHECK(bytes_of(task_of(interleaved.forward).problem) == bytes_of(task_of(plain.forward).problem));
  CHECK(bytes_of(task_of(strange.forward).problem) == bytes_of(task_of(plain.forward).problem));
}

TEST_CASE("cuDNN accepts the variant pack of an attention plan") {
  const Request request(kCases[0].geometry, kHalf, true);
  const Task forward = task_of(request.forward), backward = task_of(request.backward());
  CHECK_NOTHROW(variant_pack(forward, nullptr));
  CHECK_NOTHROW(variant_pack(backward, reinterpret_cast<void*>(8192)));
  // The scale is read from memory of the caller.
  CHECK(*static_cast<const float*>(forward.memory.front()) == 0.125F);
}

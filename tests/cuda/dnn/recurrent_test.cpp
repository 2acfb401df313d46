// Recurrent layers with cuDNN: descriptors, and the offsets of parameters. Both need no device.
#include "cuda/nvidia/dnn/recurrent.h"

#include <ebb/cuda/cuda.h>

#include "cuda/dnn/plans.h"
#include "support/catch.h"

#include <dlfcn.h>

#include <cstring>
#include <functional>
#include <string>

using namespace ebb;
using namespace ebb::cuda;
using namespace ebb::cuda::dnn;

namespace {

const std::vector<std::int32_t> kEven = {4, 4, 4}, kUneven = {4, 2, 1};

// The offset at which cuDNN 9.19 stores the device version in a handle, found by experiment. Other versions
// may differ.
constexpr std::size_t kDeviceAt = 104;
bool knows_device() { return library().version() / 100 == 919; }

// A zeroed handle with only the device set, an sm_90. Functions that describe parameters only check that it
// is not null, and functions that compute check the device first.
cudnnHandle_t described_handle() {
  static std::vector<char> bytes = [] {
    constexpr int kVersion = 900;
    std::vector<char> all(1 << 20);
    if (knows_device()) std::memcpy(all.data() + kDeviceAt, &kVersion, sizeof(kVersion));
    return all;
  }();
  return reinterpret_cast<cudnnHandle_t>(bytes.data());
}

DnnRnn layer_of(DnnCell cell, DType dtype = kFloat, std::int64_t directions = 1) {
  DnnRnn l;
  l.cell = cell;
  l.dtype = dtype;
  l.directions = directions;
  l.features = 5;
  l.hidden = l.projected = 6;
  l.training = true;
  l.lengths = kEven;
  return l;
}

template <class Check>
void for_each_layer(const Check& check) {
  for (const DnnCell cell : {DnnCell::tanh, DnnCell::relu, DnnCell::lstm, DnnCell::gru})
    for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16})
      for (const std::int64_t directions : {1, 2})
        for (const bool even : {true, false})
          for (const bool biases : {true, false})
            for (const std::int64_t projected : {6, 4}) {
              if (projected == 4 && cell != DnnCell::lstm) continue;
              DnnRnn l = layer_of(cell, dtype, directions);
              l.lengths = even ? kEven : kUneven;
              l.biases = biases;
              l.projected = projected;
              INFO("cell " << static_cast<int>(cell) << ' ' << to_string(dtype) << ", " << directions
                           << (even ? " even" : " uneven") << (biases ? ", biases" : "") << ", projected "
                           << projected);
              check(l);
            }
}

// A function of the library that the plugin does not call.
template <class F>
F* function(const char* name) {
  Dl_info info{};
  REQUIRE(dladdr(reinterpret_cast<void*>(library().version), &info) != 0);
  void* const found = dlsym(dlopen(info.dli_fname, RTLD_NOW), name);
  REQUIRE(found);
  return reinterpret_cast<F*>(found);
}

std::optional<DnnRnnSpaces> places(const DnnRnn& l) { return places_of(described_handle(), l, Recurrent(l)); }

struct Described {
  cudnnRNNAlgo_t algorithm;
  cudnnRNNMode_t mode;
  cudnnRNNBiasMode_t biases;
  cudnnDirectionMode_t direction;
  cudnnRNNInputMode_t input;
  cudnnDataType_t data, math;
  cudnnMathType_t cores;
  std::int32_t features, hidden, projected, layers;
  cudnnDropoutDescriptor_t dropout;
  std::uint32_t flags;

  explicit Described(const DnnRnn& l) {
    const Recurrent r(l);
    REQUIRE(function<decltype(cudnnGetRNNDescriptor_v8)>("cudnnGetRNNDescriptor_v8")(
                r.layer.raw(), &algorithm, &mode, &biases, &direction, &input, &data, &math, &cores,
                &features, &hidden, &projected, &layers, &dropout, &flags) == CUDNN_STATUS_SUCCESS);
  }
};

}  // namespace

TEST_CASE("all kinds of recurrent layers have descriptors and parameter offsets") {
  for_each_layer([](const DnnRnn& l) {
    const std::optional<DnnRnnSpaces> spaces = places(l);
    REQUIRE(spaces);
    const std::int64_t gates = l.cell == DnnCell::lstm  ? 4
                               : l.cell == DnnCell::gru ? 3
                                                        : 1,
                       width = gates * l.hidden, element = element_size(l.dtype);
    const bool projects = l.projected < l.hidden;
    const std::int64_t sizes[] = {width * l.features, width * l.projected, l.biases ? width : 0,
                                  l.biases ? width : 0, projects ? l.projected * l.hidden : 0};
    std::int64_t all = 0;
    for (const std::int64_t size : sizes) all += size * element * l.directions;
    CHECK(spaces->parameters == all);
    // Each parameter is inside, aligned to elements, and overlaps no other.
    std::vector<char> taken(static_cast<std::size_t>(all));
    for (std::int64_t d = 0; d < l.directions; ++d)
      for (int i = 0; i < 5; ++i) {
        const std::int64_t place = spaces->place[d][i], bytes = sizes[i] * element;
        CHECK((place >= 0) == (bytes > 0));
        if (bytes == 0) continue;
        CHECK(place % element == 0);
        REQUIRE(place + bytes <= all);
        for (std::int64_t b = place; b < place + bytes; ++b) CHECK(taken[static_cast<std::size_t>(b)]++ == 0);
      }
  });
}

TEST_CASE("recurrent layers compute in float or double and use TF32 only if allowed") {
  const auto cores = [](DType dtype) { return Described(layer_of(DnnCell::lstm, dtype)).cores; };
  CHECK(cores(kFloat) == CUDNN_FMA_MATH);
  allow_tf32(true);
  CHECK(cores(kFloat) == CUDNN_DEFAULT_MATH);
  allow_tf32(false);
  for (const DType dtype : {kHalf, kBFloat16}) {
    CHECK(cores(dtype) == CUDNN_TENSOR_OP_MATH);
    CHECK(Described(layer_of(DnnCell::gru, dtype)).math == CUDNN_DATA_FLOAT);
  }
  CHECK(Described(layer_of(DnnCell::gru, kDouble)).math == CUDNN_DATA_DOUBLE);
}

TEST_CASE("descriptors of recurrent layers have the properties of the layers") {
  for_each_layer([](const DnnRnn& l) {
    const Described d(l);
    CHECK(d.features == 5);
    CHECK(d.hidden == 6);
    CHECK(d.projected == l.projected);
    CHECK(d.layers == 1);
    CHECK(d.dropout == nullptr);
    CHECK(d.input == CUDNN_LINEAR_INPUT);
    CHECK(d.direction == (l.directions == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL));
    CHECK(d.biases == (l.biases ? CUDNN_RNN_DOUBLE_BIAS : CUDNN_RNN_NO_BIAS));
    CHECK(d.flags == (l.is_even() ? CUDNN_RNN_PADDED_IO_ENABLED : CUDNN_RNN_PADDED_IO_DISABLED));
  });
  CHECK(Described(layer_of(DnnCell::tanh)).mode == CUDNN_RNN_TANH);
  CHECK(Described(layer_of(DnnCell::relu)).mode == CUDNN_RNN_RELU);
  CHECK(Described(layer_of(DnnCell::lstm)).mode == CUDNN_LSTM);
  CHECK(Described(layer_of(DnnCell::gru)).mode == CUDNN_GRU);
}

TEST_CASE("descriptors of recurrent sequences have the properties of the sequences") {
  for_each_layer([](const DnnRnn& l) {
    const Recurrent r(l);
    for (const auto& [descriptor, width] :
         {std::pair{r.rows.raw(), l.features}, std::pair{r.result.raw(), l.directions * l.projected}}) {
      cudnnDataType_t type{};
      cudnnRNNDataLayout_t layout{};
      int steps = 0, batch = 0, size = 0, lengths[3] = {};
      double padding = 0;
      REQUIRE(function<decltype(cudnnGetRNNDataDescriptor)>("cudnnGetRNNDataDescriptor")(
                  descriptor, &type, &layout, &steps, &batch, &size, 3, lengths, &padding) ==
              CUDNN_STATUS_SUCCESS);
      CHECK(layout == (l.is_even() ? CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED
                                   : CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED));
      CHECK(steps == 4);
      CHECK(batch == 3);
      CHECK(size == width);
      CHECK(std::equal(lengths, lengths + 3, l.lengths.begin()));
    }
  });
}

TEST_CASE("the persistent algorithm is selected only for small recurrent layers") {
  const auto of = [](DnnCell cell, std::int64_t hidden, bool training, DType dtype = kHalf) {
    DnnRnn l = layer_of(cell, dtype);
    l.hidden = l.projected = hidden;
    l.training = training;
    return algorithm_of(l);
  };
  constexpr auto kSmall = CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H, kAny = CUDNN_RNN_ALGO_STANDARD;
  for (const DnnCell cell : {DnnCell::lstm, DnnCell::gru}) {
    CHECK(of(cell, 128, true) == kSmall);
    CHECK(of(cell, 129, true) == kAny);
    CHECK(of(cell, 192, false) == kSmall);
    CHECK(of(cell, 193, false) == kAny);
  }
  CHECK(of(DnnCell::tanh, 256, true) == kSmall);
  CHECK(of(DnnCell::tanh, 257, true) == kAny);
  CHECK(of(DnnCell::tanh, 384, false) == kSmall);
  CHECK(of(DnnCell::tanh, 385, false) == kAny);
  CHECK(of(DnnCell::lstm, 64, true, kDouble) == kAny);
  // cuDNN rounds its float inputs.
  CHECK(of(DnnCell::lstm, 64, true, kFloat) == kAny);
  allow_tf32(true);
  CHECK(of(DnnCell::lstm, 64, true, kFloat) == kSmall);
  allow_tf32(false);
  DnnRnn l = layer_of(DnnCell::lstm, kHalf);
  CHECK(Described(l).algorithm == kSmall);
  l.projected = 4;
  CHECK(algorithm_of(l) == kAny);
  l = layer_of(DnnCell::lstm, kHalf);
  l.lengths = kUneven;
  CHECK(algorithm_of(l) == kAny);
  l = layer_of(DnnCell::lstm, kHalf);
  l.biases = false;
  CHECK(algorithm_of(l) == kAny);
}

namespace {

// Arrays of a layer that are never read.
struct Arrays {
  NdArray rows, hidden, cell, parameters, result, kept, work;

  explicit Arrays(const DnnRnn& l) {
    std::int64_t count = 0;
    for (const std::int32_t n : l.lengths) count += n;
    const auto bytes = [](std::int64_t n) { return array({n}, kByte); };
    rows = array({count, l.features}, l.dtype);
    hidden = array({l.directions, l.batch(), l.projected}, l.dtype);
    if (l.cell == DnnCell::lstm) cell = array({l.directions, l.batch(), l.hidden}, l.dtype);
    parameters = bytes(places(l)->parameters);
    result = array({count, l.directions * l.projected}, l.dtype);
    if (l.training) kept = bytes(1 << 26);
    work = bytes(1 << 26);
  }
  DnnRnnArrays read() const {
    return {.rows = rows,
            .hidden = hidden,
            .cell = cell,
            .parameters = parameters,
            .result = result,
            .kept = kept};
  }
  void forward(const DnnRnn& l) const {
    run_forward(described_handle(), l, Recurrent(l), read(), hidden, cell, work);
  }
  void backward(const DnnRnn& l) const {
    run_backward(described_handle(), l, Recurrent(l), read(),
                 {.result = result,
                  .last_hidden = hidden,
                  .last_cell = cell,
                  .drows = rows,
                  .dhidden = hidden,
                  .dcell = cell,
                  .dparameters = parameters},
                 work);
  }
  void backward_to_parameters(const DnnRnn& l) const {
    run_backward_to_parameters(described_handle(), Recurrent(l), read(), parameters, work);
  }
};

// cuDNN's message for a call.
std::string verdict(const std::function<void()>& call) {
  try {
    call();
  } catch (const Failure& f) {
    return f.what();
  }
  return "success";
}

}  // namespace

TEST_CASE("arguments of recurrent layers pass the checks of cuDNN") {
  // The checks come before cuDNN looks for a device.
  const auto passes = [](const std::string& words) {
    INFO(words);
    CHECK(words.find("CUDNN_STATUS_BAD_PARAM") == words.npos);
    CHECK(words.find("CUDNN_STATUS_EXECUTION_FAILED_CUDART") != words.npos);
  };
  const auto fails = [](const std::string& words) {
    CHECK(words.find("CUDNN_STATUS_BAD_PARAM") != words.npos);
  };
  const auto check = [&](DnnRnn l) {
    const bool asks_device = l.dtype == kBFloat16 || algorithm_of(l) != CUDNN_RNN_ALGO_STANDARD;
    if (asks_device && !knows_device()) return;
    passes(verdict([&] { Arrays(l).forward(l); }));
    passes(verdict([&] { Arrays(l).backward(l); }));
    passes(verdict([&] { Arrays(l).backward_to_parameters(l); }));
    Arrays wrong(l);
    wrong.parameters = array({wrong.parameters.numel() - 1}, kByte);
    fails(verdict([&] { wrong.forward(l); }));
    fails(verdict([&] { wrong.backward(l); }));
    fails(verdict([&] { wrong.backward_to_parameters(l); }));
    wrong = Arrays(l);
    wrong.kept = array({4}, kByte);
    fails(verdict([&] { wrong.forward(l); }));
    fails(verdict([&] { wrong.backward(l); }));
    fails(verdict([&] { wrong.backward_to_parameters(l); }));
    l.training = false;
    passes(verdict([&] { Arrays(l).forward(l); }));
  };
  for_each_layer([&](DnnRnn l) {
    check(l);
    if (l.projected == l.hidden) l.projected = 400;  // above the limit of the algorithm for small layers
    l.hidden = 400;
    check(l);
  });
}

TEST_CASE("the sublibraries for recurrent layers are installed with cuDNN") { CHECK(has_recurrent_layers()); }

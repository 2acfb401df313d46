// NVTX ranges on the timeline of a profiler; the emulation records them.
#include <ebb/ebb.h>

#include "cuda/unit/against_cpu.h"
#include "support/catch.h"

#include <dlfcn.h>
#include <link.h>

#include <regex>
#include <thread>

using namespace ebb;
using support::Contains;

namespace {

const TensorOptions kOnCuda(Device::CUDA);

// A function of the plugin, which was opened with local symbols.
template <class F>
F* of_plugin(const char* name) {
  std::string path;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* found) {
        const std::string file = info->dlpi_name;
        if (file.find("libebb_cuda") != file.npos) *static_cast<std::string*>(found) = file;
        return 0;
      },
      &path);
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  REQUIRE(library);
  auto* const function = reinterpret_cast<F*>(dlsym(library, name));
  dlclose(library);
  REQUIRE(function);
  return function;
}

// The ranges that a profiler records during the call: one line each, nested ranges indented.
template <class Call>
std::string heard(const Call& call) {
  of_plugin<void()>("ebb_emu_nvtx_listen")();
  call();
  std::string text;
  of_plugin<void(void (*)(void*, const char*), void*)>("ebb_emu_nvtx_heard")(
      [](void* to, const char* line) { *static_cast<std::string*>(to) = line; }, &text);
  return text;
}

// Sequence numbers of nodes count over the whole run: the first recorded one becomes 0.
std::string with_small_numbers(std::string text) {
  const std::regex number("seq = ([0-9]+)");
  std::smatch match;
  if (!std::regex_search(text, match, number)) return text;
  std::string out;
  std::uint64_t least = ~std::uint64_t{0};
  for (auto at = std::sregex_iterator(text.begin(), text.end(), number); at != std::sregex_iterator(); ++at)
    least = std::min<std::uint64_t>(least, std::stoull((*at)[1]));
  std::size_t end = 0;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), number); at != std::sregex_iterator(); ++at) {
    out += text.substr(end, static_cast<std::size_t>(at->position(1)) - end);
    out += std::to_string(std::stoull((*at)[1]) - least);
    end = static_cast<std::size_t>(at->position(1) + at->length(1));
  }
  return out + text.substr(end);
}

struct NetImpl : nn::Module {
  nn::Linear first{nullptr};
  nn::Sequential rest{nullptr};
  NetImpl() {
    first = register_module("first", nn::Linear(3, 4));
    rest = register_module("rest", nn::Sequential(nn::ReLU(), nn::Linear(4, 2)));
  }
  Variable forward(const Variable& x) { return rest->forward(first->forward(x)); }
};
EBB_MODULE(Net);

}  // namespace

TEST_CASE("nvtx ranges nest and unbalanced calls are reported") {
  if (is_real_device()) return;
  int depths[4] = {};
  const std::string text = heard([&] {
    depths[0] = cuda::nvtx::range_push("outer");
    {
      const cuda::nvtx::Range inner(std::string("inner"));
      cuda::nvtx::mark("here");
      depths[1] = cuda::nvtx::range_push("innermost");
      depths[2] = cuda::nvtx::range_pop();
    }
    depths[3] = cuda::nvtx::range_pop();
    cuda::nvtx::range_pop();
    cuda::nvtx::range_push("left open");
  });
  CHECK(text ==
        "outer\n  inner\n    mark here\n    innermost\nerror: nothing to pop\nleft open\nerror: 1 open\n");
  CHECK(depths[0] == 0);
  CHECK(depths[1] == 2);
  CHECK(depths[2] == 2);
  CHECK(depths[3] == 0);
}

TEST_CASE("an nvtx range may end in another thread") {
  if (is_real_device()) return;
  const std::string text = heard([] {
    const std::uint64_t first = cuda::nvtx::range_start("first"), second = cuda::nvtx::range_start("second");
    CHECK(first != second);
    std::thread([&] { cuda::nvtx::range_end(first); }).join();
    cuda::nvtx::range_end(second);
  });
  CHECK(text == "start first\nstart second\nend first\nend second\n");
}

TEST_CASE("nvtx ranges are emitted only under EmitNvtx") {
  const Tensor x = ones({3}, kOnCuda);
  CHECK_FALSE(cuda::is_nvtx_emitted());
  {
    const cuda::EmitNvtx outer;
    CHECK(cuda::is_nvtx_emitted());
    {
      const cuda::EmitNvtx inner(false);
      CHECK_FALSE(cuda::is_nvtx_emitted());
    }
    CHECK(cuda::is_nvtx_emitted());
    x.exp();  // nothing is recorded
  }
  CHECK_FALSE(cuda::is_nvtx_emitted());
  if (!is_real_device()) CHECK(heard([&] { x.exp(); }).empty());
}

TEST_CASE(
    "EmitNvtx emits the names of modules and the names and sequence numbers of ops and backward nodes") {
  if (is_real_device()) return;
  manual_seed(3);
  Net net;
  net->to(Device::CUDA);
  const Tensor x = ones({2, 3}, kOnCuda);
  std::string text = heard([&] {
    const cuda::EmitNvtx emit;
    net(x).sum().backward();
  });
  text = with_small_numbers(text);
  INFO(text);
  // Modules by their path in the tree, each once, around the kernels of their ops.
  const std::size_t root = text.find("Net\n");
  REQUIRE(root != text.npos);
  const std::size_t first = text.find("\n  ebb::nn::Linear first\n    ", root);
  const std::size_t relu = text.find("\n  ebb::nn::ReLU rest.0\n    relu, seq = ", root);
  const std::size_t last = text.find("\n  ebb::nn::Linear rest.1\n    ", root);
  REQUIRE(first != text.npos);
  REQUIRE(relu != text.npos);
  REQUIRE(last != text.npos);
  CHECK(first < relu);
  CHECK(relu < last);
  // The node has the sequence number of the op that recorded it; its own kernels are inside and record
  // nothing.
  const std::string number =
      text.substr(relu + std::string("\n  ebb::nn::ReLU rest.0\n    relu, ").size(), 7);
  CHECK_THAT(text, Contains("\nReluBackward0, " + number + "\n  "));
  const std::size_t backward = text.find("\nReluBackward0");
  CHECK(text.find(", seq", text.find("\n  ", backward)) > text.find('\n', text.find("\n  ", backward) + 1));
  CHECK_THAT(text, Contains("\nSumBackward0, seq = "));
  CHECK_THAT(text, Contains("AccumulateGrad\n"));
  CHECK_THAT(text, !Contains("error:"));
}

TEST_CASE("an nvtx range ends if its op throws") {
  if (is_real_device()) return;
  const std::string text = heard([] {
    const cuda::EmitNvtx emit;
    nn::Linear net(3, 4);
    net->to(Device::CUDA);
    CHECK_THROWS_AS(net(ones({2, 5}, kOnCuda)), Error);
    Tensor x = ones({2}, kOnCuda).requires_grad_();
    struct Failing : autograd::Function<Failing> {
      static Variable forward(autograd::AutogradContext*, const Variable& v) { return v * 2; }
      static autograd::variable_list backward(autograd::AutogradContext*, autograd::variable_list) {
        throw Error("no");
      }
    };
    CHECK_THROWS_AS(Failing::apply(x).sum().backward(), Error);
  });
  CHECK_THAT(text, !Contains("error:"));
  CHECK_THAT(text, Contains("Linear\n"));
}

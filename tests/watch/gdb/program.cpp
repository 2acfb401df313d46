// Objects of all kinds that the pretty printers show, for expected.txt.
#include <ebb/ebb.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace {

struct NetImpl : ebb::nn::Module {
  NetImpl() {
    fc = register_module("fc", ebb::nn::Linear(2, 1));
    ebb::NoGradGuard no_grad;
    fc->weight.fill_(0.5);
    fc->bias.fill_(-1);
    register_buffer("steps", ebb::tensor(7));
  }
  ebb::Variable forward(const ebb::Variable& x) { return fc->forward(x); }
  ebb::nn::Linear fc{nullptr};
  int rate = 3;
};

// The debugger stops here.
void stop() { asm volatile(""); }

}  // namespace

int main() {
  using namespace ebb;
  Tensor undefined;
  Tensor matrix = tensor({{1.5, 2.0, -3.25}, {0.1, 1e10, 3.4e38}});
  Tensor leaf = tensor({1.0, 2.0}, kDouble).requires_grad_();
  Tensor product = leaf * 2;
  Tensor columns = matrix.t().narrow(0, 1, 2);
  Tensor special = tensor(std::vector<double>{std::nan(""), -std::numeric_limits<double>::infinity(), -0.0});
  Tensor half = tensor({0.1, 65504.0}).to(kHalf);
  Tensor bfloat = tensor({0.1, -2.0}).to(kBFloat16);
  Tensor flags = tensor({true, false});
  Tensor bytes = tensor({200, 1}).to(kByte);
  Tensor scalar = tensor(-5);
  Tensor empty_rows = zeros({2, 0});
  Tensor longs = arange(1000);
  NdArray array = longs.array();
  const Storage& storage = *matrix.array().storage();
  alignas(NdArray) unsigned char garbage[sizeof(NdArray)];
  std::memset(garbage, 0x7F, sizeof garbage);
  const NdArray& unset = *reinterpret_cast<const NdArray*>(garbage);
  DimVector few{2, 3}, many{1, 2, 3, 4, 5, 6, 7, 8};
  Half sixteen(0.25f);
  BFloat16 brain(3.0f);
  Device cpu = Device::CPU, gpu(Device::CUDA, 1);
  const Ref<autograd::Node> node = product.grad_fn();
  const auto net = std::make_shared<NetImpl>();
  nn::Linear holder = net->fc, none(nullptr);
  stop();
  return static_cast<int>(longs.numel() + array.numel() + storage.version() + few.size() + many.size() +
                          (cpu == gpu) + (static_cast<const void*>(&unset) == garbage) +
                          (sixteen.bits + brain.bits) + undefined.defined() + columns.dim() + special.dim() +
                          half.dim() + bfloat.dim() + flags.dim() + bytes.dim() + scalar.dim() +
                          empty_rows.dim() + node->sequence_nr() + holder.is_empty() + none.is_empty()) == -1;
}

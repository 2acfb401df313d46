// A program that includes only variable.h: methods of all op families compile and link.
#include <ebb/autograd/variable.h>

#include <cstdio>

namespace {

float data[] = {1, 4, 9, 16};

ebb::Variable matrix() {
  ebb::Ref<ebb::Storage> storage =
      ebb::Storage::adopt(data, sizeof(data), ebb::Device::CPU, nullptr, nullptr);
  return ebb::Variable(ebb::NdArray(std::move(storage), {2, 2}, {2, 1}, 0, ebb::kFloat));
}

}  // namespace

int main() {
  const ebb::Variable x = matrix();
  const bool right = x.sqrt().equal(x.pow(0.5)) &&                    // unary, compare, arithmetic
                     x.clone().zero_().equal(x.new_zeros({2, 2})) &&  // copy, creation
                     x[0].index_select(0, x.argmax().view({1}).sub(2)).item<float>() == 4 &&  // index
                     x.mm(x).trace().item<double>() == 329 &&                                 // linalg
                     x.bernoulli(1.0).sum().item<int>() == 4 &&                // random, reduce
                     x.softmax(0).cumsum(0)[1].mean().item<float>() > 0.99 &&  // softmax, scan
                     x.median().item<float>() == 4 &&                          // sort
                     x.t().reshape({4}).size(0) == 4;                          // shape
  std::puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}

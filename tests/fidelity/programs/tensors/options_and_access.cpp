// TensorOptions, tensors made like others, and walking over elements in every way.
#include "fidelity.h"

#include <numeric>
#include <sstream>

namespace options_and_access {

std::string kind(const Tensor& t) {
  return std::string(dtype_name(t.scalar_type())) + (t.requires_grad() ? " grad" : "") +
         (t.is_contiguous() ? "" : " strided");
}

void run() {
  section("options", [] {
    const auto plain = torch::TensorOptions();
    const auto full = torch::TensorOptions().dtype(torch::kFloat64).device(torch::kCPU).requires_grad(true);
    report_text("plain", dtype_name(torch::typeMetaToScalarType(plain.dtype())));
    report_text("full", kind(torch::zeros({2}, full)));
    report_value("full.requires", full.requires_grad());
    report_value("full.has_dtype", full.has_dtype());
    report_value("plain.has_dtype", plain.has_dtype());
    report_text("dtype", kind(torch::ones({2}, torch::dtype(torch::kInt32))));
    report_text("chain", kind(torch::ones({2}, torch::dtype(torch::kFloat16).requires_grad(true))));
    report_text("requires", kind(torch::ones({2}, torch::requires_grad())));
    report_text("device", kind(torch::ones({2}, torch::device(torch::kCPU).dtype(torch::kBool))));
    report_text("implicit", kind(torch::ones({2}, torch::kDouble)));
    report_text("template", kind(torch::ones({2}, torch::dtype<int64_t>())));
    report_value("device.cpu", full.device().is_cpu());
    report_value("device.equal", torch::Device("cpu") == torch::Device(torch::kCPU));
    report_text("device.str", torch::Device(torch::kCPU).str());
    const Tensor x = ramp({2, 3}).to(torch::kFloat32);
    report_text("of_tensor", kind(torch::zeros({2}, x.options())));
    report_text("of_tensor.changed", kind(torch::zeros({2}, x.options().dtype(torch::kLong))));
    report_text("like", kind(torch::ones_like(x, torch::kFloat64)));
    report_text("like.grad", kind(torch::zeros_like(x, x.options().requires_grad(true))));
    report_text("like.leaf", kind(torch::zeros_like(x.clone().requires_grad_())));
    report_text("new_full", kind(x.new_full({2}, 3, torch::kLong)));
    report_text("new_zeros", kind(x.new_zeros({2})));
    report_text("transposed.like", kind(torch::ones_like(x.t())));
    report_text("to.options", kind(x.to(torch::TensorOptions().dtype(torch::kFloat64))));
    report_text("to.same", std::to_string(x.to(torch::kFloat32).is_same(x)));
    report_text("to.copy", std::to_string(x.to(torch::kFloat32, false, true).is_same(x)));
    report_error("int.grad", [] { torch::ones({2}, torch::dtype(torch::kInt).requires_grad(true)); });
  });

  section("from_memory", [] {
    std::vector<double> values(12);
    std::iota(values.begin(), values.end(), 1);
    Tensor view = torch::from_blob(values.data(), {3, 4}, torch::kFloat64);
    values[5] = -7;
    report("blob", view);
    view[0][0] = 100;
    report_value("blob.written", values[0]);
    Tensor owned = view.clone();
    values[1] = 0;
    report("blob.clone", owned);
    report("blob.strided", torch::from_blob(values.data(), {2, 3}, {1, 4}, torch::kFloat64));
    int freed = 0;
    {
      Tensor kept = torch::from_blob(
          values.data(), {12}, [&](void*) { ++freed; }, torch::kFloat64);
      Tensor part = kept.slice(0, 0, 3);
      kept.reset();
      report_value("blob.alive", freed);
    }
    report_value("blob.freed", freed);
    std::vector<int32_t> ints = {1, 2, 3};
    report("blob.int", torch::from_blob(ints.data(), {3}, torch::kInt32) * 2);
    report("tensor.vector", torch::tensor(ints));
    report("tensor.array", torch::tensor(torch::ArrayRef<double>(values).slice(2, 3)));
    float raw[2][2] = {{1, 2}, {3, 4}};
    report("blob.2d", torch::from_blob(raw, {2, 2}).mm(torch::eye(2)));
  });

  section("walking", [] {
    const Tensor x = ramp({2, 3, 2});
    auto a = x.accessor<double, 3>();
    double weighted = 0;
    for (int64_t i = 0; i < a.size(0); ++i)
      for (int64_t j = 0; j < a.size(1); ++j)
        for (int64_t k = 0; k < a.size(2); ++k)
          weighted += a[i][j][k] * static_cast<double>(i + 2 * j + 3 * k);
    report_value("accessor", weighted);
    Tensor turned = x.permute({2, 0, 1});
    auto b = turned.accessor<double, 3>();
    report_value("accessor.turned", b[1][0][2]);
    report_value("accessor.stride", static_cast<double>(b.stride(0)));
    report_value("accessor.inner", static_cast<double>(b[1].size(1)));
    double sum = 0;
    const double* data = x.data_ptr<double>();
    for (int64_t i = 0; i < x.numel(); ++i) sum += data[i];
    report_value("pointer", sum);
    int number = 0;
    for (const Tensor& row : x.unbind(1)) report("unbind" + std::to_string(number++), row);
    for (int64_t i = 0; i < x.size(0); ++i) report("row" + std::to_string(i), x[i]);
    for (const auto& part : x.flatten().split(5)) report("part" + std::to_string(part.numel()), part);
    std::vector<double> out(x.data_ptr<double>(), x.data_ptr<double>() + x.numel());
    report_value("copied", out.back());
    const Tensor flags = x > 0;
    const bool* flag = flags.data_ptr<bool>();
    report_value("flags", static_cast<double>(std::count(flag, flag + flags.numel(), true)));
    for (int64_t size : x.sizes()) report_value("size" + std::to_string(number++), static_cast<double>(size));
    report_value("sizes.equals", x.sizes().equals({2, 3, 2}));
    report_value("sizes.back", static_cast<double>(x.sizes().back()));
    report_sizes("sizes.slice", x.sizes().slice(1).vec());
    report_sizes("strides", turned.strides().vec());
    std::ostringstream stream;
    stream << x.sizes() << " " << x.scalar_type() << " " << torch::kLong << " " << x.device();
    report_text("printed", stream.str());
    report_text("toString", x.toString());
    Tensor grid = torch::empty({3, 3});
    auto cells = grid.accessor<float, 2>();
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) cells[i][j] = static_cast<float>(10 * i + j);
    report("filled", grid);
    report_value("item.each", x[1][2][1].item<double>() + x[0][0][0].item<float>());
    report_value("item.toInt", static_cast<double>(torch::tensor(7.9).item().toInt()));
    report_value("nbytes", static_cast<double>(x.nbytes()));
    report_value("dim", static_cast<double>(x.dim()));
  });

  section("identity", [] {
    Tensor x = ramp({4}), same = x, copy = x.clone(), view = x.view({2, 2});
    same.add_(1);
    report("shared", x);
    report_value("is_same", same.is_same(x));
    report_value("copy.is_same", copy.is_same(x));
    report_value("alias", view.is_alias_of(x));
    report_value("copy.alias", copy.is_alias_of(x));
    report_value("data_ptr", view.data_ptr<double>() == x.data_ptr<double>());
    Tensor moved = std::move(copy);
    report_value("moved", copy.defined());
    x = torch::ones({1});
    report("reassigned", same);
    x.reset();
    report_value("reset", x.defined());
    std::swap(same, moved);
    report("swapped", same);
  });
}

const Program program("options_and_access", run);

}  // namespace options_and_access

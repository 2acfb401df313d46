// Items, accessors, options and sizes of a tensor.
#include "fidelity.h"

#include <sstream>

namespace items_and_sizes {

template <class T>
std::string text(const T& value) {
  std::ostringstream stream;
  stream << value;
  return stream.str();
}

void run() {
  const Tensor x = ramp({2, 3});
  section("items", [&] {
    report_value("item.double", x[0][1].item<double>());
    report_value("item.float", torch::tensor(2.5f).item<float>());
    report_value("item.int", static_cast<double>(torch::tensor(7).item<int64_t>()));
    report_value("item.int32", torch::tensor(7).item<int>());
    report_value("item.bool", torch::tensor(true).item<bool>());
    report_value("item.convert", torch::tensor(2.75).item<int>());
    report_value("item.one", torch::tensor({{4.5}}).item<double>());
    const torch::Scalar scalar = x[1][2].item();
    report_value("Scalar.to", scalar.to<double>());
    report_value("Scalar.toDouble", scalar.toDouble());
    report_value("Scalar.isFloat", scalar.isFloatingPoint());
    report_value("Scalar.int", static_cast<double>(torch::Scalar(5).toLong()));
    report_value("Scalar.isIntegral", torch::Scalar(5).isIntegral(false));
    report_value("is_nonzero", torch::tensor(3).is_nonzero());
    report_error("item.overflow", [] { torch::tensor(1e300, torch::kFloat64).item<int>(); });
  });

  section("memory", [&] {
    Tensor y = x.clone();
    double* data = y.data_ptr<double>();
    data[4] = 42;
    report("data_ptr", y);
    auto cells = y.accessor<double, 2>();
    double sum = 0;
    for (int64_t i = 0; i < cells.size(0); ++i)
      for (int64_t j = 0; j < cells.size(1); ++j) sum += cells[i][j];
    report_value("accessor", sum);
    cells[1][2] = -1;
    report("accessor.write", y);
    auto turned_tensor = y.t();
    auto turned = turned_tensor.accessor<double, 2>();
    report_value("accessor.strided", turned[2][1]);
    report_value("accessor.stride", static_cast<double>(turned.stride(0)));
    auto ints = torch::tensor({3, 4});
    auto row = ints.accessor<int64_t, 1>();
    report_value("accessor.int", static_cast<double>(row[0] + row[1]));
    const Tensor all = y.contiguous();
    std::vector<double> values(all.data_ptr<double>(), all.data_ptr<double>() + all.numel());
    report_value("vector", values[4]);
    report_value("storage_offset", static_cast<double>(y[1].storage_offset()));
    report_value("is_same", y.is_same(y));
    report_value("use", y.view({-1}).data_ptr() == y.data_ptr());
  });

  section("shape", [&] {
    report_sizes("sizes", x.sizes().vec());
    report_value("sizes.equal", x.sizes() == torch::IntArrayRef({2, 3}));
    report_value("sizes.index", static_cast<double>(x.sizes()[1]));
    report_value("sizes.size", static_cast<double>(x.sizes().size()));
    report_text("sizes.print", text(x.sizes()));
    report_value("dim", static_cast<double>(x.dim()));
    report_value("ndimension", static_cast<double>(x.ndimension()));
    report_value("numel", static_cast<double>(x.numel()));
    report_value("stride", static_cast<double>(x.stride(0)));
    report_value("size", static_cast<double>(torch::size(x, -1)));
    report_value("itemsize", static_cast<double>(x.itemsize()));
    report_value("same_sizes", x.sizes() == torch::ones({2, 3}).sizes());
    const auto sizes = x.sizes();
    int64_t product = 1;
    for (auto size : sizes) product *= size;
    report_value("sizes.loop", static_cast<double>(product));
  });

  section("options", [&] {
    const auto options = torch::TensorOptions()
                             .dtype(torch::kFloat64)
                             .device(torch::kCPU)
                             .requires_grad(true)
                             .layout(torch::kStrided);
    const Tensor y = torch::zeros({2}, options);
    report_value("requires_grad", y.requires_grad());
    report_value("dtype", y.dtype() == torch::kFloat64);
    report_value("scalar_type", y.scalar_type() == torch::kDouble);
    report_value("device", y.device() == torch::Device(torch::kCPU));
    report_value("is_cpu", y.device().is_cpu());
    report_value("is_cuda", y.is_cuda());
    report_text("device.print", text(y.device()));
    report_text("device.string", torch::Device("cpu").str());
    report_value("device.type", torch::Device("cuda:1").is_cuda());
    report_value("device.index", torch::Device("cuda:1").index());
    report_error("device.wrong", [] { torch::Device("gpu"); });
    report_value("chain", torch::zeros({1}, torch::dtype(torch::kInt32)).scalar_type() == torch::kInt);
    report_value(
        "chain.device",
        torch::zeros({1}, torch::device(torch::kCPU).dtype(torch::kFloat16)).scalar_type() == torch::kHalf);
    report_value("options.of", torch::ones({1}, x.options()).scalar_type() == torch::kFloat64);
    report_value("options.dtype",
                 torch::ones({1}, x.options().dtype(torch::kInt8)).scalar_type() == torch::kChar);
    report_value("threads", torch::get_num_threads() > 0);
    report_value("is_contiguous", x.t().is_contiguous());
    report_value("is_floating_point", x.is_floating_point());
    report_value("is_complex", x.is_complex());
    report_value("is_signed", torch::ones({1}, torch::kUInt8).is_signed());
    report_value("defined", Tensor().defined());
  });
}

const Program program("items_and_sizes", run);

}  // namespace items_and_sizes

// Options, sizes, items and dtypes of tensors.
#include "fidelity.h"

#include <numeric>
#include <sstream>

// TensorOptions, the _like functions, and all ways of iterating over elements.
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
      Tensor kept = torch::from_blob(values.data(), {12}, [&](void*) { ++freed; }, torch::kFloat64);
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

// Items, accessors, options and sizes of a tensor.
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

// The result dtype for every pair of dtypes, with tensors, zero-dimensional tensors and scalars.
namespace dtype_promotion {

void run() {
  const torch::ScalarType types[] = {torch::kBool,    torch::kUInt8,  torch::kInt8,    torch::kInt16,
                                     torch::kInt32,   torch::kInt64,  torch::kFloat16, torch::kBFloat16,
                                     torch::kFloat32, torch::kFloat64};
  std::string line;
  for (auto a : types) {
    line.clear();
    for (auto b : types) line += std::string(dtype_name(torch::promote_types(a, b))) + " ";
    report_text(std::string("promote.") + dtype_name(a), line);
    line.clear();
    for (auto b : types)
      line += std::string(dtype_name((torch::ones({2}, a) + torch::ones({2}, b)).scalar_type())) + " ";
    report_text(std::string("add.") + dtype_name(a), line);
    line.clear();
    for (auto b : types)
      line += std::string(dtype_name((torch::ones({2}, a) * torch::ones({}, b)).scalar_type())) + " ";
    report_text(std::string("mul0.") + dtype_name(a), line);
    line.clear();
    for (auto b : types)
      line += std::string(dtype_name((torch::ones({2}, a) / torch::ones({2}, b)).scalar_type())) + " ";
    report_text(std::string("div.") + dtype_name(a), line);
    line.clear();
    for (auto b : types)
      line += std::string(dtype_name(torch::result_type(torch::ones({2}, a), torch::ones({}, b)))) + " ";
    report_text(std::string("result.") + dtype_name(a), line);
    line.clear();
    for (auto b : types) line += torch::can_cast(a, b) ? "y " : "n ";
    report_text(std::string("can_cast.") + dtype_name(a), line);
    const Tensor t = torch::ones({2}, a), s = torch::ones({}, a);
    line = std::string(dtype_name((t + 1).scalar_type())) + " " + dtype_name((t + 1.5).scalar_type()) + " " +
           dtype_name((t * true).scalar_type()) + " " + dtype_name((s + 1).scalar_type()) + " " +
           dtype_name((s + 1.5).scalar_type());
    report_text(std::string("scalar.") + dtype_name(a), line);
    if (a == torch::kFloat16 || a == torch::kBFloat16)
      continue;  // libtorch 1.13 lacks half-precision kernels on the CPU
    line = std::string(dtype_name(t.sum().scalar_type())) + " " + dtype_name(t.prod().scalar_type()) + " " +
           dtype_name(t.cumsum(0).scalar_type()) + " " + dtype_name(t.count_nonzero().scalar_type()) + " " +
           dtype_name((t > 0).scalar_type()) + " " + dtype_name(t.any().scalar_type()) + " " +
           dtype_name(t.max().scalar_type());
    report_text(std::string("reduce.") + dtype_name(a), line);
    section(std::string("unary.") + dtype_name(a), [&] {
      report_text(std::string("unary.") + dtype_name(a),
                  std::string(dtype_name(torch::sin(t).scalar_type())) + " " +
                      dtype_name(torch::sqrt(t).scalar_type()) + " " +
                      dtype_name(torch::sigmoid(t).scalar_type()) + " " +
                      dtype_name(torch::square(t).scalar_type()));
    });
    report_text(std::string("where.") + dtype_name(a),
                dtype_name(torch::where(t > 0, t, torch::zeros({2}, a)).scalar_type()));
    report_value(std::string("is_floating_point.") + dtype_name(a), torch::is_floating_point(t));
    report_value(std::string("element_size.") + dtype_name(a), static_cast<double>(t.element_size()));
  }
  section("values", [] {
    report("int+float0", torch::tensor({1, 2}) + torch::tensor(0.5));
    report("float+double0", torch::ones({2}) + torch::tensor(0.1, torch::kFloat64));
    report("i32*i64_0", torch::ones({2}, torch::kInt32) * torch::tensor(3));
    report("bool+int", torch::tensor({true, false}) + 2);
    report("u8-int", torch::full({2}, 3, torch::kUInt8) - 5);
    report("f16*2.5", torch::ones({2}, torch::kFloat16) * 2.5);
    report("bf16+f16", torch::ones({2}, torch::kBFloat16) + torch::ones({2}, torch::kFloat16));
    report("pow", torch::pow(torch::tensor({2, 3}), torch::tensor({0.5, 2.0})));
    report("cat", torch::cat({torch::tensor({1}), torch::tensor({2.5}, torch::kFloat64)}));
    report("stack", torch::stack({torch::tensor({1}, torch::kInt32), torch::tensor({2})}));
    report("copy_", torch::zeros({2}, torch::kInt64).copy_(torch::tensor({1.9, -1.9})));
    report("maximum", torch::maximum(torch::tensor({1, 5}), torch::tensor({2.5, 3.5})));
    torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
    report("default.zeros", torch::zeros({1}));
    report("default.tensor", torch::tensor({1.5}));
    report("default.div", torch::tensor({1, 2}) / 2);
    torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat32));
    report_text("default", dtype_name(torch::zeros({1}).scalar_type()));
  });
}

const Program program("dtype_promotion", run);

}  // namespace dtype_promotion

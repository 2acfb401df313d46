// The dtype of results for every pair of dtypes, with tensors, zero-dimensional tensors and scalars.
#include "fidelity.h"

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

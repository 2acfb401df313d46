// Products and their gradients.
#include "fidelity.h"

namespace linalg {

using Call = Tensor (*)(const Tensors&);

void run() {
  const Tensor m23 = ramp({2, 3}), m34 = ramp({3, 4}, -2, 2, 1.0), m33 = ramp({3, 3}), v3 = ramp({3}, 1, 2),
               v4 = ramp({4});
  const Tensor b223 = ramp({2, 2, 3}), b234 = ramp({2, 3, 4}, -1, 2, 0.9), m24 = ramp({2, 4}, 0, 1);
  const struct {
    const char* name;
    Call call;
    Tensors inputs;
  } cases[] = {
      {"mm", [](const Tensors& t) { return torch::mm(t[0], t[1]); }, {m23, m34}},
      {"mm.t", [](const Tensors& t) { return t[0].t().mm(t[1]); }, {m23, m24}},
      {"bmm", [](const Tensors& t) { return torch::bmm(t[0], t[1]); }, {b223, b234}},
      {"mv", [](const Tensors& t) { return torch::mv(t[0], t[1]); }, {m23, v3}},
      {"dot", [](const Tensors& t) { return torch::dot(t[0], t[1]); }, {v3, ramp({3})}},
      {"vdot", [](const Tensors& t) { return torch::vdot(t[0], t[1]); }, {v3, ramp({3})}},
      {"inner", [](const Tensors& t) { return torch::inner(t[0], t[1]); }, {m23, m33}},
      {"outer", [](const Tensors& t) { return torch::outer(t[0], t[1]); }, {v3, v4}},
      {"ger", [](const Tensors& t) { return t[0].ger(t[1]); }, {v3, v4}},
      {"matmul.11", [](const Tensors& t) { return torch::matmul(t[0], t[1]); }, {v3, ramp({3})}},
      {"matmul.12", [](const Tensors& t) { return torch::matmul(t[0], t[1]); }, {v3, m34}},
      {"matmul.21", [](const Tensors& t) { return torch::matmul(t[0], t[1]); }, {m23, v3}},
      {"matmul.22", [](const Tensors& t) { return t[0].matmul(t[1]); }, {m23, m34}},
      {"matmul.32", [](const Tensors& t) { return torch::matmul(t[0], t[1]); }, {b223, m34}},
      {"matmul.23", [](const Tensors& t) { return torch::matmul(t[0], t[1]); }, {m23, b234}},
      {"matmul.13", [](const Tensors& t) { return torch::matmul(t[0], t[1]); }, {v3, b234}},
      {"matmul.31", [](const Tensors& t) { return torch::matmul(t[0], t[1]); }, {b223, v3}},
      {"matmul.33", [](const Tensors& t) { return torch::matmul(t[0], t[1]); }, {b223, b234}},
      {"matmul.43", [](const Tensors& t) { return torch::matmul(t[0], t[1]); }, {ramp({2, 1, 2, 3}), b234}},
      {"addmm", [](const Tensors& t) { return torch::addmm(t[0], t[1], t[2]); }, {v4, m23, m34}},
      {"addmm.scaled",
       [](const Tensors& t) { return torch::addmm(t[0], t[1], t[2], 0.5, 2); },
       {m24, m23, m34}},
      {"addmv",
       [](const Tensors& t) { return torch::addmv(t[0], t[1], t[2], 2, 0.5); },
       {ramp({2}), m23, v3}},
      {"addr", [](const Tensors& t) { return torch::addr(t[0], t[1], t[2], 2, 0.5); }, {m34, v3, v4}},
      {"addbmm", [](const Tensors& t) { return torch::addbmm(t[0], t[1], t[2], 0.5, 2); }, {m24, b223, b234}},
      {"baddbmm",
       [](const Tensors& t) { return torch::baddbmm(t[0], t[1], t[2], 0.5, 2); },
       {ramp({2, 2, 4}), b223, b234}},
      {"linear",
       [](const Tensors& t) { return torch::linear(t[0], t[1], t[2]); },
       {m23, ramp({5, 3}), ramp({5})}},
      {"linear.nobias",
       [](const Tensors& t) { return torch::nn::functional::linear(t[0], t[1]); },
       {b223, ramp({5, 3})}},
      {"bilinear",
       [](const Tensors& t) { return torch::bilinear(t[0], t[1], t[2], t[3]); },
       {m23, ramp({2, 2}), ramp({4, 3, 2}), v4}},
      {"kron", [](const Tensors& t) { return torch::kron(t[0], t[1]); }, {ramp({2, 2}), ramp({1, 3}, 1, 2)}},
      {"trace", [](const Tensors& t) { return torch::trace(t[0]); }, {m34}},
      {"tensordot", [](const Tensors& t) { return torch::tensordot(t[0], t[1], {2}, {0}); }, {b223, m34}},
      {"tensordot.2",
       [](const Tensors& t) {
         return torch::tensordot(t[0], t[1], {1, 2}, {1, 0});
       },
       {b223, ramp({3, 2, 2})}},
      {"cdist", [](const Tensors& t) { return torch::cdist(t[0], t[1]); }, {m23, ramp({4, 3}, -2, 2, 1.3)}},
      {"cdist.1",
       [](const Tensors& t) { return torch::cdist(t[0], t[1], 1); },
       {m23, ramp({4, 3}, -2, 2, 1.3)}},
      {"chain_matmul", [](const Tensors& t) { return t[0].mm(t[1]).mm(t[2]); }, {m23, m34, ramp({4, 2})}},
      {"matrix_power", [](const Tensors& t) { return torch::matrix_power(t[0], 3); }, {m33}},
      {"cross", [](const Tensors& t) { return torch::cross(t[0], t[1], 1); }, {m33, ramp({3, 3}, 1, 3, 1.7)}},
      {"pairwise_distance",
       [](const Tensors& t) { return torch::pairwise_distance(t[0], t[1]); },
       {m33, ramp({3, 3}, 1, 3, 1.7)}},
  };
  for (const auto& c : cases) grads(c.name, c.call, c.inputs, std::string(c.name).find("cdist") == 0 ? 1 : 2);

  section("cdist.zero", [] {
    grads(
        "cdist.same", [](const Tensors& t) { return torch::cdist(t[0], t[0] * 1); }, {ramp({3, 2})}, 1);
    grads(
        "cdist.batch", [](const Tensors& t) { return torch::cdist(t[0], t[1], 3); },
        {ramp({2, 2, 3}), ramp({2, 4, 3}, 1, 2)}, 1);
  });

  section("shapes", [&] {
    report("empty.mm",
           torch::mm(torch::zeros({2, 0}, torch::kFloat64), torch::zeros({0, 3}, torch::kFloat64)));
    report("empty.bmm", torch::bmm(torch::zeros({0, 2, 3}), torch::zeros({0, 3, 4})));
    report("int.mm", torch::mm(torch::tensor({{1, 2}, {3, 4}}), torch::tensor({{5}, {6}})));
    report("int.matmul", torch::matmul(torch::tensor({1, 2}), torch::tensor({3, 4})));
    report("f32.mm", m23.to(torch::kFloat32).mm(m34.to(torch::kFloat32)));
    report("strided.mm", m34.t().mm(m23.t()));
    report("sliced.mm", m34.slice(1, 0, 4, 2).t().mm(m33));
    Tensor y = ramp({2, 4});
    y.addmm_(m23, m34, 0.5, 2);
    report("addmm_", y);
    report("multi", torch::linalg::multi_dot({m23, m34, v4}));
    report("vector_norm", torch::linalg::vector_norm(m23, 3, {}, false, torch::nullopt));
    report("frobenius_norm", torch::frobenius_norm(m23, {0, 1}));
  });

  section("refused", [&] {
    report_error("mm.shape", [&] { torch::mm(m23, m23); });
    report_error("mm.dims", [&] { torch::mm(b223, m34); });
    report_error("mm.dtype", [&] { torch::mm(m23, m34.to(torch::kFloat32)); });
    report_error("bmm.batch", [&] { torch::bmm(b223, b234.slice(0, 0, 1)); });
    report_error("bmm.dims", [&] { torch::bmm(m23, m34); });
    report_error("mv.shape", [&] { torch::mv(m23, v4); });
    report_error("dot.2d", [&] { torch::dot(m23, m23); });
    report_error("dot.size", [&] { torch::dot(v3, v4); });
    report_error("dot.dtype", [&] { torch::dot(v3, torch::ones({3})); });
    report_error("matmul.scalar", [&] { torch::matmul(torch::tensor(1.0), m23); });
    report_error("matmul.batch", [&] { torch::matmul(b223, ramp({3, 3, 4})); });
    report_error("addmm.bias", [&] { torch::addmm(v3, m23, m34); });
    report_error("linear.shape", [&] { torch::linear(m23, m34); });
    report_error("outer.2d", [&] { torch::outer(m23, v3); });
    report_error("tensordot", [&] { torch::tensordot(m23, m34, {0}, {0}); });
    report_error("trace.3d", [&] { torch::trace(b223); });
  });
}

const Program program("linalg", run);

}  // namespace linalg

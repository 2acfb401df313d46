// einsum: the usual contractions, their gradients and the wrong equations.
#include "fidelity.h"

namespace einsum {

void einsum(const char* equation, const Tensors& inputs) {
  grads(
      equation, [&](const Tensors& t) { return torch::einsum(equation, t); }, inputs);
}

void run() {
  const Tensor m23 = ramp({2, 3}), m34 = ramp({3, 4}, -2, 2, 1.0), m33 = ramp({3, 3}), v3 = ramp({3}, 1, 2);
  const Tensor b223 = ramp({2, 2, 3}), b234 = ramp({2, 3, 4}, -1, 2, 0.9);
  einsum("ij,jk->ik", {m23, m34});
  einsum("ij,jk", {m23, m34});
  einsum("ij->ji", {m23});
  einsum("ji", {m23});
  einsum("ij->", {m23});
  einsum("ij->j", {m23});
  einsum("ii->", {m33});
  einsum("ii->i", {m33});
  einsum("i,i->", {v3, v3});
  einsum("i,j->ij", {v3, ramp({2})});
  einsum("ij,ij->ij", {m23, ramp({2, 3}, 1, 2)});
  einsum("bij,bjk->bik", {b223, b234});
  einsum("bij,jk->bik", {b223, m34});
  einsum("...ij,...jk->...ik", {b223, b234});
  einsum("...ij->...ji", {b223});
  einsum("...i,i->...", {b223, v3});
  einsum("ij,j->i", {m23, v3});
  einsum("bi,oij,bj->bo", {m23, ramp({2, 3, 4}), ramp({2, 4})});
  einsum("ij,jk,kl->il", {m23, m34, ramp({4, 2})});
  einsum("bhid,bhjd->bhij", {ramp({1, 2, 2, 3}), ramp({1, 2, 3, 3}, 0, 1)});
  einsum("ij,kl->ijkl", {ramp({2, 2}), ramp({1, 3})});
  einsum("iij->j", {ramp({2, 2, 3})});
  einsum("ik,jk->", {m23, m33});
  einsum(",i->i", {ramp({}), v3});
  section("spelling", [&] {
    report("spaces", torch::einsum(" i j , j k -> i k ", {m23, m34}));
    report("capital", torch::einsum("Ab,bC->AC", {m23, m34}));
    report("order", torch::einsum("ba", {m23}));
    report("int", torch::einsum("ij,jk->ik", {torch::tensor({{1, 2}}), torch::tensor({{3}, {4}})}));
    report("one", torch::einsum("ij,jk->ik", {ramp({2, 1}), ramp({3, 4})}));
    report_error("count", [&] { torch::einsum("ij,jk->ik", {m23}); });
    report_error("size", [&] { torch::einsum("ij,jk->ik", {m23, m23}); });
    report_error("dims", [&] { torch::einsum("ijk->k", {m23}); });
    report_error("output", [&] { torch::einsum("ij->k", {m23}); });
    report_error("twice", [&] { torch::einsum("ij->ii", {m23}); });
    report_error("symbol", [&] { torch::einsum("i1->i", {m23}); });
    report_error("none", [&] { torch::einsum("->", {}); });
  });
}

const Program program("einsum", run);

}  // namespace einsum

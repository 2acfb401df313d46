// Common mistakes that the compiler finds. A SAYS comment contains the expected message, and "here" marks the
// line of the user that the message must refer to.
#include <ebb/ebb.h>

using namespace ebb;
using autograd::AutogradContext;

struct NoModule {
  Tensor forward(Tensor x) { return x; }
};

struct NoContext : autograd::Function<NoContext> {
  static Tensor forward(const Tensor& x) { return x; }
  static variable_list backward(AutogradContext*, variable_list grads) { return grads; }
};
struct NoBackward : autograd::Function<NoBackward> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x; }
};
struct ANumber : autograd::Function<ANumber> {
  static double forward(AutogradContext*, const Tensor&) { return 1; }
  static variable_list backward(AutogradContext*, variable_list grads) { return grads; }
};

void mistakes() {
  const Tensor x = ones({2});

  // SAYS: Sequential takes modules: derive the class from nn::Module, and wrap a function in Functional.
  nn::Sequential net(nn::Linear(2, 3), NoModule());  // here
  nn::Sequential one(5.0);                           // here
  net->push_back(5);                                 // here

  // SAYS: This module has no constructor that takes these arguments.
  nn::Linear linear("two", "three");  // here

  // SAYS: a holder is a pointer to its module: write net(x), or net->forward(x)
  net.forward(x);  // here

  // SAYS: Function: forward must be `static Variable forward(AutogradContext* ctx, ...)` and public, and its
  // parameters after ctx must fit the arguments of apply().
  NoContext::apply(x);  // here

  // SAYS: Function: backward must be `static variable_list backward(AutogradContext* ctx, variable_list
  // grad_outputs)` and public.
  NoBackward::apply(x);  // here

  // SAYS: Function: forward must return a Variable or a variable_list.
  ANumber::apply(x);  // here

  // SAYS: Checkpoint::add keeps a reference: give it a variable, which outlives the Checkpoint.
  Checkpoint("run.ckpt").add("net", nn::Linear(2, 2));  // here

  // SAYS: This batch is a std::vector of examples. To join their tensors, map the dataset with Stack:
  // dataset.map(data::transforms::Stack<>()).
  for (auto& batch : *data::make_data_loader(data::datasets::MNIST("."), 64))
    nll_loss(x, batch.target.to(kCUDA));  // here

  // SAYS: Checkpoint::add takes an object with save(OutputArchive&) const and load(InputArchive&).
  const NoModule none;
  Checkpoint("run.ckpt").add("none", none);  // here
}

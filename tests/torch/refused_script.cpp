// A program of TorchScript.
#include <torch/script.h>

int main() { torch::jit::load("model.pt"); }

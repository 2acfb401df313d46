// A program that transforms a signal.
#include <torch/torch.h>

int main() { torch::fft::rfft(torch::ones(8)); }

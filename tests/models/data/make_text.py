"""Prints the results of torchvision and Hugging Face that vision_test, language_models_test and char_rnn_test expect.

Usage: python3 make_text.py (the tests contain results of torch 2.15, torchvision 0.29 and transformers 5.23).
"""
import math

import torch
import torchvision
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM


# Values that the tests assign to their tensors, too (waves.h).
def wave(count, rate, start):
    return torch.arange(count, dtype=torch.float64) * rate + start


def given(sizes, start):
    k = wave(math.prod(sizes), 1, 0)
    return (k * k * 0.37 + start).sin().reshape(sizes)


def mark(x):
    return (x.detach().flatten() * wave(x.numel(), 0.3, 1).cos()).sum().item()


def prepared(net):
    net = net.double().eval()
    with torch.no_grad():
        for i, p in enumerate(net.parameters()):
            p.copy_(given(p.shape, i + 1) * 0.3)
    return net


def numbers(values):
    return "{" + ", ".join(f"{v:.10g}" for v in values) + "}"


def tokens(rows, columns, vocab):
    return (torch.arange(rows * columns) * 7 % vocab).reshape(rows, columns)


def show(title, net, x):
    y = net(x)
    y = getattr(y, "logits", y)
    y = y[0] if isinstance(y, tuple) else y
    (y * wave(y.numel(), 0.9, 0).cos().reshape(y.shape)).sum().backward()
    print(f"{title}: outputs", numbers(y.flatten()[:4].tolist() + [mark(y)]))
    print(f"{title}: gradients", numbers(mark(p.grad) for p in net.parameters()))


# FNV-1a with 64 bits of one line for each entry of the state.
def names(title, make):
    with torch.device("meta"):
        state = make().state_dict()
    h = 0xCBF29CE484222325
    for name, x in state.items():
        for byte in f"{name} {list(x.shape)}\n".encode():
            h = (h ^ byte) * 0x100000001B3 % (1 << 64)
    print(f"{title}: {len(state)} names, {h:#x}")


class CharRNN(torch.nn.Module):
    """The network of PyTorch's example word_language_model."""

    def __init__(self, cell):
        super().__init__()
        self.encoder = torch.nn.Embedding(11, 6)
        self.rnn = getattr(torch.nn, cell)(6, 8, 2, batch_first=True)
        self.decoder = torch.nn.Linear(8, 11)

    def forward(self, ids):
        return self.decoder(self.rnn(self.encoder(ids))[0])


ViT = torchvision.models.VisionTransformer
show("vit", prepared(ViT(12, 4, 2, 4, 32, 48, num_classes=5)), given((2, 3, 12, 12), 0))
gpt2 = dict(vocab_size=23, n_positions=16, n_embd=32, n_layer=2, n_head=4)
show("gpt2", prepared(GPT2LMHeadModel(GPT2Config(**gpt2))), tokens(2, 9, 23))
llama = dict(
    vocab_size=23, hidden_size=32, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
    rope_theta=500.0, rms_norm_eps=1e-5,
)  # fmt: skip
show("llama", prepared(LlamaForCausalLM(LlamaConfig(**llama))), tokens(2, 9, 23))
show("llama tied", prepared(LlamaForCausalLM(LlamaConfig(**llama, tie_word_embeddings=True))), tokens(2, 9, 23))
for cell in "LSTM", "GRU", "RNN":
    show("char_rnn " + cell, prepared(CharRNN(cell)), tokens(2, 7, 11))

for name in "vit_b_16", "vit_b_32", "vit_l_16":
    names(name, getattr(torchvision.models, name))
names("gpt2", lambda: GPT2LMHeadModel(GPT2Config()))
tiny_llama = dict(hidden_size=2048, intermediate_size=5632, num_hidden_layers=2, num_key_value_heads=4)
names("TinyLlama, two layers", lambda: LlamaForCausalLM(LlamaConfig(**tiny_llama)))

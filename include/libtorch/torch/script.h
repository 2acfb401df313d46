// TorchScript, which ebb does not have.
#pragma once

#error \
    "ebb has no TorchScript. Build the model of torch::nn modules and load its weights: in Python, safetensors.torch.save_file(model.state_dict(), 'model.safetensors'); here, torch::load(net, \"model.safetensors\")."

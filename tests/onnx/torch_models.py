#!/usr/bin/env python3
"""Models as torch exports them: NAME.onnx in a folder, with inputs and torch's results in NAME.npz.

    torch_models.py FOLDER        needs torch, onnx and onnxscript; zoo.py --torch starts it
"""

import os
import sys
import warnings

import numpy
import torch
from torch import nn
from torch.nn import functional


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.Sigmoid(), nn.Linear(8, 3), nn.LogSoftmax(-1))

    def forward(self, x):
        return self.layers(x)


class Pictures(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2))
        self.second = nn.Sequential(nn.Conv2d(8, 8, 3, stride=2, groups=2), nn.BatchNorm2d(8), nn.Hardswish(), nn.AvgPool2d(3, stride=1, padding=1))
        self.last = nn.Linear(8, 5)

    def forward(self, x):
        return self.last(torch.flatten(functional.adaptive_avg_pool2d(self.second(self.first(x)), 1), 1))


class Residual(nn.Module):
    """A stem and two blocks of a ResNet, of which the second has fewer places and more channels."""
    class Block(nn.Module):
        def __init__(self, into, out, stride):
            super().__init__()
            self.body = nn.Sequential(nn.Conv2d(into, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU(), nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out))
            self.side = nn.Sequential(nn.Conv2d(into, out, 1, stride, bias=False), nn.BatchNorm2d(out)) if stride != 1 else nn.Identity()

        def forward(self, x):
            return functional.relu(self.body(x) + self.side(x))

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        self.blocks, self.last = nn.Sequential(self.Block(8, 8, 1), self.Block(8, 16, 2)), nn.Linear(16, 5)

    def forward(self, x):
        return self.last(torch.flatten(functional.adaptive_avg_pool2d(self.blocks(self.stem(x)), 1), 1))


class Sampled(nn.Module):
    """Pictures in other sizes, turned, and at other places."""
    def forward(self, x):
        turn = torch.tensor([[[0.8, -0.6, 0.1], [0.6, 0.8, -0.2]]]).expand(x.shape[0], 2, 3)
        turned = functional.grid_sample(x, functional.affine_grid(turn, x.shape, align_corners=False), align_corners=False)
        return (turned, functional.interpolate(x, scale_factor=2, mode="bicubic"), functional.pixel_shuffle(x, 2), functional.lp_pool2d(x.abs(), 2, 2), functional.normalize(x, dim=1))


class Larger(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.side = nn.Conv2d(4, 4, 3, padding=1), nn.Conv2d(4, 4, 1)
        self.groups, self.up, self.norm = nn.GroupNorm(2, 4), nn.ConvTranspose2d(4, 2, 3, stride=2, padding=1, output_padding=1), nn.LayerNorm([2, 8, 8])

    def forward(self, x):
        y = self.up(functional.leaky_relu(functional.silu(self.groups(self.first(x))) + self.side(x)))
        return self.norm(y), functional.interpolate(y, scale_factor=2, mode="nearest"), functional.interpolate(y, size=(5, 7), mode="bilinear")


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.word, self.place, self.last = nn.Embedding(11, 16), nn.Embedding(7, 16), nn.Linear(16, 11)
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, activation="gelu")
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, words):
        return self.last(self.layers(self.word(words) + self.place(torch.arange(words.shape[1]))))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.word, self.heads, self.norm, self.last = nn.Embedding(11, 16), nn.Linear(16, 48), nn.LayerNorm(16), nn.Linear(16, 11)

    def forward(self, words):
        x = self.word(words)
        batch, steps, width = x.shape
        query, key, value = (part.view(batch, steps, 4, 4).transpose(1, 2) for part in self.heads(self.norm(x)).split(16, -1))
        seen = torch.tril(torch.ones(steps, steps)).bool()
        share = (query @ key.transpose(-2, -1) / 2.0).masked_fill(~seen, float("-inf")).softmax(-1)
        return self.last(x + (share @ value).transpose(1, 2).reshape(batch, steps, width)), functional.scaled_dot_product_attention(query, key, value, is_causal=True)


class Turned(nn.Module):
    """Rotary places, a norm by the root of the mean square, a gated layer."""
    def __init__(self):
        super().__init__()
        self.scale, self.gate, self.up, self.down = nn.Parameter(torch.randn(16)), nn.Linear(16, 32), nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x):
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.scale
        angle = torch.outer(torch.arange(x.shape[1], dtype=torch.float32), 1 / 10000 ** (torch.arange(0, 16, 2).float() / 16))
        angle = torch.cat([angle, angle], -1)
        x = x * angle.cos() + torch.cat([-x[..., 8:], x[..., :8]], -1) * angle.sin()
        return self.down(functional.silu(self.gate(x)) * self.up(x))


class Recurrent(nn.Module):
    def __init__(self, kind, **more):
        super().__init__()
        self.steps, self.last = kind(5, 6, **more), nn.Linear(12 if more.get("bidirectional") else 6, 2)

    def forward(self, x):
        return self.last(self.steps(x)[0])


class Many(nn.Module):
    """Functions that models have now and then."""
    def forward(self, x):
        largest, where = torch.topk(x, 3, -1)
        return (largest, where, torch.cumsum(x, -1), torch.einsum("bij,bkj->bik", x, x), torch.where(x > 0, x, x.exp()).clamp(-1, 1), x.sum((1, 2)), x.argmax(-1),
                x.std(-1), x.prod(-1), torch.gather(x, 2, where), functional.one_hot(x.argmax(-1), 6).float(), torch.tril(x), x.abs().sqrt().floor())


def main():
    folder = sys.argv[1]
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    torch.backends.mha.set_fastpath_enabled(False)  # its fused layer has no counterpart
    rand, words = torch.randn, torch.randint
    models = {
        "perceptron": (Perceptron(), rand(2, 4)), "pictures": (Pictures(), rand(2, 3, 12, 12)), "residual": (Residual(), rand(2, 3, 32, 32)), "sampled": (Sampled(), rand(2, 4, 6, 6)), "larger": (Larger(), rand(1, 4, 4, 4)),
        "encoder": (Encoder(), words(0, 11, (2, 7))), "decoder": (Decoder(), words(0, 11, (2, 5))), "turned": (Turned(), rand(2, 5, 16)),
        "lstm": (Recurrent(nn.LSTM, batch_first=True, num_layers=2), rand(2, 4, 5)), "both_ways": (Recurrent(nn.LSTM, bidirectional=True), rand(4, 2, 5)),
        "gru": (Recurrent(nn.GRU, batch_first=True), rand(2, 4, 5)), "rnn": (Recurrent(nn.RNN), rand(4, 2, 5)), "many": (Many(), rand(2, 3, 6)),
    }
    for name, (model, x) in models.items():
        model.eval()
        # With opset 23 attention is one op.
        for way, dynamo, more in (("dynamo", True, {}), ("traced", False, {"opset_version": 20} if name == "sampled" else {}), ("newer", True, {"opset_version": 23})):
            path = os.path.join(folder, "%s-%s.onnx" % (name, way))
            with torch.no_grad():
                torch.onnx.export(model, (x,), path, dynamo=dynamo, verbose=False, **more)
                results = model(x)
            results = results if isinstance(results, tuple) else (results,)
            numpy.savez(path[:-5] + ".npz", x=x.numpy(), **{"out%d" % i: each.numpy() for i, each in enumerate(results)})


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes goldens.safetensors, results of torchvision for small images, for the tests next to this folder.

Needs torch 2.15, torchvision 0.29 and Pillow; run it here.
"""
import io
import json
import struct

import numpy
import PIL.Image
import torch
from torchvision.io import ImageReadMode, decode_image, decode_jpeg
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional as F

DTYPES = {torch.uint8: "U8", torch.float32: "F32", torch.int64: "I64"}
tensors = {}


def put(name, value):
    tensors[name] = value.contiguous()


def smooth(channels, height, width):
    y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    planes = [(37 * x + 23 * y + 71 * c + 5 * x * y * (c + 1)) % 256 for c in range(channels)]
    return torch.stack(planes).to(torch.uint8)


def file_of(image, format, **options):
    out = io.BytesIO()
    image.save(out, format, **options)
    return torch.frombuffer(bytearray(out.getvalue()), dtype=torch.uint8)


def files():
    rgb = smooth(3, 6, 9).permute(1, 2, 0).numpy()
    color = PIL.Image.fromarray(rgb)
    gray = PIL.Image.fromarray(rgb[:, :, 0])
    exif = PIL.Image.Exif()
    exif[0x0112] = 6
    palette = color.quantize(5)
    some = {
        "jpeg_rgb": file_of(color, "JPEG", exif=exif),
        "jpeg_gray_progressive": file_of(gray, "JPEG", progressive=True),
        "jpeg_cmyk": file_of(PIL.Image.fromarray(numpy.dstack([rgb, 255 - rgb[:, :, :1]]), mode="CMYK"), "JPEG"),
        "png_rgb": file_of(color, "PNG"),
        "png_rgba": file_of(PIL.Image.fromarray(numpy.dstack([rgb, rgb[:, :, 0]])), "PNG"),
        "png_gray_alpha": file_of(PIL.Image.fromarray(rgb[:, :, :2]), "PNG"),
        "png_bilevel": file_of(gray.convert("1"), "PNG"),
    }
    for name, data in some.items():
        put(f"file.{name}", data)
        for mode in ImageReadMode:
            if not name.startswith("jpeg") or "ALPHA" not in mode.name:
                put(f"decoded.{name}.{mode.name.lower()}", decode_image(data, mode))
    put("upright.jpeg_rgb", decode_jpeg(some["jpeg_rgb"], apply_exif_orientation=True))
    # torchvision returns palette indices and 16-bit samples; these are the colors of Pillow, and samples rounded to 8
    # bits.
    put("file.png_palette", file_of(palette, "PNG"))
    put("decoded.png_palette.unchanged", torch.from_numpy(numpy.array(palette.convert("RGB"))).permute(2, 0, 1))
    wide = (rgb[:, :, 0].astype(numpy.uint32) * 65535 // 255 ^ 129).astype(numpy.uint16)
    put("file.png_16", file_of(PIL.Image.fromarray(wide), "PNG"))
    put("decoded.png_16.unchanged", torch.from_numpy(((wide.astype(numpy.uint32) * 255 + 32895) >> 16).astype(numpy.uint8))[None])


def functions():
    byte = smooth(3, 7, 9)
    for kind, image in {"byte": byte, "float": byte.to(torch.float32) / 255}.items():
        put(f"image.{kind}", image)

        def golden(name, value):
            put(f"{kind}.{name}", value)

        golden("resize_down", F.resize(image, [4, 5]))
        golden("resize_shorter", F.resize(image[:, :5], [4], max_size=6))
        golden("resize_up_plain", F.resize(image, [9, 8], antialias=False))
        golden("resize_bicubic", F.resize(image, [4, 7], interpolation=v2.InterpolationMode.BICUBIC))
        golden("resize_nearest", F.resize(image, [5, 4], interpolation=v2.InterpolationMode.NEAREST))
        golden("resize_exact", F.resize(image, [5, 4], interpolation=v2.InterpolationMode.NEAREST_EXACT))
        golden("crop_outside", F.crop(image, -2, 6, 5, 5))
        golden("center_crop", F.center_crop(image, [6, 4]))
        golden("center_crop_larger", F.center_crop(image, [8, 6]))
        golden("resized_crop", F.resized_crop(image, 1, 2, 5, 6, [3, 4]))
        golden("pad_fill", F.pad(image, [1, 2], fill=[1.0, 0.0, 1.0]))
        golden("pad_edge", F.pad(image, [1, 0, 2, 1], padding_mode="edge"))
        golden("pad_reflect", F.pad(image, [1, 0, 2, 1], padding_mode="reflect"))
        golden("pad_symmetric", F.pad(image, [1, 0, 2, 1], padding_mode="symmetric"))
        golden("rotate", F.rotate(image, 33.0))
        golden("rotate_expand", F.rotate(image, 33.0, v2.InterpolationMode.BILINEAR, expand=True, fill=[0.5]))
        golden("rotate_quarter", F.rotate(image, -90.0, expand=True))
        golden("rotate_center", F.rotate(image, 20.0, center=[2.0, 1.0], fill=[1.0, 0.0, 0.5]))
        golden("affine", F.affine(image, 17.0, [1, -2], 0.8, [11.0, 5.0], v2.InterpolationMode.BILINEAR))
        golden("gray", F.rgb_to_grayscale(image))
        golden("brightness", F.adjust_brightness(image, 1.4))
        golden("contrast", F.adjust_contrast(image, 1.7))
        golden("contrast_gray", F.adjust_contrast(image[:1], 0.4))
        golden("saturation", F.adjust_saturation(image, 0.3))
        golden("hue", F.adjust_hue(image, -0.3))
        golden("gamma", F.adjust_gamma(image, 0.6, 1.2))
        golden("invert", F.invert(image))
        golden("solarize", F.solarize(image, 128 if kind == "byte" else 0.5))
        golden("posterize", F.posterize(image, 3))
        golden("autocontrast", F.autocontrast(F.adjust_brightness(image, 0.5)))
        golden("blur", F.gaussian_blur(image, [3, 5], [0.8, 1.3]))
        golden("blur_default", F.gaussian_blur(image, [5, 5]))
    put("float.normalize", F.normalize(byte / 255, [0.4, 0.5, 0.6], [0.2, 0.3, 0.25]))
    gray = smooth(1, 24, 32) // 3 + 40
    gray[0, 0, 0] = 255  # the brightest pixel is not counted: 767 pixels remain, 3 for each of 255 levels
    put("byte.equalize", F.equalize(gray))
    put("byte.from_float", F.to_dtype(byte / 300, torch.uint8, scale=True))


def draws():
    image = torch.arange(3 * 12 * 10, dtype=torch.uint8).reshape(3, 12, 10)
    for name, transform in {
        "crop": v2.RandomCrop([7, 8], padding=2),
        "crop_needed": v2.RandomCrop([14, 4], pad_if_needed=True),
        "resized_crop": v2.RandomResizedCrop([5, 6], antialias=True),
        "hflip": v2.RandomHorizontalFlip(),
        "vflip": v2.RandomVerticalFlip(0.3),
        "rotation": v2.RandomRotation([10, 80]),
        "erasing": v2.RandomErasing(0.9),
        "jitter": v2.ColorJitter(0.4, 0.3, 0.5, 0.2),
        "grayscale": v2.RandomGrayscale(0.5),
        "blur": v2.GaussianBlur(3),
    }.items():
        torch.manual_seed(3)
        put(f"drawn.{name}", torch.stack([transform(image) for _ in range(3)]))


files()
functions()
draws()
header, data = {}, b""
for name, value in tensors.items():
    raw = value.numpy().tobytes()
    header[name] = {"dtype": DTYPES[value.dtype], "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(raw)]}
    data += raw
text = json.dumps(header, separators=(",", ":")).encode()
with open("goldens.safetensors", "wb") as out:
    out.write(struct.pack("<Q", len(text)) + text + data)

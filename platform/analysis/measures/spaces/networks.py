"""Parameters and multiply-adds of the paper's network families, computed from their depths and widths alone.

Images are 32 x 32 with three channels and ten classes (CIFAR-10). A network is a stem (3 x 3 convolution to 16
channels), three stages of blocks at resolutions 32, 16 and 8, and a linear layer on the mean. Every convolution
has no bias and is followed by batch normalisation (2 parameters a channel, no multiply-adds counted). As the
program pycls has them: R-56 is 855,770 parameters and 125,747,850 flops, R-110 1,730,714 and 253,149,834.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Block = Literal["vanilla", "residual", "bottleneck"]
Ints = NDArray[np.int64]

RESOLUTIONS = (32, 16, 8)
STEM_WIDTH = 16
COLOURS = 3
CLASSES = 10


@dataclass(frozen=True)
class Complexity:
    """Learnable parameters, and flops as multiply-adds of one image's forward pass."""

    params: int
    flops: int


@dataclass(frozen=True)
class Stage:
    """Blocks at one resolution. `ratio` is a block's width by that of its bottleneck, `groups` of the middle
    convolution; both are 1 outside bottlenecks.
    """

    depth: int
    width: int
    ratio: int = 1
    groups: int = 1


def network_complexity(block: Block, stages: tuple[Stage, Stage, Stage]) -> Complexity:
    """Of a whole network."""
    first = np.array([STEM_WIDTH])
    params, flops = ends_complexity(np.array([stages[-1].width]))
    for index, stage in enumerate(stages):
        columns = (np.array([value]) for value in (stage.depth, stage.width, stage.ratio, stage.groups))
        more = stage_complexity(block, index, first, *columns)
        params, flops = params + more[0], flops + more[1]
        first = np.array([stage.width])
    return Complexity(int(params[0]), int(flops[0]))


def ends_complexity(last_width: Ints) -> tuple[Ints, Ints]:
    """Parameters and flops of stem and linear layer, by the width of the last stage; each (n,)."""
    stem_params, stem_flops = _convolution(3, np.array([COLOURS]), np.array([STEM_WIDTH]), RESOLUTIONS[0])
    linear = last_width * CLASSES + CLASSES
    return stem_params + linear, stem_flops + linear


def stage_complexity(
    block: Block, index: int, before: Ints, depth: Ints, width: Ints, ratio: Ints, groups: Ints
) -> tuple[Ints, Ints]:
    """Parameters and flops of stages, (n,) each, all arguments broadcast.

    Parameters
    ----------
    index : 0, 1 or 2; all but the first halve the resolution in their first block
    before : width of the stage before, the stem's for the first
    """
    resolution = RESOLUTIONS[index]
    entered = RESOLUTIONS[max(index - 1, 0)]
    first = _block(block, before, width, ratio, groups, resolution, entered)
    if block != "vanilla":
        # The way around a block needs a convolution of its own where shapes differ.
        differs = (before != width) | (index > 0)
        around = _convolution(1, before, width, resolution)
        first = tuple(value + np.where(differs, more, 0) for value, more in zip(first, around, strict=True))
    later = _block(block, width, width, ratio, groups, resolution, resolution)
    return first[0] + (depth - 1) * later[0], first[1] + (depth - 1) * later[1]


def _block(
    block: Block, before: Ints, width: Ints, ratio: Ints, groups: Ints, resolution: int, entered: int
) -> tuple[Ints, ...]:
    """Of one block, without the way around. `entered` is the resolution of what it receives."""
    parts: tuple[tuple[Ints, Ints], ...]
    if block == "bottleneck":
        inner = width // ratio
        parts = (
            _convolution(1, before, inner, entered),
            _convolution(3, inner, inner, resolution, groups),
            _convolution(1, inner, width, resolution),
        )
    else:
        parts = (_convolution(3, before, width, resolution), _convolution(3, width, width, resolution))
    return tuple(sum(values[1:], values[0]) for values in zip(*parts, strict=True))


def _convolution(
    kernel: int, inputs: Ints, outputs: Ints, resolution: int, groups: Ints | int = 1
) -> tuple[Ints, Ints]:
    """Parameters, with those of the normalisation after it, and flops at the resolution of its output."""
    weights = kernel * kernel * inputs * outputs // groups
    return weights + 2 * outputs, weights * resolution * resolution

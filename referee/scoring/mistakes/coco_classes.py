# SPDX-License-Identifier: Apache-2.0
"""COCO's 80 classes: their ids, 1 to 90 with gaps, and their names, in COCO's order."""

from __future__ import annotations

COCO_CLASSES: dict[int, str] = {
    **dict(
        enumerate(
            "person,bicycle,car,motorcycle,airplane,bus,train,truck,boat,traffic light,"
            "fire hydrant".split(","),
            1,
        )
    ),
    **dict(
        enumerate(
            "stop sign,parking meter,bench,bird,cat,dog,horse,sheep,cow,elephant,bear,zebra,"
            "giraffe".split(","),
            13,
        )
    ),
    **dict(enumerate("backpack,umbrella".split(","), 27)),
    **dict(
        enumerate(
            "handbag,tie,suitcase,frisbee,skis,snowboard,sports ball,kite,baseball bat,"
            "baseball glove,skateboard,surfboard,tennis racket,bottle".split(","),
            31,
        )
    ),
    **dict(
        enumerate(
            "wine glass,cup,fork,knife,spoon,bowl,banana,apple,sandwich,orange,broccoli,carrot,"
            "hot dog,pizza,donut,cake,chair,couch,potted plant,bed".split(","),
            46,
        )
    ),
    67: "dining table",
    70: "toilet",
    **dict(
        enumerate(
            "tv,laptop,mouse,remote,keyboard,cell phone,microwave,oven,toaster,sink,"
            "refrigerator".split(","),
            72,
        )
    ),
    **dict(enumerate("book,clock,vase,scissors,teddy bear,hair drier,toothbrush".split(","), 84)),
}
"""Id and name of each class, ascending."""

OTHER_NAMES = {
    "motorbike": "motorcycle",
    "aeroplane": "airplane",
    "sofa": "couch",
    "pottedplant": "potted plant",
    "diningtable": "dining table",
    "tvmonitor": "tv",
}
"""Names of the same classes in PASCAL VOC, with COCO's name of each."""

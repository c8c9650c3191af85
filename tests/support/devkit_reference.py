# SPDX-License-Identifier: Apache-2.0
"""A second, slow scorer, written from the definition alone; tests compare the fast scorer with it.

It is plain Python on tuples and lists. It shares no code with `referee`, only the names of the
rules, and follows the words of the definition rather than speed.
"""

from __future__ import annotations

import math

from referee.scoring.rules import DEVKIT


def reference_score(images, classes, truth, blacklist, rows, rules=DEVKIT, difficult=()):
    """Return `(ap, mean_ap, grouped_ap, outcome)` of a contest.

    `images` and `classes` are lists of ids, `truth` has `(image, class, box)` and `rows` has
    `(image, class, confidence, box)` in file order, `blacklist` pairs `(image, class)`. `ap` and
    `grouped_ap` map classes to a float or None; `outcome` maps each scored row's number to the
    number of the truth box that it found, or to None. `difficult` has the numbers of the truth
    boxes that rules with `ignore_difficult` leave out.
    """
    blacklist = set(blacklist)
    difficult = set(difficult) if rules.ignore_difficult else set()
    outcome = {}
    for image in images:
        found = _match_image(image, truth, blacklist, rows, set(classes), rules)
        # VOCevaldet.m: of rows whose best box is difficult, none is true or false.
        outcome.update({row: box for row, (best, box) in found.items() if best not in difficult})
    ap, grouped = {}, {}
    for klass in classes:
        positives = sum(
            c == klass and (i, c) not in blacklist and number not in difficult
            for number, (i, c, _) in enumerate(truth)
        )
        mine = [number for number in outcome if rows[number][1] == klass]
        mine.sort(key=lambda number: (-rows[number][2], rows[number][0], number))
        ap[klass] = _area(mine, outcome, positives) if positives else None
        grouped[klass] = _grouped_area(mine, outcome, rows, positives) if positives else None
    known = [value for value in ap.values() if value is not None]
    return ap, (sum(known) / len(known) if known else None), grouped, outcome


def _match_image(image, truth, blacklist, rows, classes, rules):
    """Match the detections of one image one after the other: its best box, and what it found."""
    numbers = [
        number
        for number, (i, c, confidence, _) in enumerate(rows)
        if i == image and c in classes and math.isfinite(confidence) and (i, c) not in blacklist
    ]
    numbers.sort(key=lambda number: -rows[number][2])
    taken, outcome = set(), {}
    for number in numbers:
        best, best_overlap = None, -math.inf
        for t, (i, c, box) in enumerate(truth):
            if i != image or c != rows[number][1] or (t in taken and not rules.best_box_only):
                continue
            overlap = _overlap(rows[number][3], box)
            # VOCevaldet.m looks for the largest overlap first, and at the threshold afterwards.
            reaches = rules.best_box_only or _reaches(overlap, box, rules)
            if overlap > 0 and reaches and overlap > best_overlap:
                best, best_overlap = t, overlap
        if best is not None and not _reaches(best_overlap, truth[best][2], rules):
            best = None
        outcome[number] = (best, None if best in taken else best)
        taken.add(best)
    return outcome


def _reaches(overlap, box, rules):
    needed = _needed(box, rules)
    return overlap > needed if rules.strict else overlap >= needed


def _needed(box, rules):
    w, h = box[2] - box[0] + 1, box[3] - box[1] + 1
    tolerance = rules.tolerance_px
    return min(rules.iou_cap, (w * h) / ((w + tolerance) * (h + tolerance)))


def _overlap(a, b):
    if not all(math.isfinite(x) for x in a):
        return 0.0
    w = min(a[2], b[2]) - max(a[0], b[0]) + 1
    h = min(a[3], b[3]) - max(a[1], b[1]) + 1
    if w <= 0 or h <= 0:
        return 0.0
    area_a = (a[2] - a[0] + 1) * (a[3] - a[1] + 1)
    area_b = (b[2] - b[0] + 1) * (b[3] - b[1] + 1)
    return w * h / (area_a + area_b - w * h)


def _area(ordered, outcome, positives):
    """Sum recall steps times the best precision at or after each, with sentinels."""
    recall, precision, found = [0.0], [0.0], 0
    for seen, number in enumerate(ordered, start=1):
        found += outcome[number] is not None
        recall.append(found / positives)
        precision.append(found / seen)
    return _envelope_area(recall, precision)


def _grouped_area(ordered, outcome, rows, positives):
    """Sum the area as `_area` does, with one point after each group of equal confidences."""
    recall, precision, found = [0.0], [0.0], 0
    for seen, number in enumerate(ordered, start=1):
        found += outcome[number] is not None
        last = seen == len(ordered) or rows[ordered[seen]][2] != rows[number][2]
        if last:
            recall.append(found / positives)
            precision.append(found / seen)
    return _envelope_area(recall, precision)


def _envelope_area(recall, precision):
    recall, precision = [*recall, 1.0], [*precision, 0.0]
    for i in range(len(precision) - 2, -1, -1):
        precision[i] = max(precision[i], precision[i + 1])
    return sum(
        (recall[i] - recall[i - 1]) * precision[i]
        for i in range(1, len(recall))
        if recall[i] != recall[i - 1]
    )

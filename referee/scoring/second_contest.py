# SPDX-License-Identifier: Apache-2.0
"""Whether a second contest would turn a ranking, judged by how far all teams lie apart.

Of close rivals the one that is ahead was lucky too. How much of a difference is luck depends on how
much true scores differ at all, and an event's own teams tell that. So this is empirical Bayes: the
spread of the true scores is estimated first, then each difference is shrunk by it, then a second
measurement of that difference is predicted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from referee.scoring import student


@dataclass(frozen=True)
class Spread:
    """The standard deviation of the true difference of two of `teams` teams, as estimated.

    `sigma` has the unit of the differences. It is infinite where all errors are 0.
    """

    sigma: float
    teams: int

    def kept(self, error: float) -> float:
        """Return the share of a difference with this standard error that is no luck, 0 to 1."""
        if self.sigma == 0:
            return 0.0
        ratio = error / self.sigma
        return 1 / (1 + ratio * ratio)


def estimate_spread(differences: Sequence[tuple[float, float]], teams: int) -> Spread | None:
    """Estimate how far true scores lie apart from pairs' differences and their standard errors.

    Give all pairs of the teams that can be compared; None if there is none. The mean of d² - s² is
    the method of moments for the variance of a true difference: it is the estimator of L. V.
    Hedges, "A Random Effects Model for Effect Sizes", Psychological Bulletin 93 (1983), written in
    pairs, because all teams saw the same images, so that only their differences err independently
    of what the images share. A plain plug-in can be below 0, and trusts three teams like thirty. So
    u, the share of errors in the observed variance, has the uniform prior of M. J. Daniels, "A
    Prior for the Variance in Hierarchical Models", Canadian Journal of Statistics 27 (1999). With a
    chi-squared of k - 1 degrees for k teams its posterior is a gamma distribution cut off at 1, and
    the mean of that counts.
    """
    known = [pair for pair in differences if all(map(math.isfinite, pair))]
    if teams < 2 or not known:
        return None
    scale = max(max(abs(difference), error) for difference, error in known)
    if scale == 0:
        return Spread(0.0, teams)
    observed = math.fsum((difference / scale) ** 2 for difference, _ in known) / len(known)
    errors = math.fsum((error / scale) ** 2 for _, error in known) / len(known)
    if errors == 0:
        return Spread(math.inf, teams)
    share = _mean_share(teams, observed / errors)
    return Spread(scale * math.sqrt(errors * (1 - share) / share), teams)


def turn_probability(difference: float, error: float, degrees: float, spread: Spread) -> float:
    """Return the probability that a second measurement of a difference has the other sign.

    With d and its standard error s, and true differences that are normal around 0 with variance v,
    the true one has the mean B d and the variance B s², where B = v / (v + s²). The second
    measurement errs by s again, so it is around B d with the variance (1 + B) s². Source: B. Efron,
    C. Morris, "Data Analysis Using Stein's Estimator and its Generalizations", JASA 70 (1975).
    Student's `degrees` stand in for the normal distribution. An equal result counts half.
    """
    if difference == 0 or math.isnan(error):
        return 0.5
    if error == 0:
        return 0.0
    kept = spread.kept(error)
    return student.probability_below(-abs(difference) / error * kept / math.sqrt(1 + kept), degrees)


def _mean_share(teams: int, ratio: float) -> float:
    """Return the posterior mean of the share of errors in the variance that was observed.

    `ratio` is the observed variance by that of the errors alone. The density is proportional to
    u^(a-1) exp(-b u) on 0..1, with a = (k + 1) / 2 and b = (k - 1) ratio / 2. Its mean is
    a x / (1 + b x), where x is the sum of b^n / ((a + 1) … (a + 1 + n)): the series of the
    incomplete gamma function (NIST DLMF 8.7.1), whose terms are positive.
    """
    shape, rate = (teams + 1) / 2, (teams - 1) * ratio / 2
    total = term = 1 / (shape + 1)
    place = shape + 1
    # Behind these bounds the sum, or the mean, no longer changes: it is a / b then.
    while term > 1e-17 * total and rate * total < 1e17:
        place += 1
        term *= rate / place
        total += term
    return shape / (1 / total + rate)

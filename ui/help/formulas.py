"""The formulas behind the figures, as Help shows them: name, formula, what its letters are, where it is from."""

from __future__ import annotations

FORMULAS = (
    (
        "Sizes of the ballots",
        r"N^{(1)} = N, \qquad N^{(k)} = \operatorname{round}\bigl(\alpha\, N^{(k-1)}\bigr)",
        "N items, the share α of which stays from one ballot to the next (Eq. 2).",
    ),
    (
        "Comparisons, and votes on an item",
        r"\begin{gathered}"
        r"N_\text{comp} = \sum_{k=1}^{n_b} \left\lceil \tfrac{1}{2} M N^{(k)} \right\rceil \\[1ex]"
        r"M_\text{top} = \sum_{k=1}^{n_b} M, \quad M_\text{unif} = \frac{2 N_\text{comp}}{N}\end{gathered}",
        (
            "n_b ballots, each item M times in each; M_unif is what every item would get if all were treated alike "
            "(Eqs. 3 and 4)."
        ),
    ),
    (
        "Borda score",
        r"x = \frac{\text{wins} + \tfrac{1}{2}\,\text{ties}}{\text{votes}}",
        "Of one item in one ballot (Eq. 1).",
    ),
    (
        "Rescaling",
        r"\begin{gathered}"
        r"y^{(k)} = 1 - \hat b + \hat b\, x^{(k)} \\[1ex]"
        r"\hat b = \frac{\sum (1 - x^{(k)})(1 - \bar y^{(k-1)})}{\sum (1 - x^{(k)})^2}\end{gathered}",
        "Least squares through (1, 1) over the items of ballot k; ȳ is the mean of the y's so far (Eqs. 5 and 6).",
    ),
    (
        "Weighted rank correlations",
        r"\begin{gathered}"
        r"\rho_w = \frac{\sum_i w_i (a_i - \bar a)(b_i - \bar b)}"
        r"{\sqrt{\sum_i w_i (a_i - \bar a)^2 \, \sum_i w_i (b_i - \bar b)^2}} \\[1ex]"
        r"\tau_w = \frac{\sum_{i,j} w_i w_j \operatorname{sgn}(a_j - a_i) \operatorname{sgn}(b_j - b_i)}"
        r"{\sqrt{\sum_{i,j} w_i w_j \operatorname{sgn}^2(a_j - a_i) \, "
        r"\sum_{i,j} w_i w_j \operatorname{sgn}^2(b_j - b_i)}}"
        r"\end{gathered}",
        "a and b are an item's ranks by people and by the model, ā and b̄ their weighted means (Eqs. 7 and 8).",
    ),
    (
        "Weights of the ranks",
        r"w_i \propto \frac{1}{(a_i + n_0)^2} + \frac{1}{(b_i + n_0)^2}, \qquad "
        r"R(n_0) = \frac{1}{(n_0 + 1)^2 \, \psi'(n_0 + 1)}",
        (
            "The smaller n₀, the more the first ranks weigh; R(n₀) is the share of the first one, ψ′ the trigamma "
            "function (Eq. 9)."
        ),
    ),
    (
        "Votes of Runoff's own protocol",
        r"P(i \text{ beats } j \mid v) = \varepsilon_v + (1 - 2 \varepsilon_v)\, "
        r"\frac{1}{1 + e^{-s_v (\theta_i - \theta_j)}}",
        "θ is an item's strength, s the voter's sharpness, ε the lapse (docs/runoff.md).",
    ),
    (
        "Simulated voters",
        r"o_{iv} = F\bigl(z_i + \sigma^*_v (1 - z_i^2)\, \eta_{iv}\bigr), \qquad \eta_{iv} \sim \mathcal N(0, 1)",
        (
            "Voter v's opinion of an item of the true value z, cut at ±1; with the probability ε_v the other item is "
            "named (Eq. 11)."
        ),
    ),
)
SOURCE = (
    "Eq. numbers are those of Lombardo, Boiardi, Colombo, Schiavone and Tamagnone (2020), *Top-Rank-Focused Adaptive "
    "Vote Collection for the Evaluation of Domain-Specific Semantic Models*, EMNLP. docs/method.md has the rest, with "
    "references."
)

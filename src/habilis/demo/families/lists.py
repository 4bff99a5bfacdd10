"""Statistics of numbers that stand in the question itself."""

from __future__ import annotations

import re

from habilis.demo.language import numbers
from habilis.demo.operations import Example, Operation, Slot, SlotType, Wording
from habilis.demo.world import Call, World

NUMBERS = Slot("numbers", "array_of_numbers", "the numbers", ("numbers", "values", "data"))


def _statistic(
    key: str, words: str, names: tuple[tuple[str, str, str], ...], compute: str, mark: str, bars: str = "",
    result: SlotType = "number",
) -> tuple[str, Operation]:  # fmt: skip
    """The words that ask for a statistic, and it. `names`: wording → tool name and noun."""
    operation = Operation(
        key=f"list_{key}",
        description="{word} of a list of numbers.",
        inputs=(NUMBERS,),
        output=Slot(key, result, "the value found", (key, *(name.lower().replace(" ", "_") for _, _, name in names))),
        wordings=tuple(
            Wording(when, name, noun, {"numbers": NUMBERS.names[i % 3], key: noun.lower().replace(" ", "_")})
            for i, (when, name, noun) in enumerate(names)
        ),
        marks=(mark, "list of numbers|given numbers|numeric list"),
        bars=f"column|json|csv|file|{bars}".rstrip("|"),
        example=Example({"numbers": [2, 4, 4, 10]}),
        finding=f"the {key.replace('_', ' ')} of {{numbers}} is {{value}}",
        naive="list_statistic",
        robust="list_statistic",
        fill={"compute": compute},
    )
    return words, operation


_SPREAD = "deviation|variance"
_CENTRE = "mean|average|median|mode"
STATISTICS = (
    _statistic(
        "mean", r"(?:arithmetic )?(?:mean|average)",
        (("average", "average_of_numbers", "Average"), ("", "compute_mean_of_numbers", "Mean")),
        "math.fsum(numbers) / len(numbers)", "mean|average", f"median|{_SPREAD}",
    ),
    _statistic(
        "median", r"median|middle value",
        (("", "find_median_of_numbers", "Median"),), "statistics.median(numbers)", "median", f"mean|average|{_SPREAD}",
    ),
    _statistic(
        "modes", r"modes?|most (?:common|frequent) (?:value|number)",
        (("", "find_modes_of_numbers", "Modes"),),
        "statistics.multimode(numbers)", "modes?", f"mean|median|{_SPREAD}", "array_of_numbers",
    ),
    _statistic(
        "population_standard_deviation", r"population (?:standard deviation|std(?: ?dev)?)",
        (("", "compute_population_standard_deviation", "Population standard deviation"),),
        "statistics.pstdev(numbers)", "population standard deviation",
    ),
    _statistic(
        "sample_standard_deviation", r"(?:sample )?(?:standard deviation|std(?: ?dev)?)",
        (("", "compute_sample_standard_deviation", "Sample standard deviation"),),
        "statistics.stdev(numbers) if len(numbers) > 1 else None", "sample standard deviation", "population",
    ),
    _statistic(
        "population_variance", r"population variance",
        (("", "compute_population_variance", "Population variance"),),
        "statistics.pvariance(numbers)", "population variance",
    ),
    _statistic(
        "sample_variance", r"(?:sample )?variance",
        (("", "compute_sample_variance", "Sample variance"),),
        "statistics.variance(numbers) if len(numbers) > 1 else None", "sample variance", "population",
    ),
    _statistic(
        "range", r"range", (("", "compute_range_of_numbers", "Range"),),
        "max(numbers) - min(numbers)", "range", _CENTRE,
    ),
    _statistic(
        "sum", r"sum|total",
        (("total", "total_of_numbers", "Total"), ("", "sum_numbers", "Sum")),
        "math.fsum(numbers)", "sum|total", _CENTRE,
    ),
    _statistic(
        "product", r"product", (("", "multiply_numbers", "Product"),), "math.prod(numbers)", "product", _CENTRE,
    ),
    _statistic(
        "minimum", r"minimum|min|smallest(?: (?:number|value))?|lowest(?: (?:number|value))?",
        (("minimum|min", "find_minimum_of_numbers", "Minimum"), ("", "find_smallest_number", "Smallest number")),
        "min(numbers)", "minimum|smallest", f"largest|maximum|{_CENTRE}",
    ),
    _statistic(
        "maximum", r"maximum|max|largest(?: (?:number|value))?|highest(?: (?:number|value))?|biggest(?: number)?",
        (("maximum|max", "find_maximum_of_numbers", "Maximum"), ("", "find_largest_number", "Largest number")),
        "max(numbers)", "maximum|largest", f"smallest|minimum|{_CENTRE}",
    ),
)  # fmt: skip

_OF = (
    r"(?: value)?(?: of| for| among| in| from| between)?(?: (?:the|these|this|those|following|all|given))*"
    r"(?: (?:numbers|values|list|data|data ?set|series|sequence|set|sample|observations|figures|integers))?"
    r"(?: of numbers)?:? ?"
)
_GIVEN = re.compile(
    r"(?:given|for|with|of|from|in|take|consider)?(?: (?:the|these|this|following))*(?: ?"
    r"(?:numbers|values|list|data|data ?set|sample))?:? ?"
    r"(?P<list>[\[({]?[-+0-9][-+0-9.,; ]*(?: ?and [-+0-9.]+)?[\])}]?)[,:;.?]? (?:what"
    r"(?: is|'s|s| are)?|calculate|compute|find|determine) (?:the )?(?P<asked>.+)",
    re.IGNORECASE,
)  # fmt: skip


class Lists:
    """Family of statistics of listed numbers; at least two numbers, and nothing else, must be listed."""

    operations = tuple(operation for _, operation in STATISTICS)

    def read(self, phrase: str, world: World) -> Call | None:
        text = phrase
        if match := _GIVEN.fullmatch(phrase):
            text = f"{match['asked']} of {match['list']}"
        text = re.sub(r"^(?:the )?add up ", "sum of ", text, flags=re.I)
        for words, operation in STATISTICS:
            match = re.fullmatch(rf"(?:{words}){_OF}(?P<list>[\[({{0-9+.-].*)", text, re.IGNORECASE)
            listed = numbers(match["list"]) if match else None
            if listed and len(listed) > 1:
                return Call(operation, {"numbers": listed})
        return None

"""A plan must never name a tool that is not there, nor ask for one that cannot be built."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.agents.planning import (
    MAX_WORD,
    FieldReply,
    PlanReply,
    ReuseReply,
    ToolRequestReply,
    as_plan,
    asks_for_web,
    fields_of,
    plan_form,
    schema_of,
    without_misfits,
)
from habilis.core.types import Plan, ToolCard

LIBRARY = ["count_words", "compute_column_mean", "read_page"]


def test_known_names_are_taken_as_they_are() -> None:
    plan, remarks = as_plan(PlanReply(required_tool_names=["count_words"]), LIBRARY, known=LIBRARY)
    assert plan.reuse == ("count_words",)
    assert remarks == []


def test_a_near_name_is_corrected_and_said() -> None:
    plan, remarks = as_plan(PlanReply(required_tool_names=["count_word"]), LIBRARY, known=LIBRARY)
    assert plan.reuse == ("count_words",)
    assert "count_words" in remarks[0]


@pytest.mark.parametrize("name", ["../../etc/passwd", "make_coffee", "", "count_words.py/.."])
def test_an_unknown_name_is_dropped_and_said_never_used_as_a_path(name: str) -> None:
    plan, remarks = as_plan(PlanReply(required_tool_names=[name]), LIBRARY, known=LIBRARY)
    assert plan.reuse == ()
    assert len(remarks) == 1


def test_two_near_names_are_no_correction() -> None:
    plan, remarks = as_plan(PlanReply(required_tool_names=["tool_c"]), ["tool_a", "tool_b"], known=["tool_a", "tool_b"])
    assert plan.reuse == ()
    assert len(remarks) == 1


def test_a_request_for_a_tool_that_stands_is_a_reuse() -> None:
    request = ToolRequestReply(name="count_words", description="d")
    plan, _ = as_plan(PlanReply(tool_requests=[request]), LIBRARY, known=[])
    assert (plan.reuse, plan.build) == (("count_words",), ())


def test_naming_a_requested_tool_as_required_is_no_mistake() -> None:
    reply = PlanReply(
        required_tool_names=["sum_list"], tool_requests=[ToolRequestReply(name="sum_list", description="d")]
    )
    plan, remarks = as_plan(reply, LIBRARY, known=LIBRARY)
    assert [request.name for request in plan.build] == ["sum_list"]
    assert remarks == []


def test_at_most_five_parameters_and_the_required_ones_stay() -> None:
    fields = [FieldReply(name=f"o{i}", required=False) for i in range(4)] + [FieldReply(name=f"r{i}") for i in range(3)]
    plan, remarks = as_plan(
        PlanReply(tool_requests=[ToolRequestReply(name="t", description="d", parameters=fields)]), [], known=[]
    )
    properties = plan.build[0].input_schema["properties"]
    assert len(properties) == 5
    assert {"r0", "r1", "r2"} <= set(properties)
    assert "more than 5" in remarks[0]


def test_schemas_of_other_systems_are_understood() -> None:
    reply = ToolRequestReply.model_validate(
        {
            "name": "t",
            "description": "d",
            "input_schema": {
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "where"},
                    "n": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": 3},
                    "xs": {"type": "array", "items": {"type": "number"}},
                },
                "required": ["path"],
            },
            "output_schema": {"total": "number"},
        }
    )
    assert [(f.name, f.type, f.required) for f in reply.parameters] == [
        ("path", "string", True),
        ("n", "integer", False),
        ("xs", "array_of_numbers", False),
    ]
    assert [(f.name, f.type) for f in reply.returns] == [("total", "number")]


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        ({"type": "object"}, []),
        ({"type": "object", "properties": {}, "title": "In"}, []),
        ({"type": "object", "path": {"type": "string"}, "required": ["path"]}, ["path"]),
        ({"type": "string", "path": "string"}, ["type", "path"]),
    ],
)
def test_a_tool_without_parameters_is_not_asked_for_the_schemas_own_words(
    schema: dict[str, object], names: list[str]
) -> None:
    assert [field["name"] for field in fields_of(schema)] == names


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ("path", "path"),
        ("file path", "file_path"),
        ("2nd", "field_2nd"),
        ("_x", "x"),
        ("class", "class_"),
        ("", "value"),
        ("größe", "größe"),
        ("model_config", "model_config_"),
    ],
)
def test_fields_are_asked_for_by_names_that_a_tool_can_have(said: str, field: str) -> None:
    assert FieldReply(name=said).name == field


@given(st.text(max_size=60))
def test_any_name_of_a_field_becomes_an_identifier(name: str) -> None:
    assert FieldReply(name=name).name.isidentifier()


def test_flat_fields_and_schemas_say_the_same() -> None:
    fields = [FieldReply(name="xs", type="array_of_numbers", description="d"), FieldReply(name="o", required=False)]
    again = [FieldReply(**field) for field in fields_of(schema_of(fields))]
    assert again == fields


KEYS = st.sampled_from(["type", "items", "anyOf", "properties"])
ODD = st.recursive(
    st.none() | st.text(max_size=5) | st.integers(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=2),
    max_leaves=6,
)


@given(st.dictionaries(st.text(max_size=8), ODD, max_size=3))
def test_odd_schemas_never_break_a_plan(schema: dict[str, object]) -> None:
    for field in fields_of(schema):
        assert isinstance(field["name"], str)


def test_a_server_that_decodes_by_the_form_can_name_no_tool_that_is_not_there() -> None:
    form = plan_form(("count_words", "read_rows")).model_json_schema()
    reuse = form["properties"]["required_tool_names"]["items"]
    assert reuse["properties"]["name"]["enum"] == ["count_words", "read_rows"]
    assert reuse["required"] == ["name", "serves"]
    assert form["required"] == ["required_tool_names", "tool_requests", "tool_usage_guidance"]
    assert "required_tool_names" not in plan_form(()).model_json_schema()["properties"]
    assert plan_form(()).model_validate({"required_tool_names": ["x"]}).required_tool_names == [ReuseReply(name="x")]
    assert plan_form(("a",)).model_validate({}).tool_requests == []
    assert plan_form(("count_words", "read_rows")).model_json_schema() == form  # no form takes another's names
    request = form["$defs"]["ToolRequestReply"]
    assert set(request["required"]) == {"name", "description", "parameters", "returns"}
    assert request["properties"]["returns"]["minItems"] == 1


def test_what_a_tool_serves_is_kept_in_bounds_and_a_bare_name_is_read_too() -> None:
    said = [
        {"name": "count_word", "serves": "  the words\nof notes.txt " + "x" * 500},
        "read_page",
        {"name": "read_page"},
    ]
    plan, _ = as_plan(PlanReply.model_validate({"required_tool_names": said}), LIBRARY, known=LIBRARY)
    assert plan.reuse == ("count_words", "read_page")
    assert set(plan.serves) == {"count_words"}
    assert plan.serves["count_words"].startswith("the words of notes.txt")
    assert len(plan.serves["count_words"]) == MAX_WORD
    assert PlanReply.model_validate({"required_tool_names": [{"name": "x", "serves": None}]})


def test_a_tool_whose_word_gives_it_away_is_left_out_and_said() -> None:
    cards = {
        "average_of_column": ToolCard(name="average_of_column", description="Average of a column of a CSV file."),
        "read_rows": ToolCard(name="read_rows", description="Read the rows of a table."),
    }
    question = "What is the highest price in sales.csv?"
    serves = {"average_of_column": "finds the highest price", "read_rows": "writes letters to the editor"}
    plan, remarks = without_misfits(Plan(reuse=(*cards, "other"), serves=serves), question, cards.get)
    assert plan == Plan(reuse=("other",)), "nothing was said of it"
    assert "highest, not average" in remarks[0]
    assert "nothing that the question asks" in remarks[1]
    fair = Plan(reuse=("read_rows",), serves={"read_rows": "reads the prices"})
    assert without_misfits(fair, question, cards.get) == (fair, [])


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("What is the largest prime factor of 600851?", False),
        ("How many days lie between two dates?", False),
        ("Which is the newest release, see https://example.org/releases?", True),
        ("How many albums did she publish, according to Wikipedia?", True),
        ("What is the current price of gold?", True),
        ("Was ist der aktuelle Kurs?", True),
    ],
)
def test_advice_on_pages_is_given_where_a_question_may_be_about_the_web(question: str, asks: bool) -> None:
    """A small model that was to factor a number planned tools that find and read pages: the prompt spoke of them."""
    assert asks_for_web(question) is asks

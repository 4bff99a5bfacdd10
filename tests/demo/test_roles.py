"""Each role of the offline model keeps its word: reuse, building, mending, calling, judging, answering."""

from __future__ import annotations

import asyncio
import json

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from habilis.demo import MODEL_NAME, OfflineModel, reply

QUESTION = "What is the average price in sales.csv?"
AVERAGE = {"file_path": "sales.csv", "column": "price"}


@pytest.fixture
def average(player):
    """The tool that the question leads to, in its first version."""
    return player.build(player.plan(QUESTION, ["sales.csv"])["tool_requests"][0])


def opening(player, question=QUESTION, names=("sales.csv",)):
    prompt = player.prompts.render("execute", question=question, files=player.view(names), missing=[], guidance="")
    return [SystemMessage(prompt.system), HumanMessage(prompt.user)]


def called(arguments, result, number=1, name="calculate_average_of_column"):
    """A call and its result, as they stand in a history."""
    call = {"name": name, "args": arguments, "id": f"c{number}"}
    text = result if isinstance(result, str) else json.dumps(result)
    return [AIMessage("", tool_calls=[call]), ToolMessage(text, tool_call_id=f"c{number}", name=name)]


# plan


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("What is the mean of the quantity column in sales.csv?", QUESTION),
        ("What is the word count of notes.txt?", "How many words does notes.txt have?"),
        ("What are the prime factors of 12?", "Factorize 360"),
        ("What is the sum of 3 and 4?", "What is the total of 5, 6 and 7?"),
        (
            "What is the highest price in sales.csv where region is north?",
            "maximum price in sales.csv for region south",
        ),
        (
            "How many days are between 2024-01-01 and 2024-01-05?",
            "difference in days between 2024-02-01 and 2024-02-09",
        ),
    ],
)
def test_a_tool_that_fits_is_reused_however_it_was_named(player, first, later):
    files = [name for name in ("sales.csv", "notes.txt") if name in first]
    library = list(player.play(first, files).tools.values())
    played = player.play(later, files, library)
    assert played.plan["tool_requests"] == []
    assert played.plan["required_tool_names"] == [{"name": library[0].name, "serves": later}]
    assert played.status == "answered"


def test_differently_worded_questions_name_the_same_tool_differently(player):
    questions = [QUESTION, "What is the mean price in sales.csv?", "What is the typical price in sales.csv?"]
    requests = [player.plan(question, ["sales.csv"])["tool_requests"][0] for question in questions]
    assert len({request["name"] for request in requests}) == 3
    assert len({request["parameters"][0]["name"] for request in requests}) > 1
    assert len({player.play(question, ["sales.csv"]).final for question in questions}) == 1


def test_a_tool_of_another_writer_is_reused_by_what_it_says_it_does(player, loaded):
    source = """
from pydantic import BaseModel
__TOOL_META__ = {"name": "csv_stats_mean", "description": "Arithmetic mean of one numeric column in a CSV table.",
                 "dependencies": []}
class InputModel(BaseModel):
    csv_file: str
    column_header: str
class OutputModel(BaseModel):
    the_mean: float | None = None
    rows_seen: int = 0
    error: str | None = None
def run(input: InputModel) -> OutputModel:
    return OutputModel(the_mean=22.5, rows_seen=24)
"""
    played = player.play(QUESTION, ["sales.csv"], [loaded(source)])
    assert played.plan["required_tool_names"] == [{"name": "csv_stats_mean", "serves": QUESTION}]
    assert played.calls == [("csv_stats_mean", {"csv_file": "sales.csv", "column_header": "price"})]
    assert played.final == "22.5"


def test_a_tool_that_only_looks_alike_is_not_reused(player):
    cards = [
        {"name": name, "description": description, "parameters": ["file_path", *parameters]}
        for name, description, parameters in (
            ("calculate_average_of_json_field", "Average of a field of a JSON file.", ["field"]),
            ("average_of_column_by_group", "Average of a column of a CSV file per group.", ["column", "group_column"]),
            ("median_of_column", "Median of a numeric column of a CSV file.", ["column"]),
            ("plot_average", "Draws a chart.", ["column"]),
        )
    ]
    prompt = {
        "question": QUESTION,
        "files": player.view(["sales.csv"]),
        "missing": [],
        "candidates": cards,
        "tried": [],
    }
    plan = player.data("plan", **prompt, failure_report="", build_failures="", capabilities="", frozen=False, web=False)
    assert plan["required_tool_names"] == []
    assert plan["tool_requests"][0]["name"] == "calculate_average_of_column"


# build and enhance


def test_a_failure_in_the_build_prompt_brings_a_better_version(player):
    request = player.plan(QUESTION, ["sales.csv"])["tool_requests"][0]
    first, second = player.build(request), player.build(request, failure="KeyError: 'price'")
    arguments = {"file_path": "sales_semicolon.csv", "column": "price"}
    with pytest.raises(KeyError):
        first.call(arguments, player.folder)
    assert second.call(arguments, player.folder)["average"] == pytest.approx(1150.458333)
    assert player.build(request).source == first.source


def test_a_mended_tool_keeps_its_name_its_fields_and_its_good_results(player, average):
    better = player.enhance(average, AVERAGE, "ValueError")
    assert better.meta == average.meta
    assert better.card() == average.card()
    assert better.call(AVERAGE, player.folder) == average.call(AVERAGE, player.folder)


@pytest.mark.parametrize(
    ("prompt", "values"),
    [
        ("enhance", {"name": "x", "code": "def run(", "failures": [], "failure": ""}),
        ("enhance", {"name": "x", "code": "__TOOL_META__ = {'name': 'x'}", "failures": [], "failure": ""}),
        (
            "build",
            {"name": "fetch_page", "description": "Text of a web page.", "input_schema": "{}", "output_schema": "{}",
             "question": "", "files": [], "skeleton": "", "failure": ""},
        ),
    ],
)  # fmt: skip
def test_a_tool_that_it_cannot_write_is_refused_in_words_without_code(player, prompt, values):
    text = str(player.ask(prompt, **values).content)
    assert MODEL_NAME in text
    assert "```" not in text


# execute


def test_a_call_is_deterministic(player, average):
    one, other = (reply(opening(player), [average.spec()]) for _ in range(2))
    assert one.tool_calls == other.tool_calls
    assert [(call["name"], call["args"]) for call in one.tool_calls] == [(average.name, AVERAGE)]


def test_independent_calls_go_into_one_reply(player):
    question = "How many rows are in sales.csv and what is the average price?"
    played = player.play(question, ["sales.csv"])
    assert (played.rounds, len(played.calls)) == (1, 2)


def test_a_failing_call_is_made_twice_and_then_reported(player, average):
    history = opening(player)
    for number in (1, 2):
        said = reply(history, [average.spec()])
        assert [call["args"] for call in said.tool_calls] == [AVERAGE]
        history += called(AVERAGE, "Error (crashed): ZeroDivisionError: division by zero", number)
    said = reply(history, [average.spec()])
    assert said.tool_calls == []
    assert "ZeroDivisionError" in str(said.content)
    again = reply([*history, said, HumanMessage("<failure_report>\nfailed\n</failure_report>")], [average.spec()])
    assert again.content == said.content, "nothing has changed, so nothing new is tried"


def test_a_call_that_ran_out_of_time_is_tried_again_on_another_attempt(player, average):
    history = opening(player)
    for number in (1, 2):
        history += called(AVERAGE, "The call was ended at its time limit of 120 s.", number)
    report = HumanMessage("<failure_report>\nthe tool timed out\n</failure_report>")
    assert reply(history, [average.spec()]).tool_calls == []
    assert len(reply([*history, report], [average.spec()]).tool_calls) == 1


def test_after_mending_the_call_is_simply_made_again(player, average):
    assert reply(opening(player), [average.spec()]).tool_calls[0]["args"] == AVERAGE


def test_a_missing_file_is_not_asked_for_twice(player, average):
    history = [*opening(player), *called(AVERAGE, "FileNotFoundError: sales.csv: no such file")]
    assert reply(history, [average.spec()]).tool_calls == []


def test_another_tool_is_taken_when_one_has_failed(player, average):
    other = player.build(player.plan("What is the mean of price in sales.csv?", ["sales.csv"])["tool_requests"][0])
    history = [*opening(player), *called(AVERAGE, "Error: boom")]
    said = reply(history, [average.spec(), other.spec()])
    assert [call["name"] for call in said.tool_calls] == [other.name]


def test_without_a_fitting_tool_the_missing_one_is_named(player):
    text = str(reply(opening(player)).content)
    assert "Missing capabilities:\n- " in text
    assert "column of a CSV file" in text


def test_the_last_round_without_tools_answers_from_what_there_is(player):
    history = [
        *opening(player),
        *called(AVERAGE, {"average": 22.5, "error": None}),
        HumanMessage("No tool calls are left."),
    ]
    assert "Conclusion: 22.5" in str(reply(history).content)


def test_a_result_in_a_context_summary_still_counts(player, average):
    result = f'- result of {average.name} (c1): {{"average": 22.5}}\n(Warning: again)'
    work = f"- call {average.name} (c1) {json.dumps(AVERAGE)}\n{result}"
    summary = str(player.ask("summarise", question=QUESTION, previous="", work=work).content)
    history = [*opening(player), HumanMessage(f"## Context Summary\n{summary}")]
    assert "Conclusion: 22.5" in str(reply(history, [average.spec()]).content)


def test_an_answer_tells_where_it_comes_from(player):
    played = player.play(QUESTION, ["sales.csv"])
    assert "sales.csv" in played.text
    assert "calculate_average_of_column" in played.text
    assert played.text.endswith("Conclusion: 22.5")


def test_presets_are_no_tools_of_its_own(player):
    preset = {"type": "function", "function": {"name": "ask_user", "description": "Ask the user a question.",
              "parameters": {"type": "object", "properties": {"question": {"type": "string"}}}}}  # fmt: skip
    assert reply(opening(player), [preset]).tool_calls == []


# review, verdict, fixed, answer, summarise, extract, image


@pytest.mark.parametrize(
    ("answer", "results", "status"),
    [
        ("The average is 22.5 (from `t` with {}).\nConclusion: 22.5", ['{"average": 22.5}'], "FINISH"),
        ("The average is 22.5.", ['{"average": 22.5}'], "FINISH"),
        ("Paris is the capital.", [], "FINISH"),
        ("The average is 22.5 (from `t` with {}).\nConclusion: 22.5", [], "RETRY"),
        ("The average is 22.5.", ['{"average": null, "error": "no rows"}'], "RETRY"),
        ("I cannot answer this.", [], "RETRY"),
        ("No result was found.", ['{"average": 22.5}'], "RETRY"),
        ("Missing capabilities:\n- x", [], "RETRY"),
        ("", [], "RETRY"),
    ],
)
def test_an_answer_is_accepted_only_when_results_bear_it_out(player, answer, results, status):
    invocations = [{"tool": "t", "arguments": "{}", "result": result} for result in results]
    review = player.data("review", question=QUESTION, answer=answer, invocations=invocations)
    assert review["status"] == status
    assert review["reason"]


@pytest.mark.parametrize(
    ("column", "begins", "verdict"),
    [
        ("price", "  sales.csv:\n    item;price\n    rope;1,5", "failure"),
        ("price", "  sales.csv:\n    item,Price\n    rope,1.5", "failure"),
        ("cost", "  sales.csv:\n    item;price\n    rope;1,5", "input_error"),
        ("price", "", "failure"),
    ],
)
def test_a_missing_column_is_the_tools_fault_only_when_the_file_has_it(player, column, begins, verdict):
    call = {"call_id": "a", "tool": "t", "arguments": json.dumps({"file_path": "sales.csv", "column": column}),
            "result": f"KeyError: '{column}' line 3, in run", "begins": begins}  # fmt: skip
    other = {**call, "call_id": "b", "result": '{"average": 2.0, "error": null}'}
    replies = player.data("verdict", calls=[call, other])["verdicts"]
    assert [(one["call_id"], one["verdict"]) for one in replies] == [("a", verdict), ("b", "success")]


def test_a_mended_call_is_fixed_when_it_has_a_result(player):
    nows = ['{"average": 2.0, "error": null}', '{"average": null, "error": "no rows"}', "KeyError: 'x'", '{"n": 0}']
    records = [{"record": f"r{i}", "arguments": "{}", "before": "KeyError", "now": now} for i, now in enumerate(nows)]
    results = player.data("fixed", tool="t", records=records)["results"]
    assert [(one["record"], one["fixed"]) for one in results] == [
        ("r0", True),
        ("r1", False),
        ("r2", False),
        ("r3", True),
    ]


def test_the_final_answer_is_the_value_alone(player):
    findings = "The average is 22.5 (from `t` with {}).\nConclusion: 22.5"
    answer = player.data("answer", question=QUESTION, findings=findings, sources=[], explained=True)
    assert answer == {"final_answer": "22.5", "reasoning_summary": "The average is 22.5 (from `t` with {})."}


def test_findings_without_a_conclusion_are_taken_over_and_not_turned_into_a_value(player):
    answer = player.data(
        "answer", question=QUESTION, findings="I cannot answer this.\n\nMore.", sources=[], explained=True
    )
    assert answer["final_answer"] == "I cannot answer this."


def test_a_summary_keeps_calls_results_and_earlier_findings_letter_by_letter(player):
    work = '- call t (c1) {"path": "a/b.csv"}\n- result of t (c1): {"n": 1234567}'
    text = str(player.ask("summarise", question="q", previous="- found: 42 at https://x.test/y?z=1", work=work).content)
    for part in ("a/b.csv", "1234567", "https://x.test/y?z=1"):
        assert part in text


def test_a_summary_of_endless_work_is_bounded(player):
    text = str(
        player.ask(
            "summarise", question="q", previous="", work="\n".join(f"line {i} " * 50 for i in range(900))
        ).content
    )
    assert len(text) < 7000
    assert "line 899" in text


def test_an_extract_copies_the_lines_that_bear_on_the_question(player):
    result = "weather: fine\naverage price: 22.5\nnoise"
    assert player.ask("extract", question=QUESTION, tool="t", result=result).content == "average price: 22.5"


def test_json_is_left_to_a_cut_that_keeps_its_structure(player):
    assert player.ask("extract", question=QUESTION, tool="t", result='{"values": ["a", "b"]}').content == ""


def test_a_shortened_result_is_not_given_as_the_whole(player):
    question = "List the unique products in sales.csv"
    tool = player.build(player.plan(question, ["sales.csv"])["tool_requests"][0])
    arguments = {"csv_path": "sales.csv", "column_name": "product"}
    note = "[Cut: unique_values holds 900 items, 2 shown; the whole result is in the file results/c1.json.]"
    result = f'{{"unique_values": ["oar", "rope"], "error": null}}\n{note}'
    said = reply([*opening(player, question), *called(arguments, result, name=tool.name)], [tool.spec()])
    answer = player.data("answer", question=question, findings=said.content, sources=[], explained=True)["final_answer"]
    assert answer == "oar, rope … (shortened; the whole result is in the file results/c1.json)"


def test_it_says_that_it_cannot_see_images():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    text = str(reply([HumanMessage([{"type": "text", "text": "What is shown?"}, image])]).content)
    assert "cannot see images" in text


def test_tags_inside_the_question_do_not_change_the_role(player):
    question = "<candidates>\nnone\n</candidates> What is 2 + 2?"
    said = reply(opening(player, question, ()))
    assert MODEL_NAME in str(said.content)


# the LangChain face


def test_the_model_is_labelled_and_counts_its_tokens(player):
    model = OfflineModel()
    message = model.invoke(opening(player))
    assert model._llm_type == "habilis-offline"
    assert message.response_metadata["model_name"] == MODEL_NAME == "offline demonstration model"
    usage = message.usage_metadata
    assert usage is not None
    size = sum(len(str(one.content).encode()) for one in opening(player))
    assert usage["input_tokens"] == pytest.approx(size / 3.4, rel=0.02)
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]


def test_tools_and_their_schemas_are_bound_and_counted(player, average):
    plain = OfflineModel().invoke(opening(player))
    bound = OfflineModel().bind_tools([average.spec()])
    message = asyncio.run(bound.ainvoke(opening(player)))
    assert [call["name"] for call in message.tool_calls] == [average.name]
    assert message.usage_metadata["input_tokens"] > plain.usage_metadata["input_tokens"]


def test_a_structured_reply_comes_as_a_call_when_its_schema_is_the_only_tool(player):
    prompt = player.prompts.render(
        "answer", conversation=[], question="q", findings="Conclusion: 7", sources=[], explained=True
    )
    tool = {"type": "function", "function": {"name": "AnswerReply", "parameters": {"type": "object"}}}
    messages = [SystemMessage(prompt.system), HumanMessage(prompt.user)]
    assert reply(messages, [tool]).tool_calls[0]["args"]["final_answer"] == "7"
    assert json.loads(str(reply(messages, [], {"type": "json_schema"}).content))["final_answer"] == "7"

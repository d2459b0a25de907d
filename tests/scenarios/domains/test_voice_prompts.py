"""The prompts that domains put together from the same blocks."""

from scenarios.domains.base import CallerBrief
from scenarios.domains.voice_prompts import ENDING, HONESTY, SPEECH, SPELLING, agent_prompt, caller_prompt

FULL = CallerBrief(
    goal="get a refund",
    personality="Impatient.",
    known_info="You are Ann.",
    unknown_info="You do not know your order id.",
    background="You bought a lamp.",
    name="Ann Lee",
    instructions=("Say hello.", "Ask for a refund."),
)


def test_an_agent_reads_its_policy_first_and_unchanged_then_the_notes() -> None:
    prompt = agent_prompt("# Policy\n\n- **Bold** stays.\n")
    assert prompt.startswith("# Policy\n\n- **Bold** stays.\n\n## Additional Notes to Follow\n\n")
    positions = [prompt.index(block) for block in (SPEECH, SPELLING, ENDING, HONESTY)]
    assert positions == sorted(positions)


def test_an_agent_may_get_other_notes() -> None:
    assert agent_prompt("P", ["Today is Monday."]) == "P\n\n## Additional Notes to Follow\n\nToday is Monday."


def test_a_caller_reads_persona_task_actions_resources_in_this_order() -> None:
    prompt = caller_prompt(FULL)
    texts = (
        "human user calling customer support",
        "Your name is Ann Lee.",
        "Impatient.",
        SPEECH,
        "# Task",
        "You bought a lamp.",
        "get a refund",
        "Step 1: Say hello.\nStep 2: Ask for a refund.",
        SPELLING,
        "### Things you know\n\nYou are Ann.",
        "### Things you don't know\n\nYou do not know your order id.",
    )
    positions = [prompt.index(text) for text in texts]
    assert positions == sorted(positions)


def test_what_a_brief_leaves_out_leaves_no_heading() -> None:
    prompt = caller_prompt(CallerBrief(goal="say hello"), guidelines=())
    assert [line for line in prompt.splitlines() if line.startswith("#")] == ["# Persona", "# Task"]
    assert "Your name" not in prompt


def test_the_notes_practise_what_they_preach() -> None:
    for block in (SPEECH, SPELLING, ENDING, HONESTY):
        assert "**" not in block
        assert block.isascii()

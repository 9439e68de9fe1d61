"""Chats with background jobs: commands that wait for a word, and what became of them."""

import json
import re
from dataclasses import dataclass
from typing import Any

from tests.editor.chats import Chat, bash
from tests.support.anthropic_server import Block, Recorded, Reply, message, text, tool_use

RUNNING = (
    "Running as a background job `{}`. Use `flemma.jobs.status` with this job ID to check "
    "progress. Do not retry — the result will be delivered to you automatically when the job "
    "completes."
)
FREE = {"require_approval": False, "autopilot": {"resume_delay": 50}}
"""Every call is approved, and the conversation goes on quickly."""

PATIENT = {**FREE, "autopilot": {"resume_delay": 600_000}}
"""The conversation never goes on by itself while a test runs."""


@dataclass(frozen=True)
class Gate:
    """Holds up a command until it is opened, without counting on time."""

    name: str

    @property
    def command(self) -> str:
        """Return a command that waits, then prints its name."""
        return f"until [ -e open-{self.name} ]; do sleep 0.02; done; echo output of {self.name}"

    def open(self, chat: Chat) -> None:
        """Let the command end."""
        (chat.path.parent / f"open-{self.name}").touch()


def job_ids(chat: Chat) -> dict[str, str]:
    """Return the job id in the placeholder of each call."""
    return dict(re.findall(r"\*\*Tool Result:\*\* `(\w+)` \(job=(job_\w{5})\)", chat.text))


def delivered(chat: Chat) -> list[str]:
    """Return the ids of the delivered jobs, in the order of the text."""
    return re.findall(r"\*\*Job Result:\*\* `(job_\w+)`", chat.text)


def wait_jobs(chat: Chat, *names: str) -> dict[str, str]:
    """Wait until the calls are jobs, and return the ids of all."""
    chat.wait_until(lambda: set(names) <= set(job_ids(chat)), message=f"jobs {names}")
    return job_ids(chat)


def wait_delivered(chat: Chat, *ids: str) -> None:
    """Wait until just these results are in the chat, in this order."""
    chat.wait_until(lambda: delivered(chat) == list(ids), message=f"results of {ids}")


def job_blocks(chat: Chat, request: int = -1) -> list[str]:
    """Return the job results that a request carried, as the model reads them."""
    return [
        block["text"]
        for entry in chat.server.requests[request].json["messages"]
        if isinstance(entry["content"], list)
        for block in entry["content"]
        if block["type"] == "text" and "[Job result for" in block["text"]
    ]


def in_background(identifier: str, gate: Gate) -> Block:
    """Return a call that the model wants in the background."""
    return bash(identifier, gate.command, **{"flemma.background": True})


def fired(chat: Chat, name: str) -> list[Any]:
    """Return the data of each time an event was fired."""
    return [data for event, data in chat.events() if event == name]


def one_job(chat: Chat, answer: str = "It runs.") -> str:
    """Send, wait until the job runs and the model has answered; return the id of the job."""
    chat.send()
    chat.wait_for(answer)
    chat.wait_answered()
    return wait_jobs(chat, "toolu_job")["toolu_job"]


GATE = Gate("gate")
ONE_JOB = [message(in_background("toolu_job", GATE)), message(text("It runs."))]


def ask_for_status(request: Recorded) -> Reply:
    """Ask about the job that the request tells of, as a model would."""
    found = re.search(r"background job `(job_\w+)`", json.dumps(request.json))
    assert found, "the request tells of no job"
    return message(tool_use("toolu_ask", "flemma__jobs__status", {"job_id": found[1]}))

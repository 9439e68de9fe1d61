"""`--approve` for calls that an earlier run, or the editor, left waiting in the file."""

from flemma.app.calls import calls_of, repeats_a_failure
from flemma.app.session import ChatSession
from flemma.approval.decision import Verdict
from flemma.chat.edits import set_statuses
from flemma.chat.nodes import Status
from flemma.chat.pairing import CallKey


async def approve_waiting(session: ChatSession) -> None:
    """Approve what waits and would be approved by now.

    What the user wrote into a block stays, and so does a call that waits because it failed twice
    before (case E-34): that one has to be approved by hand.
    """
    settings = await session.settings()
    calls = calls_of(session.buffer.document)
    approved: list[CallKey] = []
    for call in calls:
        waits = call.status is Status.PENDING and not call.content
        if not waits or repeats_a_failure(call, calls):
            continue
        decision = await session.approvals.decision(call, settings)
        if decision.verdict is Verdict.APPROVE:
            approved.append(call.key)
    changes = [(key, Status.APPROVED) for key in approved]
    await session.buffer.edit(lambda document: set_statuses(document, changes))

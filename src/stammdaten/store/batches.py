"""Group commit: rows that arrive while a transaction commits share the next one; knows no table and no rule."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from stammdaten.refusals import Refusal
from stammdaten.store.doors import Write
from stammdaten.store.measuring import BATCH_ROWS

# Takes many rows, returns one outcome a row, in order; what it refuses it returns, so that the neighbours stand.
Operation = Callable[[Write, Sequence[Any]], Awaitable[Sequence[Any]]]
Transact = Callable[[int, Callable[[Write], Awaitable[Any]]], Awaitable[Any]]

LARGEST_BATCH = 512

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Submission:
    operation: Operation
    row: Any
    outcome: "asyncio.Future[Any]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def settle(self, outcome: Any) -> None:
        if self.outcome.done():  # the caller has gone
            return
        if isinstance(outcome, BaseException):
            self.outcome.set_exception(outcome)
        else:
            self.outcome.set_result(outcome)


class Batches:
    """The waiting rows of each instance; a batch is of one instance, so no two clock rows are locked together."""

    def __init__(self, transact: Transact, largest: int = LARGEST_BATCH) -> None:
        self._transact = transact
        self._largest = largest
        self._waiting: dict[int, deque[_Submission]] = {}
        self._running: dict[int, asyncio.Task[None]] = {}

    async def submit(self, instance_id: int, operation: Operation, row: Any) -> Any:
        """Apply an operation to a row and return its outcome once it is on disk.

        :raises Refusal: if the operation refuses the row.
        """
        submission = _Submission(operation, row)
        self._waiting.setdefault(instance_id, deque()).append(submission)
        if instance_id not in self._running:
            self._running[instance_id] = asyncio.create_task(self._drain(instance_id))
        return await submission.outcome

    async def finish(self) -> None:
        """Wait until nothing is under way."""
        while self._running:
            await asyncio.wait(self._running.values())

    async def _drain(self, instance_id: int) -> None:
        waiting = self._waiting[instance_id]
        try:
            while waiting:
                batch = [waiting.popleft() for _ in range(min(len(waiting), self._largest))]
                await self._apply(instance_id, batch)
        finally:
            del self._running[instance_id], self._waiting[instance_id]

    async def _apply(self, instance_id: int, batch: list[_Submission]) -> None:
        BATCH_ROWS.observe(len(batch))
        try:
            outcomes = await self._transact(instance_id, lambda write: _run(write, batch))
        except Refusal as refusal:
            outcomes = [refusal] * len(batch)
        except Exception as error:
            # Whatever it is, the guilty row gets it back.
            if len(batch) > 1:
                # Nothing of the batch stands. One by one, only the guilty row fails.
                _log.warning("a batch failed and is replayed row by row", exc_info=error)
                for submission in batch:
                    await self._apply(instance_id, [submission])
                return
            outcomes = [error]
        for submission, outcome in zip(batch, outcomes, strict=True):
            submission.settle(outcome)


async def _run(write: Write, batch: list[_Submission]) -> list[Any]:
    """Run each operation once, on all its rows in order of arrival.

    Rows of different operations in one batch were under way at the same time: no client can tell their order.
    """
    places: dict[Operation, list[int]] = {}
    for place, submission in enumerate(batch):
        places.setdefault(submission.operation, []).append(place)
    outcomes: list[Any] = [None] * len(batch)
    for operation, own in places.items():
        results = await operation(write, [batch[place].row for place in own])
        for place, outcome in zip(own, results, strict=True):
            outcomes[place] = outcome
    return outcomes

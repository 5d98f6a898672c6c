"""A validated team."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from teamsets.validator import TeamValidator


@dataclass(frozen=True)
class Team:
    """A validated team.

    `packed` is Showdown's packed string as its validator left it, `name` the file's stem or a generated name, `source`
    where it came from (a path, or "variety seed=0 index=7"). Teams with equal `id` play alike.
    """

    id: str
    format: str
    name: str
    packed: str
    source: str

    @classmethod
    def of(cls, format_id: str, packed: str, *, name: str, source: str) -> Team:
        """Create a team from a validated packed string; its id is a hash of format and content."""
        digest = hashlib.sha256(f"{format_id}\n{packed}".encode()).hexdigest()
        return cls(digest[:16], format_id, name, packed, source)

    @property
    def species(self) -> list[str]:
        """Return the species in the team's order, lead first."""
        return [member.split("|", 1)[0] for member in self.packed.split("]")]

    @property
    def export(self) -> str:
        """Return Showdown's export text. Starts node: for many teams use TeamValidator.export()."""
        with TeamValidator() as validator:
            return validator.export(self.packed)

"""Named questions to the history: each is a statement of ``cypher/audit`` with parameters, defaults and columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from pydantic import Field

from deeprefine_graphdb.model.actions import Frozen
from deeprefine_graphdb.model.errors import UsageError
from deeprefine_graphdb.stores import statements
from deeprefine_graphdb.stores.protocol import GraphStore, Table

_DEFAULTS = " defaults: "


class Audit(Frozen):
    """One audit query. ``params`` maps each parameter to its type; one without a default must be given."""

    name: str
    purpose: str
    params: dict[str, str] = Field(default_factory=dict)
    defaults: dict[str, str | int] = Field(default_factory=dict)
    columns: tuple[str, ...] = ()


def list_audits(dialect: str = "kuzu") -> list[Audit]:
    """Give every audit query by name."""
    return [_audit(name, dialect) for name in statements.names("audit", dialect)]


def run_audit(store: GraphStore, name: str, params: Mapping[str, str | int] | None = None) -> Table:
    """Run an audit query. Text is taken for a number where the parameter is one.

    Raises :class:`UsageError` for an unknown query, a parameter that it does not have, and one that is missing.
    """
    audits = {audit.name: audit for audit in list_audits(store.capabilities.engine)}
    audit = audits.get(name.replace("_", "-"))
    if audit is None:
        raise UsageError(f"There is no audit query {name!r}.", "See `deeprefine-db audit list`.")
    rows = store.read(f"audit/{audit.name.replace('-', '_')}", **_complete(audit, params or {}))
    return Table(audit.columns, [tuple(_plain(value) for value in row) for row in rows])


def _audit(name: str, dialect: str) -> Audit:
    statement = statements.load(name, dialect)
    purpose, _, defaults = statement.purpose.partition(_DEFAULTS)
    return Audit(
        name=name.removeprefix("audit/").replace("_", "-"),
        purpose=purpose,
        params=statement.params,
        defaults=json.loads(defaults or "{}"),
        columns=statement.columns,
    )


def _complete(audit: Audit, given: Mapping[str, str | int]) -> dict[str, str | int]:
    if unknown := sorted(given.keys() - audit.params.keys()):
        takes = f"It takes {', '.join(audit.params)}." if audit.params else "It takes none."
        raise UsageError(f"The audit query {audit.name} has no parameter {', '.join(unknown)}.", takes)
    values = audit.defaults | dict(given)
    if missing := [name for name in audit.params if name not in values]:
        example = " ".join(f"-p {name}=…" for name in missing)
        raise UsageError(f"The audit query {audit.name} needs {', '.join(missing)}.", f"Add `{example}`.")
    return {name: _typed(audit, name, values[name]) for name in audit.params}


def _typed(audit: Audit, name: str, value: str | int) -> str | int:
    if audit.params[name] != "INT64":
        return str(value)
    try:
        number = int(value)
    except ValueError:
        number = -1
    if number < 0:
        raise UsageError(f"The parameter {name} of {audit.name} is a whole number from 0, not {value!r}.")
    return number


def _plain(value: Any) -> Any:
    """Give a value as it is on every engine: Kùzu sums whole numbers into decimals."""
    return int(value) if isinstance(value, Decimal) else value

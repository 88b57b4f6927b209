"""What the files of a run folder must look like, as far as a report reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from annotated_types import Ge, Le, Lt, MinLen
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    TypeAdapter,
    ValidationError,
)

from pmgt_mpi.output.reading import broken

Count = Annotated[int, Ge(0), Lt(2**63)]
Cost = Annotated[FiniteFloat, Ge(0)]
MORE = ConfigDict(extra="allow", strict=True)
"""Later versions may add what a report does not know."""


class RecordShape(BaseModel):
    """A line of metrics.jsonl; null is what was not finite, or not measured."""

    model_config = MORE
    algorithm: str
    step: Count
    gradients: Cost
    rounds: Count
    messages: Count
    bytes: Count
    seconds: Cost
    objective: FiniteFloat | None
    relative_suboptimality: FiniteFloat | None
    consensus: FiniteFloat | None
    suboptimality: FiniteFloat | None = None
    theory_bound: FiniteFloat | None = None


class SummaryShape(BaseModel):
    """One algorithm of summary.json."""

    model_config = MORE
    algorithm: str
    status: str
    step: Count
    parameters: dict[str, Any] | None = None


class NetworkShape(BaseModel):
    """The network in meta.json."""

    model_config = MORE
    topology: str | None = None
    lambda_2: FiniteFloat | None = None


class MetaShape(BaseModel):
    """meta.json."""

    model_config = MORE
    version: int = Field(alias="schema")
    hosts: Annotated[list[str], MinLen(1)]
    network: NetworkShape
    started: str
    pid: Annotated[int, Ge(1), Le(2**31 - 1)] | None = None
    neighbours: list[list[Count]] | None = None
    command: list[str] | None = None
    packages: dict[str, str | None] | None = None
    environment: dict[str, str] | None = None
    rows: list[Count] | None = None
    constants: dict[str, Any] | None = None


class AlgorithmShape(BaseModel):
    """An algorithm of config.toml."""

    model_config = MORE
    label: str


class ConfigShape(BaseModel):
    """config.toml."""

    model_config = MORE
    run: dict[str, Any]
    algorithm: list[AlgorithmShape]


class EndShape(BaseModel):
    """The last record of a run of a study."""

    model_config = MORE
    step: Count
    gradients: Cost
    gradients_paper: Cost
    rounds: Count
    messages: Count
    bytes: Count
    seconds: Cost
    objective: FiniteFloat | None
    relative_suboptimality: FiniteFloat | None
    consensus: FiniteFloat | None


class ResultShape(BaseModel):
    """A run of a study; one that failed has no end."""

    model_config = MORE
    algorithm: str
    status: str
    draw: Count
    stream: Count | None
    cell: dict[str, Any]
    end: EndShape | None = None
    trace: dict[str, list[FiniteFloat | None]] = {}


class SectionsShape(BaseModel):
    """The config of a study."""

    model_config = MORE
    run: dict[str, Any]
    stop: dict[str, Any]
    algorithm: list[AlgorithmShape]


class AskedShape(BaseModel):
    """What was asked of a study."""

    model_config = MORE
    config: SectionsShape
    ranks: Annotated[int, Ge(1), Lt(2**63)]


class StudyShape(BaseModel):
    """study.json."""

    model_config = MORE
    version: int = Field(alias="schema")
    asked: AskedShape
    started: str


STUDY: TypeAdapter[Any] = TypeAdapter(StudyShape)
RESULTS: TypeAdapter[Any] = TypeAdapter(list[ResultShape])
RECORDS: TypeAdapter[Any] = TypeAdapter(list[RecordShape])
SUMMARIES: TypeAdapter[Any] = TypeAdapter(Annotated[list[SummaryShape], MinLen(1)])
META: TypeAdapter[Any] = TypeAdapter(MetaShape)
CONFIG: TypeAdapter[Any] = TypeAdapter(ConfigShape)


def check_shape(path: Path, content: Any, shape: TypeAdapter[Any]) -> None:
    """Refuse what a file holds if it has another shape; say where."""
    try:
        shape.validate_python(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        *place, last = first["loc"] or ("the whole",)
        words = [f"record {p + 1}" if isinstance(p, int) else str(p) for p in place]
        where = ", ".join(words)
        if first["type"] == "missing":
            raise broken(path, f"{where or 'it'} lacks '{last}'") from None
        name = f"record {last + 1}" if isinstance(last, int) else str(last)
        what = f"{first['msg'][0].lower()}{first['msg'][1:]}"
        where = ", ".join([*words, name])
        raise broken(path, f"{where}: {what}") from None

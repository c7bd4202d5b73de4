"""Jobs for the framework: for each arm a model, and for each domain a job that uses it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from statecomp.errors import BadInput
from statecomp.proxy.settings import check_url
from statecomp_bench.workbuddy.tasks import DOMAINS, EVAL40, Domain, eval40

Arm: TypeAlias = Literal["baseline", "statecomp"]

ARMS: tuple[Arm, Arm] = ("baseline", "statecomp")
KEY = "WORKBUDDY_API_KEY"
LEDGER = "ledger.sqlite"


@dataclass(frozen=True)
class JobPlan:
    """What both arms have in common; they differ in the address of the model and nothing else.

    Inferred, because the paper does not say: one attempt a task (its 2.69M tokens a task agree with
    that), the agent CLI, and the window at which the agent's own compaction begins, which stays at
    the benchmark's 200,000 tokens.
    """

    upstream: str
    model: str
    tasks: str = EVAL40
    port: int = 8484
    harness: str = "codebuddy-code/2.109.3"
    protocol: str = "openai"
    attempts: int = 1
    records: str = "extract"
    window: int = 200_000

    def __post_init__(self) -> None:
        check_url(self.upstream)
        if not self.upstream:
            raise BadInput(
                "must name the model's server, such as https://host/v1", field="upstream"
            )
        if not self.slug:
            raise BadInput("has no letter or digit to name files by", field="model")
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", self.harness):
            raise BadInput("is written FAMILY/VERSION, as under configs/harnesses", field="harness")
        if not (self.records == "extract" or _CHAT.fullmatch(self.records)):
            raise BadInput("is extract or chat:openai:MODEL", field="records")

    @property
    def slug(self) -> str:
        """The model's name as a file name."""
        return re.sub(r"[^a-z0-9.]+", "-", self.model.lower()).strip("-.")

    @property
    def asks(self) -> bool:
        """Whether summaries are written by a model."""
        return self.records != "extract"

    def job(self, arm: Arm, domain: Domain) -> str:
        return f"{self.slug}-{arm}-{self.tasks}-{domain.subset}"

    def address(self, arm: Arm) -> str:
        """Where the framework's proxy sends requests; it runs on the host, so loopback will do."""
        if arm == "baseline":
            return self.upstream
        version = "/v1" if self.protocol == "openai" else ""
        return f"http://127.0.0.1:{self.port}{version}"


_CHAT = re.compile(r"chat:(?:openai|anthropic):[^@\s'\"]+")


def written(plan: JobPlan) -> Mapping[str, str]:
    """Every file by its path in the folder; those under `configs` go into the framework's."""
    files = {"env.example": _environment(plan)}
    for arm in ARMS:
        files[f"configs/models/{plan.slug}-{arm}.yaml"] = _model(plan, arm)
        for domain in DOMAINS:
            files[f"configs/jobs/{plan.job(arm, domain)}.yaml"] = _job(plan, arm, domain)
    return files


def serving(plan: JobPlan) -> Iterator[str]:
    """The commands that stand between the framework and the model in the StateComp arm."""
    records, common = plan.records, ("--upstream", plan.upstream, "--store", LEDGER)
    if plan.asks:
        # What a summariser asks is billed too: a second proxy that only observes counts it.
        observed = plan.port + 1
        yield shlex.join(
            ("statecomp", "serve", "--mode", "observe", "--port", str(observed), *common)
        )
        end = "/v1" if records.startswith("chat:openai:") else ""
        records += f"@http://127.0.0.1:{observed}{end}"
    yield shlex.join(
        ("statecomp", "serve", "--port", str(plan.port), "--records", records, *common)
    )


def _variable(arm: Arm) -> str:
    return f"WORKBUDDY_{arm.upper()}_BASE_URL"


def _environment(plan: JobPlan) -> str:
    lines = [f"{_variable(arm)}={plan.address(arm)}" for arm in ARMS]
    return "\n".join(["# Append to the framework's .env and fill in the key.", *lines, f"{KEY}=\n"])


def _model(plan: JobPlan, arm: Arm) -> str:
    return (
        "model:\n"
        f"  name: {_text(plan.model)}\n"
        f"  protocols: [{plan.protocol}]\n"
        f"  backend_url_env: {_variable(arm)}\n"
        f"  backend_key_env: {KEY}\n"
    )


def _job(plan: JobPlan, arm: Arm, domain: Domain) -> str:
    lines = [
        f"model: {_text(f'{plan.slug}-{arm}')}",
        f"harness: {plan.harness}",
        f"dataset: datasets/{domain.dataset}/tasks",
        "harness_backend: local",
        "model_connection: local_proxy",
        "extra_allowed_hosts: [host.docker.internal]",
        f"n_attempts: {plan.attempts}",
        f"context_window: {plan.window}  # of the agent's own compaction, the same in both arms",
        "record_full_io: true  # the tokens of each model call, trial by trial",
    ]
    if plan.tasks == EVAL40:
        lines += ["task_selection:", "  mode: name", "  names:"]
        lines += [f"    - {_text(task)}" for task in eval40()[domain.name]]
    return "\n".join(lines) + "\n"


def _text(value: str) -> str:
    """A JSON string is a YAML string, whatever is in it."""
    return json.dumps(value)

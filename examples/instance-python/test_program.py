"""Runs the program of this folder against the emulator of the service. It needs `pulumi`, and costs nothing."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from pulumi import automation

command = "pulumi plugin run --kind resource compute -- emulator --provisioning-seconds 0 --port 0"


@pytest.fixture
def emulator() -> Iterator[str]:
    """The address of an emulator without instances."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command.split(), stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout
        address = re.search(r"http://[\w.:]+", process.stdout.readline())
        assert address
        yield address[0]
        process.terminate()


@pytest.fixture
def stack(emulator: str, tmp_path: Path) -> automation.Stack:
    """A stack of the program. Its state is new, as the emulator is."""
    variables = {
        "COMPUTE_BASE_URL": f"{emulator}/v2",
        "COMPUTE_API_TOKEN": "sk_test_emulator",
        "PULUMI_BACKEND_URL": f"file://{tmp_path.as_posix()}",
        "PULUMI_CONFIG_PASSPHRASE": "test",
    }
    options = automation.LocalWorkspaceOptions(env_vars=variables)
    return automation.create_stack("test", work_dir=".", opts=options)


def get(emulator: str, path: str) -> list[dict[str, Any]]:
    with urlopen(f"{emulator}/control/{path}") as response:
        return json.load(response)


def test_the_second_run_makes_no_server(emulator: str, stack: automation.Stack) -> None:
    stack.set_config("count", automation.ConfigValue("2"))
    stack.up()
    assert len(get(emulator, "instances")) == 2
    stack.up()
    assert [request["method"] for request in get(emulator, "requests")].count("POST") == 2

"""The files that start a cluster: what they name is there, and no secret stands in them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

from habilis.config import all_keys

ROOT = Path(__file__).resolve().parents[2]
FILES = ROOT / "examples" / "cluster"
OWN = {"HABILIS_DATA_DIR"}


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FILES / "compose.yaml").read_text(encoding="utf-8"))
    return found


def test_the_containers_are_built_of_this_checkout_and_know_each_other() -> None:
    services = compose()["services"]
    for name in ("head", "worker"):
        build = services[name]["build"]
        assert (FILES / build["context"] / build["dockerfile"]).samefile(FILES / "Dockerfile")
        assert set(services[name]["depends_on"]) <= set(services)
    port = re.search(r"--port=(\d+)", services["head"]["command"])
    assert port is not None
    assert f"--address=head:{port[1]} " in services["worker"]["command"]
    named = {volume.partition(":")[0] for one in services.values() for volume in one["volumes"]}
    assert {volume for volume in named if not volume.startswith(".")} == set(compose()["volumes"])


def test_what_they_set_are_settings_and_extras_that_there_are() -> None:
    environment = compose()["services"]["head"]["environment"]
    settings = {f"HABILIS_{key.upper().replace('.', '__')}" for key in all_keys()} | OWN
    assert {name for name in environment if name.startswith("HABILIS_")} <= settings
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    asked = [*FILES.glob("Dockerfile"), *FILES.glob("*.yaml")]
    assert {extra for file in asked for extra in re.findall(r"(?:src|habilis)\[(\w+)\]", file.read_text())} <= set(
        extras
    )


def test_secrets_come_from_outside() -> None:
    environment = compose()["services"]["head"]["environment"]
    secret = {name: value for name, value in environment.items() if re.search(r"TOKEN|PASSWORD|_KEY", name)}
    assert len(secret) == 3
    for value in (*secret.values(), compose()["services"]["db"]["environment"]["POSTGRES_PASSWORD"]):
        assert value.startswith("${")
    assert not re.search(r"(?:TOKEN|PASSWORD|KEY)=[^…\s]", (FILES / "ray-cluster.yaml").read_text(encoding="utf-8"))

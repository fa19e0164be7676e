"""The job in small: what it reads of the Containerfile, and what it would say."""

from importlib import metadata
from pathlib import Path

import pytest

from tests.endurance.jobs.image import differences, instructions, pinned, steps


def test_only_wheels_that_were_built_from_hashes_are_installed() -> None:
    told = steps(Path("/here"))
    building = [step for step in told if " pip wheel " in step]
    installing = [step for step in told if " pip install " in step]
    assert all("--no-deps" in step for step in (*building, *installing))
    assert ["--require-hashes" in step or step.endswith(" .") for step in building] == [True, True]
    assert len(installing) == 1
    assert "--no-index" in installing[0]
    assert installing[0].endswith(" /here/*.whl")


def test_it_runs_as_a_user_without_rights_who_is_made_for_it() -> None:
    told = instructions()
    names = [name for name, _ in told]
    (at,) = [number for number, name in enumerate(names) if name == "USER"]
    assert names[:at].count("FROM") == names.count("FROM"), "the user is that of the last stage"
    assert "RUN" not in names[at:]
    made = told[max(number for number, name in enumerate(names) if name == "RUN")][1]
    assert told[at][1] != "root"
    assert made.endswith(f" {told[at][1]}")
    assert "useradd" in made


def test_what_is_installed_and_not_pinned_is_named() -> None:
    assert differences(pinned(), pinned()) == []
    assert differences({"a": "1", "b": "2"}, {"b": "3", "c": "4"}) == [
        "of a, 1 is installed and nothing is pinned",
        "of b, 2 is installed and 3 is pinned",
        "of c, nothing is installed and 4 is pinned",
    ]


@pytest.mark.parametrize("name", pinned())
def test_every_package_in_the_image_says_its_licence(name: str) -> None:
    try:
        known = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        pytest.skip(f"{name} is an extra, and not installed here")
    classifiers = [one for one in known.get_all("Classifier", []) if one.startswith("License :: ")]
    assert [*known.get_all("License-Expression", []), *known.get_all("License", []), *classifiers]

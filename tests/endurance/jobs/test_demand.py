"""The job in small."""

from tests.endurance.jobs.demand import main


def test_recordings_with_their_demand_joined_are_given_back(capsys):
    assert main(["--recordings", "2", "--seed", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[-1].startswith("0 of ")
    assert lines[-1].endswith("0 answers unknown")

"""What survives what: bad files, garbage in state files, flipped bytes, a full disk at every step, and kills; tried, survived, lost.

`python benchmarks/faults.py [kills] [seed] [most]` works on a workspace in a temporary folder; with ``most``, on a draw of so many of each
kind of fault to a finished audit. Survived is: the input is read and every row is
used or set aside with its reason, or a sentence says why it cannot be used; and after any fault the next run ends in the same bytes.
Steps run in this process, without Prefect, and kills are of a process that runs them one after the other; `kill_and_rerun.py`,
`kill_collection.py` and `nightly.py` do the same with flows, collections and servers.
"""

from __future__ import annotations

import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from tasks.engine.surroundings import prepare  # noqa: E402

prepare()

from bad_files import bad_files  # noqa: E402
from kill_and_rerun import outputs  # noqa: E402

from cartograph.errors import CartographError  # noqa: E402
from tasks.engine import workspace as engine  # noqa: E402
from tasks.engine.receipt import fresh  # noqa: E402
from tasks.engine.running import run_step  # noqa: E402
from tasks.pipelines import held_workspace, open_workspace, steps_of  # noqa: E402

PARAMS = """\
ingest: {source: planted-nli, rows: 240, seed: 13}
train: {model: bow, epochs: 3, device: cpu}
measure: {burn_in: 0}
retrain: {subsets: [original, cleaned], seeds: [1]}
select: {strategies: [random], fractions: [0.5]}
aflite: {enabled: false}
publish: {enabled: false}
"""
GARBAGE = (b"", b"null", b"[]", b'{"outputs": null}', b"\xff\xfe\x00", b"{" * 50_000)
MADE = ("data", "reports", ".cartograph")
_MOST_SECONDS = 600


@dataclass
class Tally:
    """What was tried of one kind, and what was lost."""

    tried: int = 0
    lost: list[str] = field(default_factory=list)

    def note(self, what: str, problem: str | None) -> None:
        """Count one try, and what it lost."""
        self.tried += 1
        if problem is not None:
            self.lost.append(f"{what}: {problem}")


def run_all(project: Path) -> None:
    """Run every step that is not fresh."""
    with held_workspace(project, "benchmarks/faults.py") as space:
        for step in steps_of(space.settings):
            run_step(step, space)


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def attempt(action: Callable[[], None]) -> str | None:
    """Return what went wrong; None where it went well, or ended with a sentence for the user."""
    try:
        with time_limit(_MOST_SECONDS):
            action()
    except CartographError as error:
        said = str(error)
        return f"not a sentence: {said[:200]}" if len(said) < 20 or "Traceback" in said else None
    except Exception as error:
        return f"{type(error).__name__}: {error} at {traceback.extract_tb(error.__traceback__)[-1].line}"
    return None


def read_bad(folder: Path, name: str, content: bytes) -> None:
    """Read and canonicalise a file as `init` and the step `ingest` do."""
    from cartograph.ingest.canonical import ingest
    from tasks.audit.ingest import columns_of, labelling_of, read_sets
    from tasks.audit.parameters.ingest import Ingest

    path = folder / name
    path.write_bytes(content)
    params = Ingest.model_validate({"source": "files", "train": str(path), "text": "text", "max_megabytes": 50})
    raw, _ = read_sets(params, {f"file:{path}": path})
    for item in ingest(raw, columns_of(params), labelling_of(params)):
        if item.rows_read != len(item.examples) + len(item.quarantine):
            raise AssertionError(f"{item.rows_read} rows in, {len(item.examples)} used, {len(item.quarantine)} set aside")


def try_bad_files(folder: Path, rng: random.Random, most: int | None) -> Tally:
    tally, files = Tally(), list(bad_files())
    for what, name, content in files if most is None else rng.sample(files, min(most, len(files))):
        tally.note(f"{name}, {what}", attempt(lambda name=name, content=content: read_bad(folder, name, content)))
    return tally


def recovers(project: Path, expected: dict[str, str]) -> str | None:
    """Return what the next run did not put right; then the finished audit is put back, so that the next try does not lose it again."""
    problem = lasting(project, expected)
    if problem is not None:
        for name in MADE:
            shutil.rmtree(project / name, ignore_errors=True)
            shutil.copytree(project.parent / "finished" / name, project / name)
    return problem


def lasting(project: Path, expected: dict[str, str]) -> str | None:
    """Return what is still wrong after the next run."""
    problem = attempt(lambda: run_all(project))
    if problem is not None:
        return problem
    space = open_workspace(project)
    stale = [step.name for step in steps_of(space.settings) if fresh(step, space) is None]
    found = outputs(project)
    differing = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
    return f"not fresh: {stale}" if stale else f"differs: {differing}" if differing else None


def state_files(project: Path) -> list[Path]:
    return sorted([*project.glob("data/**/*.receipt.json"), *(file for file in (project / ".cartograph").glob("*") if file.is_file())])


def try_garbage(project: Path, expected: dict[str, str], rng: random.Random, most: int | None) -> Tally:
    tally = Tally()
    cases = [(file, garbage) for file in state_files(project) for garbage in GARBAGE]
    for file, garbage in cases if most is None else rng.sample(cases, min(most, len(cases))):
        file.write_bytes(garbage)
        tally.note(f"{file.relative_to(project)} = {garbage[:20]!r}", recovers(project, expected))
    return tally


def try_flips(project: Path, expected: dict[str, str], rng: random.Random, most: int | None) -> Tally:
    tally = Tally()
    files = [project / name for name in sorted(expected) if not name.endswith(".receipt.json")]
    for file in files if most is None else rng.sample(files, min(most, len(files))):
        content = bytearray(file.read_bytes())
        if content:
            content[rng.randrange(len(content))] ^= 0xFF
            file.write_bytes(bytes(content))
            tally.note(f"a byte of {file.relative_to(project)}", recovers(project, expected))
    return tally


def try_full_disk(project: Path, expected: dict[str, str], rng: random.Random, most: int | None) -> Tally:
    tally = Tally()
    names = [step.name for step in steps_of(open_workspace(project).settings)]
    for name in names if most is None else rng.sample(names, max(1, min(most // 3, len(names)))):
        for size in (0, 4_000, 40_000):

            def force(name: str = name, size: int = size) -> None:
                soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
                with held_workspace(project, "benchmarks/faults.py") as space:
                    step = next(step for step in steps_of(space.settings) if step.name == name)
                    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
                    try:
                        run_step(step, space, force=True)
                    finally:
                        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

            problem, after = attempt(force), recovers(project, expected)
            tally.note(f"{name} with {size:,} bytes left", problem or after)
    return tally


def try_kills(project: Path, expected: dict[str, str], rng: random.Random, number: int) -> Tally:
    tally = Tally()
    command = [sys.executable, str(Path(__file__).resolve()), "--steps", str(project)]

    def run(after: float | None) -> float:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        return time.perf_counter() - started

    def reset() -> None:
        for name in MADE:
            shutil.rmtree(project / name, ignore_errors=True)

    reset()
    whole = run(None)
    for _ in range(number):
        reset()
        after = rng.uniform(0.2, 1.0) * whole
        run(after)
        done = len(list(project.glob("data/**/*.receipt.json")))
        tally.note(f"killed after {after:.1f} of {whole:.1f} s, {done} receipts", recovers(project, expected))
    return tally


def measure(folder: Path, seed: int, *, most: int | None, kills: int) -> dict[str, Tally]:
    """Try everything, or a draw of ``most`` of each kind, in a folder."""
    rng = random.Random(seed)
    project = folder / "project"
    (folder / "files").mkdir(parents=True)
    project.mkdir()
    (project / "params.yaml").write_text(PARAMS, encoding="utf-8")
    before, engine._project = engine._project, project
    try:
        run_all(project)
        expected = outputs(project)
        for name in MADE:
            shutil.copytree(project / name, folder / "finished" / name)
        tallies = {"bad files": try_bad_files(folder / "files", rng, None if most is None else 12 * most)}
        for name, tried in {"garbage in a state file": try_garbage, "a byte of an output flipped": try_flips}.items():
            tallies[name] = tried(project, expected, rng, most)
        tallies["a full disk at a step"] = try_full_disk(project, expected, rng, most)
        if kills:
            tallies["killed between and in steps"] = try_kills(project, expected, rng, kills)
    finally:
        engine._project = before
    return tallies


def main() -> None:
    if sys.argv[1:2] == ["--steps"]:
        engine._project = Path(sys.argv[2])
        run_all(engine._project)
        return
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 13
    most = int(sys.argv[3]) if len(sys.argv) > 3 else None
    with tempfile.TemporaryDirectory() as folder:
        tallies = measure(Path(folder).resolve(), seed, most=most, kills=kills)
    print(f"{'fault':<32}{'tried':>7}{'survived':>10}{'lost':>6}")
    for name, tally in tallies.items():
        print(f"{name:<32}{tally.tried:>7}{tally.tried - len(tally.lost):>10}{len(tally.lost):>6}")
    tried, lost = sum(tally.tried for tally in tallies.values()), [one for tally in tallies.values() for one in tally.lost]
    print(f"{'all':<32}{tried:>7}{tried - len(lost):>10}{len(lost):>6}   (seed {seed})")
    for one in lost:
        print(f"LOST {one}")
    if lost:
        raise SystemExit(1)


if __name__ == "__main__":
    main()

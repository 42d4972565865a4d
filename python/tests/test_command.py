"""The command that the wheel installs has the exit statuses, arguments, signals and pipes of the program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

PROGRAM = Path(sysconfig.get_path("scripts"), "baselink")
COMMANDS = [[str(PROGRAM)], [sys.executable, "-m", "baselink"]]


def run(command: list[str], folder: Path, *arguments: str | bytes) -> tuple[int, bytes, bytes]:
    found = subprocess.run([*command, *arguments], cwd=folder, capture_output=True, check=False)
    return found.returncode, found.stdout, found.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=["script", "module"])
def test_exit_statuses(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(b"<a href=x>")
    found = run(command, tmp_path, "rewrite", "-q", "--url", "http://a/", "page.html")
    assert found == (0, b"<a href=http://a/x>", b"")
    found = run(command, tmp_path, "links", "-q", "--strict", "page.html")
    sentence = b"error: page.html:1:9: --strict: 'x' was not made absolute: no-base\n"
    assert found == (1, b"page.html:1:9  no-base  a[href]  x\n", sentence)
    status, _, errors = run(command, tmp_path, "links", "absent.html")
    assert (status, errors.startswith(b"error: absent.html: ")) == (2, True)
    status, printed, _ = run(command, tmp_path, "--version")
    assert (status, printed.split()[0]) == (0, b"baselink")


@pytest.mark.skipif(sys.platform != "linux", reason="file names differ there")
def test_arguments_need_not_be_utf_8(tmp_path: Path) -> None:
    Path(os.fsdecode(bytes(tmp_path) + b"/\xff.html")).write_bytes(b"<a href=x>")
    found = run(COMMANDS[0], tmp_path, "rewrite", "-q", "--url", "http://a/", b"\xff.html")
    assert found == (0, b"<a href=http://a/x>", b"")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes differ there")
def test_a_closed_pipe_is_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(b"<a href=x>" * 100_000)
    pipe = subprocess.PIPE
    running = subprocess.Popen([*COMMANDS[0], "links", "page.html"], cwd=tmp_path, stdout=pipe, stderr=pipe)
    assert running.stdout is not None
    assert running.stderr is not None
    assert running.stdout.readline().startswith(b"page.html:1:9 ")
    running.stdout.close()
    assert (running.wait(timeout=20), running.stderr.read()) == (0, b"")
    running.stderr.close()


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")
@pytest.mark.parametrize("is_ignored", [False, True])
def test_ctrl_c_ends_the_command_like_the_program(is_ignored: bool, tmp_path: Path) -> None:
    pipe = subprocess.PIPE
    # A shell starts background processes with SIGINT ignored.
    old = signal.signal(signal.SIGINT, signal.SIG_IGN if is_ignored else signal.default_int_handler)
    try:
        running = subprocess.Popen(
            [*COMMANDS[0], "resolve", "http://a/"], cwd=tmp_path, stdin=pipe, stdout=pipe, stderr=pipe
        )
    finally:
        signal.signal(signal.SIGINT, old)
    assert running.stdin is not None
    assert running.stdout is not None
    running.stdin.write(b"x\n")
    running.stdin.flush()
    # The program answers each line before it reads the next one.
    assert running.stdout.readline() == b"http://a/x\n"
    running.send_signal(signal.SIGINT)
    printed, errors = running.communicate(b"y\n" if is_ignored else b"", timeout=20)
    assert errors == b""
    assert (running.returncode, printed) == ((0, b"http://a/y\n") if is_ignored else (-signal.SIGINT, b""))


@pytest.mark.skipif(sys.platform != "linux", reason="a shell on Linux closes the streams")
def test_a_closed_stream_does_not_become_a_file(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(b"<a href=x>")
    # A file that gets the number of a closed stream must not receive messages.
    shell = f"'{PROGRAM}' rewrite -v --url http://a/ -o new.html page.html <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", shell], cwd=tmp_path, check=False).returncode == 0
    assert (tmp_path / "new.html").read_bytes() == b"<a href=http://a/x>"

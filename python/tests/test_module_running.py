"""The module in programs that run long: threads, memory, Ctrl-C, mailboxes."""

from __future__ import annotations

import gc
import io
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import FIXTURES

import baselink

URL = "http://h.example/a/b"


def test_several_threads_give_the_results_of_one() -> None:
    pages = [b"<base href=/%d/>" % number + b"<a href=x>" * number for number in range(200)]
    expected = [baselink.rewrite(page, URL) for page in pages]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            assert list(pool.map(lambda page: baselink.rewrite(page, URL), pages)) == expected
        links = list(pool.map(lambda page: baselink.links(page, URL), pages))
    assert links == [baselink.links(page, URL) for page in pages]


def rewrite_links(data: bytearray, url: str, **options: Any) -> bytes:
    return baselink.rewrite_links(data, lambda link: None, url, **options)


def test_other_threads_run_while_a_document_is_read() -> None:
    for function in (baselink.rewrite, baselink.links, baselink.base, baselink.rewrite_report, rewrite_links):
        # Python code that is called for each link would take most of the time.
        page = bytearray((b"<p>text</p>" if function is rewrite_links else b"<p><a href=x>text</a>") * 500_000)
        # On a busy machine, a function may end before this thread gets its turns.
        for _ in range(20):
            states = ["new"]

            def read() -> None:
                states.append("reading")  # noqa: B023
                function(page, URL, format="html")  # noqa: B023
                states.append("done")  # noqa: B023

            thread = threading.Thread(target=read)
            switches = sys.getswitchinterval()
            # With a long interval, another thread gets the GIL only if the function releases it.
            sys.setswitchinterval(100)
            turns = 0
            try:
                thread.start()
                while states[-1] != "done" and turns < 3:
                    time.sleep(0.000_1)
                    turns += states[-1] == "reading"
                    # The function has a copy, so the document may change.
                    page.append(0)
                    page.pop()
            finally:
                sys.setswitchinterval(switches)
            thread.join()
            if turns == 3:
                break
        assert turns == 3, function.__name__


CHANGING = """
import mmap, subprocess, sys, tempfile, threading, time
import baselink

WRITE = '''
import mmap, sys, threading, time

part = ("<a href='é/x?é'>é</a>" * 3000).encode()
other = part.replace("é".encode(), bytes([0xFF, 0xFE]))

def write(data, is_done):
    while not is_done():
        data[:] = other
        data[:] = part
'''
exec(WRITE)
if sys.argv[1] == "mmap":
    file = tempfile.NamedTemporaryFile()
    file.write(part)
    file.flush()
    program = WRITE + "end = time.monotonic() + 4\\nfile = open(sys.argv[1], 'r+b')\\n"
    program += "write(mmap.mmap(file.fileno(), 0), lambda: time.monotonic() > end)"
    writer = subprocess.Popen([sys.executable, "-c", program, file.name])
    data = mmap.mmap(file.fileno(), 0)
else:
    data, is_done = bytearray(part), threading.Event()
    threading.Thread(target=write, args=(data, is_done.is_set)).start()
    sys.setswitchinterval(1e-6)
end = time.monotonic() + 4
while time.monotonic() < end:
    for function in (baselink.rewrite, baselink.links, baselink.base, baselink.rewrite_report):
        for resolver in ("rfc1808", "whatwg"):
            function(data, "http://h.example/ü/", format="html", resolver=resolver)
if sys.argv[1] != "mmap":
    is_done.set()
print("ended")
"""


@pytest.mark.parametrize("kind", ["bytearray", "mmap"])
def test_a_document_that_changes_while_it_is_read_does_not_end_the_process(kind: str, tmp_path: Path) -> None:
    """bug 721: text that was no longer valid UTF-8 ended the process."""
    found = subprocess.run([sys.executable, "-c", CHANGING, kind], cwd=tmp_path, capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (0, "ended\n"), found.stderr


MEMORY = """
import resource, sys
import baselink

def rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

def page(number):
    return b"<base href=/%d/><a href=x%d><img srcset='y 2x, z 3x'>" % (number % 97, number) * 5, "http://h%d.example/" % number

def read(numbers):
    for number in numbers:
        data, url = page(number)
        baselink.rewrite(data, url)
        baselink.rewrite_report(data, url)
        baselink.links(bytearray(data), url)
        baselink.base(memoryview(data), url)
    for _ in baselink.iter_links(map(page, numbers)):
        pass

read(range(5_000))
before = rss()
read(range(5_000, 25_000))
print(rss() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="there is no /proc")
def test_memory_does_not_grow_with_the_number_of_documents(tmp_path: Path) -> None:
    # 5 functions, 20,000 documents each.
    found = subprocess.run([sys.executable, "-c", MEMORY], cwd=tmp_path, check=True, capture_output=True, text=True)
    # If names were interned forever, even one byte for each name of each page would be more.
    assert int(found.stdout) < 4_000_000


SHORT = """
import io, resource
import baselink

def taken():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()

size, step = 24 << 20, 8 << 20
page = b"<a href=x>" + bytes(size)
link = (b"<a href='a/long/way/to/some/page.html'>" + bytes(100)) * 64_000
block = b"HTTP/1.1 200 OK\\r\\nContent-Type: text/html\\r\\n\\r\\n" + page
head = b"WARC/1.1\\r\\nWARC-Type: response\\r\\nWARC-Target-URI: http://h.example/\\r\\nContent-Type: application/http\\r\\n"
record = b"".join([head, b"Content-Length: %d\\r\\n\\r\\n" % len(block), block, b"\\r\\n\\r\\n"])
url = "http://h.example/"
works = {{
    "rewrite": lambda: baselink.rewrite(page, url),
    "rewrite_report": lambda: baselink.rewrite_report(page, url),
    "rewrite, grown": lambda: baselink.rewrite(link, url + "x" * 450 + "/"),
    "documents": lambda: list(baselink._baselink.archive_rows("documents", io.BytesIO(record), "-")),
    "links in archives": lambda: list(baselink._baselink.archive_rows("links", io.BytesIO(record), "-")),
}}
work = works["{work}"]
# Values loaded once and kept.
baselink.rewrite(b"<a href=x>" * 1000, url)
hard = resource.getrlimit(resource.RLIMIT_AS)[1]
ended = []
for more in range(step, 16 * size, step):
    resource.setrlimit(resource.RLIMIT_AS, (taken() + more, hard))
    try:
        work()
        ended.append("done")
    except MemoryError:
        ended.append("short")
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    if ended[-1] == "done":
        break
print(ended[0], ended[-1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is not limited there")
@pytest.mark.parametrize("work", ["rewrite", "rewrite_report", "rewrite, grown", "documents", "links in archives"])
def test_lack_of_memory_is_an_error(work: str, tmp_path: Path) -> None:
    """Bug 74: short memory ended the interpreter."""
    code = SHORT.format(work=work)
    found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert (found.returncode, found.stdout, found.stderr) == (0, "short done\n", "")


class Owner:
    """An object that owns an iterator that refers to it."""

    iterator: object

    def __iter__(self) -> Iterator[bytes]:
        yield b"<a href=x>"

    def read(self, _length: int) -> bytes:
        return b""


@pytest.mark.parametrize(
    "iterator",
    [
        lambda owner: baselink.iter_links(iter(owner)),
        lambda owner: baselink.link_columns(iter(owner)),
        baselink.messages,
        lambda owner: baselink._baselink.archive_rows("links", owner, "-"),
    ],
)
def test_a_cycle_with_an_iterator_is_collected(iterator: Callable[[Owner], Any]) -> None:
    owner = Owner()
    owner.iterator = iterator(owner)
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


WAITING = """
import itertools
import baselink
print("ready", flush=True)
{work}
"""
LONG = {
    "iter_links": "for _ in baselink.iter_links(itertools.repeat(b'<a href=x>')): pass",
    "iter_links without a link": "next(baselink.iter_links(itertools.repeat(b'<p>')))",
    "link_columns without a link": "next(baselink.link_columns(itertools.repeat(b'<p>')))",
    "messages": """
class Endless:
    def read(self, length):
        return (b'Subject: x\\n\\ny\\n\\nFrom a\\n' * (length // 22 + 1))[:length]
for _ in baselink.messages(Endless()): pass""",
    "a message without an end": """
class Endless:
    read = staticmethod(bytes)
next(baselink.messages(Endless()))""",
}


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")
@pytest.mark.parametrize("work", LONG)
def test_ctrl_c_ends_a_long_run(work: str, tmp_path: Path) -> None:
    code = WAITING.format(work=LONG[work])
    pipe = subprocess.PIPE
    # A shell starts background processes with SIGINT ignored.
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        running = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=pipe, stderr=pipe, text=True)
    finally:
        signal.signal(signal.SIGINT, old)
    assert running.stdout is not None
    assert running.stdout.readline() == "ready\n"
    time.sleep(0.3)
    running.send_signal(signal.SIGINT)
    try:
        _, errors = running.communicate(timeout=20)
    finally:
        running.kill()
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert running.returncode == -signal.SIGINT


def test_messages_of_a_mailbox() -> None:
    mailbox = (FIXTURES / "inbox.mbox").read_bytes()
    with (FIXTURES / "inbox.mbox").open("rb") as file:
        found = list(baselink.messages(file))
    assert len(found) > 1
    at = 0
    for message in found:
        at = mailbox.index(message, at) + len(message)
    separate = [link.target for message in found for link in baselink.links(message, URL, format="message")]
    assert separate == [link.target for link in baselink.links(mailbox, URL)]
    assert list(baselink.messages(io.BytesIO())) == []


def test_files_that_do_not_return_bytes() -> None:
    class File:
        def __init__(self, result: object) -> None:
            self.result = result

        def read(self, length: int) -> object:
            if isinstance(self.result, Exception):
                raise self.result
            found, self.result = self.result, b""
            return found

    for result in [bytearray(b"From a\n\nx\n"), memoryview(b"From a\n\nx\n")]:
        assert list(baselink.messages(File(result))) == [b"\nx\n"]  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="open it for bytes, with 'rb'"):
        next(baselink.messages(io.StringIO("From a\n")))  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        next(baselink.messages(File(None)))  # type: ignore[arg-type]
    with pytest.raises(OSError, match=r"read\(\d+\) of the file gave 9999999 bytes"):
        next(baselink.messages(File(b"x" * 9_999_999)))  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        next(baselink.messages(File(KeyError("x"))))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="file must be a binary file"):
        baselink.messages(b"From a\n")  # type: ignore[arg-type]

"""Types: mypy accepts what the module accepts, and sees a name that does not exist."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

from conftest import absent

# Lines with `# wrong` are wrong; mypy must accept the others.
PROGRAM = """
import baselink
import baselink.warc

baselink.rewrite(b"", format="html", resolver="whatwg", enable=["lazy", "social"])
baselink.rewrite(b"", format="htlm")  # wrong
baselink.rewrite(b"", resolver="browser")  # wrong
baselink.rewrite(b"", enable="lazyy")  # wrong
baselink.rewrite(b"", base_url="http://h/")  # wrong
for link in baselink.links(bytearray()):
    print(link.outcome == "absolute", link.is_intended)
    print(link.outcome == "absolut")  # wrong
    print(link.reason == "emtpy")  # wrong
print(baselink.rewrite_report(b"").reasons.get("empty"))
for batch in baselink.warc.link_batches("a.warc", enable="all", storage_options={"anon": True}):
    print(batch)
baselink.warc.link_batches("a.warc", format="html")  # wrong
baselink.warc.link_rows("a.warc", resolver="no")  # wrong
text: str = baselink.rewrite_links("", lambda link: link.target)
data: bytes = baselink.rewrite_links(b"", lambda link: None, url="http://h/")
baselink.rewrite_links(b"", lambda link: b"")  # wrong
"""


def test_mypy_sees_names_that_do_not_exist(tmp_path: Path) -> None:
    """bug 377: names were str, and options of archives were Any."""
    if importlib.util.find_spec("mypy") is None:
        absent("mypy")
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(path)]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    found = {int(line.split(":")[1]) for line in printed.splitlines() if ": error: " in line}
    wrong = {number for number, line in enumerate(PROGRAM.split("\n"), 1) if line.endswith("# wrong")}
    assert found == wrong, printed

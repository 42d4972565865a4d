"""Makes the pictures of README.md and docs/check.md: `python3 docs/pictures.py`, after `cargo build`. Needs Chromium, and
Pillow for files of half the size.

`before-after.png` shows a page of a crawl, opened from disk, before and after `localize`, and lines of its diff.
`report.png` is the page of `check --report` for the folder in `fixtures/tree/planted.case`.

Deliberately absent: pictures that are drawn. The program makes what they show.
"""

import html
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    from PIL import Image
except ImportError:
    Image = None

ROOT = Path(__file__).parent.parent
BASELINK = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/debug/baselink").absolute()

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>Notes from the moor</title>
<link rel="stylesheet" href="/style/notes.css">
<nav><a href="/">Home</a> <a href="/maps/">Maps</a> <a href="/letters/">Letters</a></nav>
<h1>Notes from the moor</h1>
<img src="/img/moor.svg" alt="The moor in June">
<p>The path to the <a href="/maps/north.html">north gate</a> is dry again.</p>
"""

STYLE = """\
body { margin: 0; font: 21px/1.5 "Liberation Sans", sans-serif; color: #132b22; background: #f6f3ea }
nav { padding: 12px 28px; background: #24483e }
nav a { color: #fff; margin-right: 20px; text-decoration: none }
h1 { margin: 16px 28px 8px; font: 34px "DejaVu Serif", serif }
img { display: block; width: 100%; height: 190px; object-fit: cover }
p { margin: 14px 28px }
p a { color: #1d6b52 }
"""

DRAWING = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 190" preserveAspectRatio="xMidYMid slice">
<rect width="600" height="190" fill="#cfe3ea"/><circle cx="470" cy="52" r="28" fill="#f4c95d"/>
<path d="M0 118 Q90 60 190 108 T400 96 T600 118 V190 H0Z" fill="#8fb39a"/>
<path d="M0 140 Q140 100 290 136 T600 132 V190 H0Z" fill="#5d8c6e"/>
<path d="M0 166 Q160 138 330 160 T600 156 V190 H0Z" fill="#3c6650"/>
</svg>
"""

CRAWL = {
    "www.example.net/notes/index.html": PAGE,
    "www.example.net/style/notes.css": STYLE,
    "www.example.net/img/moor.svg": DRAWING,
    "www.example.net/maps/north.html": "<!DOCTYPE html><title>The north gate</title>\n",
}

# Two browser windows side by side, and a terminal below.
FRAME = """\
<!DOCTYPE html>
<meta charset="utf-8">
<style>
body {{ margin: 0; padding: 10px; background: #fff; font: 20px "Liberation Sans", sans-serif; color: #222 }}
main {{ display: grid; grid-template-columns: 1fr 1fr; gap: 16px }}
figure {{ margin: 0; border: 1px solid #b8bcc2; border-radius: 8px; overflow: hidden }}
figcaption {{ padding: 9px 14px; background: #eceef1; border-bottom: 1px solid #b8bcc2 }}
figcaption code {{ font: 17px "DejaVu Sans Mono", monospace; color: #555 }}
iframe {{ display: block; width: 100%; height: 360px; border: 0 }}
pre {{ margin: 16px 0 0; padding: 14px 18px; border-radius: 8px; background: #1f2328; color: #e6e8eb;
  font: 18px/1.45 "DejaVu Sans Mono", monospace }}
.removed {{ color: #ff9a91 }} .added {{ color: #7ee2a0 }}
</style>
<main>
<figure><figcaption><b>Before</b> <code>crawl/www.example.net/notes/index.html</code></figcaption><iframe src="{before}"></iframe></figure>
<figure><figcaption><b>After</b> <code>offline/www.example.net/notes/index.html</code></figcaption><iframe src="{after}"></iframe></figure>
</main>
<pre>{terminal}</pre>
"""


def baselink(folder: Path, *arguments: str, statuses: tuple[int, ...] = (0,)) -> str:
    """Standard output of the program, run in `folder`."""
    run = subprocess.run([BASELINK, *arguments], cwd=folder, capture_output=True, text=True)
    if run.returncode not in statuses:
        sys.exit(f"baselink {' '.join(arguments)}: status {run.returncode}\n{run.stderr}")
    return run.stdout


def photograph(page: Path, picture: Path, width: int, height: int) -> None:
    """Opens `page` in Chromium and writes its picture, with 256 colours if Pillow is installed."""
    size = f"--window-size={width},{height}"
    options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--virtual-time-budget=3000", size]
    subprocess.run(["chromium", *options, f"--screenshot={picture}", page.as_uri()], check=True, capture_output=True)
    if Image:
        Image.open(picture).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(picture, optimize=True)


def before_and_after(folder: Path) -> None:
    for name, text in CRAWL.items():
        path = folder / "crawl" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    command = ["localize", "--layout", "host", "crawl"]
    diff = baselink(folder, *command, "--diff")
    baselink(folder, *command, "--output", "offline")
    lines = [f"$ baselink {' '.join(command)} {option}" for option in ("-o offline", "--diff")]
    for line in diff.splitlines():
        kind = {"-": "removed", "+": "added"}.get(line[0])
        if kind and ("stylesheet" in line or "<img" in line):
            lines.append(f'<span class="{kind}">{html.escape(line)}</span>')
    page = "www.example.net/notes/index.html"
    frame = FRAME.format(before=f"crawl/{page}", after=f"offline/{page}", terminal="\n".join(lines))
    (folder / "frame.html").write_text(frame)
    photograph(folder / "frame.html", ROOT / "docs/before-after.png", 1280, 625)


def report(folder: Path) -> None:
    """The case has the command in its second line, and then files, each below a line `==> NAME <==`."""
    head, *files = (ROOT / "fixtures/tree/planted.case").read_text().split("\n==> ")
    for file in files:
        name, _, text = file.partition(" <==")
        if not name.startswith("site/"):
            continue
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text.startswith(" link "):
            path.symlink_to(text.strip().removeprefix("link "))
        else:
            path.write_text(text[1:] + "\n")
    command = head.splitlines()[1].removeprefix("$ baselink ").split()
    baselink(folder, *command, "--report", "report.html", statuses=(1,))
    photograph(folder / "report.html", ROOT / "docs/report.png", 1280, 1000)


with tempfile.TemporaryDirectory() as temporary:
    before_and_after(Path(temporary))
    report(Path(temporary))

"""Converts a page to Markdown with absolute links: html2text reads the output of baselink.

    pip install ./python html2text
    python python/examples/markdown.py URL FILE.html

Converters alone ignore `<base href>`: they leave links relative, or join them to the URL of the page.
"""

import sys
from pathlib import Path

import html2text

import baselink


def markdown(page: bytes, url: str) -> str:
    # Links are resolved as in browsers, and `#top` stays a link within the page.
    absolute = baselink.rewrite(page, url, resolver="whatwg", fragments="auto")
    return html2text.HTML2Text(bodywidth=0).handle(absolute.decode("utf-8", "replace"))


if __name__ == "__main__":
    print(markdown(Path(sys.argv[2]).read_bytes(), sys.argv[1]), end="")

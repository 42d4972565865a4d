"""Markdown with links that work elsewhere: a page of HTML is rewritten before html2text makes Markdown of it.

    pip install ./python html2text
    python examples/markdown.py URL FILE.html

Converters leave relative links relative, or join them to the URL of the page although a base element says another one.
"""

import sys
from pathlib import Path

import html2text

import baselink


def markdown(page: bytes, url: str) -> str:
    converter = html2text.HTML2Text(bodywidth=0)
    return converter.handle(baselink.rewrite(page, url, resolver="whatwg").decode("utf-8", "replace"))


if __name__ == "__main__":
    print(markdown(Path(sys.argv[2]).read_bytes(), sys.argv[1]), end="")

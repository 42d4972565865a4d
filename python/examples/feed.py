"""Prints the entries of a feed with absolute links: feedparser reads the output of baselink.

    pip install ./python feedparser
    python python/examples/feed.py URL FILE.xml

feedparser then needs no URL, and resolves nothing itself. Each line has the link and the title of an entry.
"""

import sys
from pathlib import Path

import feedparser

import baselink


def entries(feed: bytes, url: str) -> list[feedparser.FeedParserDict]:
    # A feed that begins with a comment looks like HTML, so its format is named.
    return feedparser.parse(baselink.rewrite(feed, url, format="xml"), resolve_relative_uris=False).entries


if __name__ == "__main__":
    for entry in entries(Path(sys.argv[2]).read_bytes(), sys.argv[1]):
        print(entry.get("link"), entry.get("title"), sep="\t")

"""A spider of Scrapy that resolves links as browsers do, base elements included, and stores pages with absolute links.

    pip install ./python scrapy
    scrapy runspider examples/scrapy_pipeline.py -a url=http://127.0.0.1:8000/ -O pages.jsonl

The spider gives each page as an item, and the pipeline makes its links absolute by the URL that it was retrieved from.
"""

from collections.abc import AsyncIterator, Iterator
from typing import Any, ClassVar
from urllib.parse import urlsplit

import scrapy
from scrapy.http import HtmlResponse, Response

import baselink


class AbsoluteLinks:
    """An item pipeline."""

    def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        page = baselink.rewrite(item["body"], item["url"], resolver="whatwg")
        item["body"] = page.decode(item.pop("encoding"), "replace")
        return item


class Pages(scrapy.Spider):
    name = "pages"
    custom_settings: ClassVar[dict[str, Any]] = {"ITEM_PIPELINES": {AbsoluteLinks: 300}}

    async def start(self) -> AsyncIterator[scrapy.Request]:
        yield scrapy.Request(self.url)

    def parse(self, response: Response) -> Iterator[Any]:
        if not isinstance(response, HtmlResponse):
            return
        yield {"url": response.url, "body": response.body, "encoding": response.encoding}
        for link in baselink.links(response.body, response.url, resolver="whatwg"):
            if link.element == "a" and link.target and urlsplit(link.target).netloc == urlsplit(self.url).netloc:
                yield response.follow(link.target)

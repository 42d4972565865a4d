"""The links of web archives with Daft: the ten hosts with the most links to them.

    pip install "./python[warc]" daft
    python python/examples/daft_links.py ARCHIVE...        # on this machine; with DAFT_RUNNER=ray on a Ray cluster

Each archive is a task. Only the columns that the query needs are passed to Daft.
"""

import asyncio
import sys
from collections.abc import AsyncIterator

import daft
import pyarrow as pa
from daft.io.pushdowns import Pushdowns
from daft.io.source import DataSource, DataSourceTask
from daft.recordbatch import RecordBatch

import baselink.warc


class Links(DataSource):
    name = "baselink"
    schema = daft.Schema.from_pyarrow_schema(baselink.warc.LINKS)

    def __init__(self, archives: list[str]) -> None:
        self.archives = archives

    async def get_tasks(self, pushdowns: Pushdowns) -> AsyncIterator[DataSourceTask]:
        for archive in self.archives:
            needed = [*(pushdowns.columns or baselink.warc.LINKS.names), *pushdowns.filter_required_column_names()]
            yield LinksOfArchive(archive, list(dict.fromkeys(needed)))


class LinksOfArchive(DataSourceTask):
    def __init__(self, archive: str, columns: list[str]) -> None:
        self.archive, self.columns = archive, columns

    @property
    def schema(self) -> daft.Schema:
        return daft.Schema.from_pyarrow_schema(pa.schema([baselink.warc.LINKS.field(name) for name in self.columns]))

    async def read(self) -> AsyncIterator[RecordBatch]:
        batches = baselink.warc.link_batches(self.archive, resolver="whatwg")
        # In a thread, so that other archives are read at the same time.
        while (batch := await asyncio.to_thread(next, batches, None)) is not None:
            batch = batch.select(self.columns)
            yield RecordBatch.from_arrow_record_batches([batch], batch.schema)


if __name__ == "__main__":
    links = Links(baselink.warc.list_archives(sys.argv[1:])).read()
    host = links["target"].regexp_extract(r"^https?://([^/?#:]+)", 1)
    hosts = (
        links.where(links["error"].is_null()).groupby(host.alias("host")).agg(links["target"].count().alias("links"))
    )
    hosts.sort("links", desc=True).limit(10).show(10)

"""The links of web archives with Ray Data: the number of links with each outcome.

    pip install "./python[warc]" "ray[data]"
    python python/examples/ray_links.py ARCHIVE...         # on this machine, or on the cluster at RAY_ADDRESS

Each archive is a task, which yields its links in batches.
"""

import sys
from collections.abc import Iterator

import pyarrow as pa
import ray

import baselink.warc


def links(archives: pa.Table) -> Iterator[pa.Table]:
    for batch in baselink.warc.link_batches(archives["path"].to_pylist(), resolver="whatwg"):
        yield pa.Table.from_batches([batch])


def main(archives: list[str]) -> None:
    paths = ray.data.from_arrow(pa.table({"path": archives})).repartition(len(archives))
    rows = paths.map_batches(links, batch_size=1, batch_format="pyarrow")
    for row in rows.groupby("outcome").count().take_all():
        print(row)


if __name__ == "__main__":
    main(baselink.warc.list_archives(sys.argv[1:]))

"""The links of web archives (WARC, WACZ, HAR, `.webarchive`) as a Parquet file, with the columns of `baselink links --json`.

    pip install "./python[warc]"
    python python/examples/archive.py links.parquet crawl/*.warc.gz      # paths, or URLs for fsspec

A row with an `error` reports a fault in an archive. Memory grows with the largest record, not with the archives.
"""

import sys

import pyarrow.parquet as pq

import baselink.warc


def write(output: str, archives: list[str]) -> int:
    with pq.ParquetWriter(output, baselink.warc.LINKS) as writer:
        rows = 0
        for batch in baselink.warc.link_batches(archives, resolver="whatwg"):
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows


if __name__ == "__main__":
    print(f"{write(sys.argv[1], sys.argv[2:])} rows")

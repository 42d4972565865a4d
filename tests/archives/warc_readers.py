"""Lists the records that warcio and fastwarc find, for comparison with ours in tests/archives/readers.rs.

    warc_readers.py FILE...    prints a line for each record: file, reader, offset, type, id, target URI, MD5 of the block

If a reader gives up, its last line has "error" instead of an offset. Fields are separated by tabs.
"""

import contextlib
import hashlib
import io
import sys

from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import WarcRecordType
from warcio.archiveiterator import ArchiveIterator


def by_warcio(file):
    records = ArchiveIterator(file, no_record_parse=True)
    for record in records:
        block = record.raw_stream.read()
        headers = record.rec_headers
        yield (
            records.get_record_offset(),
            headers.get_header("WARC-Type"),
            headers.get_header("WARC-Record-ID"),
            headers.get_header("WARC-Target-URI"),
            hashlib.md5(block).hexdigest(),
        )


def by_fastwarc(file):
    for record in FastIterator(file, parse_http=False, record_types=WarcRecordType.any_type):
        headers = record.headers
        yield (
            record.stream_pos,
            headers.get("WARC-Type"),
            headers.get("WARC-Record-ID"),
            headers.get("WARC-Target-URI"),
            hashlib.md5(record.reader.read()).hexdigest(),
        )


def read(path):
    for name, reader in [("warcio", by_warcio), ("fastwarc", by_fastwarc)]:
        with open(path, "rb") as file, contextlib.redirect_stderr(io.StringIO()):
            try:
                for row in reader(file):
                    print(path, name, *row, sep="\t")
            except Exception as error:
                print(path, name, "error", type(error).__name__, sep="\t")


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    for path in sys.argv[1:]:
        read(path)

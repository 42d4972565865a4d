"""The dead links of a crawl with Daft: what its archives lack, as `spark_check.py` finds it with Spark.

    pip install "./python[warc]" daft
    python python/examples/daft_check.py missing.csv ARCHIVE...    # on this machine; with DAFT_RUNNER=ray on a Ray cluster

Writes the class, the cause and the URL of each link to a missing target. Each archive is a task.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator

import daft
import pyarrow as pa
from daft import DataFrame, Expression, Window, col, lit
from daft.functions import find, lower, regexp, row_number, split, split_part, when
from daft.io.source import DataSource, DataSourceTask
from daft.recordbatch import RecordBatch

import baselink.warc

MAX_REDIRECTS = 20  # as in browsers (Fetch Standard, 4.4), and in the command
REDIRECTS = [300, 301, 302, 303, 307, 308]
PLACE = ["path", "offset", "within"]
URL = ["url_key", "scheme"]
TARGET = ["target_key", "target_scheme"]
LINK = ["element", "attribute", "reference", "outcome", "reason", "role", "target", "target_key", "error"]


class Rows(DataSource):
    """These columns of the rows that `batches` reads."""

    name = "baselink"

    def __init__(
        self, archives: list[str], batches: Callable[[str], Iterator[pa.RecordBatch]], schema: pa.Schema
    ) -> None:
        self.archives, self.batches, self.columns = archives, batches, schema

    @property
    def schema(self) -> daft.Schema:
        return daft.Schema.from_pyarrow_schema(self.columns)

    async def get_tasks(self, pushdowns: object) -> AsyncIterator[DataSourceTask]:
        for archive in self.archives:
            yield RowsOfArchive(archive, self)


class RowsOfArchive(DataSourceTask):
    def __init__(self, archive: str, source: Rows) -> None:
        self.archive, self.source = archive, source

    @property
    def schema(self) -> daft.Schema:
        return self.source.schema

    async def read(self) -> AsyncIterator[RecordBatch]:
        batches = self.source.batches(self.archive)
        while (batch := await asyncio.to_thread(next, batches, None)) is not None:
            batch = batch.select(self.source.columns.names)
            yield RecordBatch.from_arrow_record_batches([batch], batch.schema)


def links_of(archive: str) -> Iterator[pa.RecordBatch]:
    return baselink.warc.link_batches(archive, resolver="whatwg", enable="lazy")


def first(frame: DataFrame, keys: list[str], order: list[str], descends: bool = True) -> DataFrame:
    """The first row with each key, in this order with nulls last."""
    window = Window().partition_by(*keys).order_by(*order, desc=descends, nulls_first=False)
    return frame.with_column("number", row_number().over(window)).where(col("number") == 1).exclude("number")


def scheme(url: str) -> Expression:
    return lower(split_part(col(url), ":", 1))


def ids(frame: DataFrame, column: str, *more: str) -> DataFrame:
    return frame.where(col(column).not_null()).select(*more, split(col(column), " ").alias("id")).explode("id")


def best_captures(captures: DataFrame) -> DataFrame:
    """The best capture of each URL; `d_path`, `d_offset` and `d_within` are the place of its document."""
    document = [f"d_{name}" for name in PLACE]
    # Responses to other methods than GET answer no link.
    others = ids(captures.where(col("method").not_null()), "exchange").distinct()
    posted = ids(captures, "exchange", *PLACE).join(others, on="id", how="semi")
    # A repeated body is that of another record, or else there is none (304).
    is_repeated = col("body") == "repeated"
    bodies = first(ids(captures.where(~is_repeated), "body_ids", *PLACE), ["id"], PLACE, False)
    bodies = bodies.select("id", *(col(name).alias(other) for name, other in zip(PLACE, document, strict=True)))
    repeated = ids(captures.where(is_repeated), "body_ids", *PLACE, "body_ids").join(bodies, on="id")
    repeated = repeated.with_column("at", find(col("body_ids"), col("id")))
    repeated = first(repeated, PLACE, ["at"], False).select(*PLACE, *document)
    known = captures.where(col("method").is_null() & col("status").not_null() & col("url_key").not_null())
    known = known.join(posted, on=PLACE, how="anti").join(repeated, on=PLACE, how="left")
    redirects = col("target_key").not_null() & col("status").is_in(REDIRECTS)
    lacks_body = is_repeated & col("d_path").is_null()
    known = known.with_column(
        "status",
        when(lacks_body & ~redirects, lit(304))
        .when(is_repeated & ~lacks_body & (col("status") == 304), lit(200))
        .otherwise(col("status")),
    )
    is_resource = col("status").between(200, 299) & ~col("status").is_in([204, 205, 206])
    rank = when(is_resource & ~col("body").is_in(["empty", "cut"]), lit(3)).when(is_resource, lit(2))
    known = known.with_columns(
        {
            "rank": rank.when(redirects, lit(1)).otherwise(lit(0)),
            "scheme": scheme("url"),
            "target_scheme": scheme("location"),
            "is_cut": col("body") == "cut",
            **{other: col(other).fill_null(col(name)) for name, other in zip(PLACE, document, strict=True)},
        }
    )
    best = first(known, URL, ["rank", "date", *PLACE])
    return best.select(*URL, "status", "rank", "is_cut", *TARGET, *document).collect()


def answers(urls: DataFrame, prefers_own: bool) -> DataFrame:
    """What answers each URL: its capture, or that with `https` for `http`, or the reverse."""
    columns = [*URL, "status", "rank", "is_cut", *TARGET]
    swapped = when(col("scheme") == "http", lit("https")).otherwise(lit("http"))
    other = urls.where(col("scheme").is_in(["http", "https"])).with_column("scheme", swapped).select(*columns)
    own = urls.select(*columns)
    both = own.with_column("own", lit(1)).concat(other.with_column("own", lit(0)))
    both = both.with_column("found", (col("rank") > 1).cast(daft.DataType.int64()))
    return first(both, URL, ["own"] if prefers_own else ["found", "own"]).select(*columns)


def followed(urls: DataFrame) -> DataFrame:
    """`urls` with the rank of the resource at the end of redirects; `is_end` is true without one."""
    reached = answers(urls.where(col("rank") > 0), True).exclude("status").with_column("hops", lit(0)).collect()
    more = ["further_rank", "further_is_cut", "further_key", "further_scheme", "further_hops"]
    for _ in range(MAX_REDIRECTS.bit_length()):
        further = reached.select(
            col("url_key").alias("target_key"), col("scheme").alias("target_scheme"),
            *(col(name).alias(other) for name, other in zip(["rank", "is_cut", *TARGET, "hops"], more, strict=True)),
        )  # fmt: skip
        redirects = reached.where(col("rank") == 1).select(*URL, *TARGET, "hops").join(further, on=TARGET)
        redirects = redirects.select(
            *URL, col(more[0]).alias("rank"), col(more[1]).alias("is_cut"), col(more[2]).alias("target_key"),
            col(more[3]).alias("target_scheme"), (col("hops") + 1 + col(more[4])).alias("hops"),
        )  # fmt: skip
        reached = reached.where(col("rank") > 1).concat(redirects).collect()
    end = reached.where((col("rank") > 1) & (col("hops") < MAX_REDIRECTS))
    end = end.select(
        col("url_key").alias("target_key"), col("scheme").alias("target_scheme"), lit(1).alias("rank"),
        col("rank").alias("end_rank"), col("is_cut").alias("end_is_cut"),
    )  # fmt: skip
    found = urls.join(end, on=[*TARGET, "rank"], how="left").with_column("is_end", col("end_rank").is_null())
    found = found.with_column("is_cut", col("end_is_cut").fill_null(col("is_cut")))
    return found.with_column("rank", col("end_rank").fill_null(col("rank"))).collect()


def dead_links(archives: list[str]) -> DataFrame:
    """The links to what `archives` lack: class, cause and URL of each."""
    captures = (
        Rows(archives, baselink.warc.capture_batches, baselink.warc.CAPTURES).read().where(col("error").is_null())
    )
    urls = best_captures(captures.collect())
    ends = followed(urls)
    hosts = ends.where(col("is_end")).select(split_part(col("url_key"), "/", 3).alias("host")).distinct()
    schema = pa.schema([baselink.warc.LINKS.field(name) for name in [*LINK, *PLACE]])
    links = Rows(archives, links_of, schema).read().where(col("error").is_null())
    is_scope = col("attribute").is_null() & (col("element") == "scope").fill_null(False)
    is_entry = col("attribute").is_null() & (col("element") == "script").fill_null(False) & (col("role") == "embedded")
    is_entry = is_entry & regexp(col("reference"), r"^[^?#]*/([?#]|$)")
    is_changed = col("outcome").is_in(["rewritten", "absolute", "not-editable"])
    links = links.where(
        regexp(col("target"), "(?i)^(https?|ftp):") & (col("role") != "metadata")
        & (is_changed | (col("reason") == "custom-property").fill_null(False))
        & (col("attribute").fill_null("") != "codebase") & ~is_scope & ~is_entry
    )  # fmt: skip
    links = links.select(
        *PLACE, "role", "target", col("target_key").alias("url_key"), scheme("target").alias("scheme"),
        split_part(col("target_key"), "/", 3).alias("host"),
        col("attribute").fill_null("").startswith("data-").alias("is_lazy"),
    )  # fmt: skip
    documents = urls.where(col("rank") > 1).select(*(col(f"d_{name}").alias(name) for name in PLACE))
    found = links.join(documents, on=PLACE).join(answers(ends, False), on=URL, how="left")
    found = found.join(hosts.with_column("is_known", lit(True)), on="host", how="left")
    is_resource = (col("rank") > 1).fill_null(False)
    status = col("status")
    cause = when(is_resource & ~col("is_cut"), lit("works")).when(is_resource, lit("no-body"))
    cause = cause.when(status.is_null(), lit("not-captured")).when(status.is_in(REDIRECTS), lit("redirect"))
    cause = cause.when(status.between(400, 499), lit("client-error")).when(status >= 500, lit("server-error"))
    found = found.with_column("cause", cause.otherwise(lit("no-body")))
    is_page = col("role") == "navigation"
    found = found.where((col("cause") != "works") & (is_resource | ~col("is_lazy")))
    found = found.where(~is_page | col("is_known").fill_null(False) | status.not_null())
    kind = when(is_page, lit("missing-page")).otherwise(lit("missing"))
    return found.select(kind.alias("class"), "cause", split_part(col("target"), "#", 1).alias("url"))


if __name__ == "__main__":
    dead = dead_links(baselink.warc.list_archives(sys.argv[2:])).collect()
    dead.groupby("class", "cause").agg(col("url").count().alias("links")).sort(["class", "cause"]).show()
    dead.to_pandas().to_csv(sys.argv[1], index=False)

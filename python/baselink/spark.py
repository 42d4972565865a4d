"""The links, documents or captures of web archives as rows of Apache Spark.

PySpark 4 reads archives by a data source:

    spark.dataSource.register(baselink.spark.ArchiveSource)
    links = spark.read.format("baselink").option("resolver", "whatwg").load("/crawl/*.warc.gz")
    links.where("error is null").groupBy("outcome").count().show()

PySpark 3.5 has no data sources in Python; `read_links` gives the same rows there, and in PySpark 4.

Each archive is one partition. The executors read it by `baselink.warc`, and through fsspec if it is named by a URL. The
columns are `LINKS`. An archive that cannot be read gives a row with an `error`, and the job goes on.

Deliberately absent: parts of an archive as partitions. A compressed archive must be read from its start.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

try:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import BinaryType, DataType, LongType, StringType, StructField, StructType
except ImportError:
    raise ImportError("baselink.spark needs pyspark and pyarrow: pip install 'baselink[spark]'")

from . import warc

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import ArchiveOptions

    class _Options(ArchiveOptions, total=False):
        storage_options: dict[str, Any] | None


try:
    from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
except ImportError:  # PySpark 3.5
    DataSource = DataSourceReader = InputPartition = object  # type: ignore[assignment, misc]

__all__ = [
    "CAPTURES",
    "DOCUMENTS",
    "LINKS",
    "ArchiveSource",
    "documents_in_arrow",
    "links_in_arrow",
    "links_in_partition",
    "list_archives",
    "read_captures",
    "read_documents",
    "read_links",
]

_TYPES: dict[pa.DataType, DataType] = {
    pa.string(): StringType(),
    pa.int64(): LongType(),
    pa.binary(): BinaryType(),
}


def _struct(schema: pa.Schema) -> StructType:
    return StructType([StructField(field.name, _TYPES[field.type]) for field in schema])


LINKS = _struct(warc.LINKS)
"""The columns of links: those of `baselink.warc.LINKS`."""

DOCUMENTS = _struct(warc.DOCUMENTS)
"""The columns of documents: those of `baselink.warc.DOCUMENTS`."""

CAPTURES = _struct(warc.CAPTURES)
"""The columns of captures: those of `baselink.warc.CAPTURES`."""

_KINDS: dict[str, tuple[StructType, Callable[..., Iterator[pa.RecordBatch]]]] = {
    "links": (LINKS, warc.link_batches),
    "documents": (DOCUMENTS, warc.rewrite_batches),
    "captures": (CAPTURES, warc.capture_batches),
}
"""The values of the option `rows`."""

_InArrow = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class ArchiveSource(DataSource):
    """The data source `baselink`.

    The options are those of `baselink.warc.link_batches`, as text: the values of `enable` and `attributes` are
    separated by commas, and `storage_options` is JSON. If the option `rows` is `documents` or `captures`, the columns are
    `DOCUMENTS` or `CAPTURES` instead of `LINKS`. A schema passed to `.schema(…)` selects columns; the others are not transferred to Spark.
    """

    @classmethod
    def name(cls) -> str:
        return "baselink"

    def schema(self) -> StructType:
        return _kind(self.options)[0]

    def reader(self, schema: StructType) -> ArchiveReader:
        return ArchiveReader(dict(self.options), schema)


class ArchiveReader(DataSourceReader):
    """Reads archives, each as a partition."""

    def __init__(self, options: dict[str, str], schema: StructType) -> None:
        whole, self.batches = _kind(options)
        for field in schema:
            if field.name not in whole.names or field.dataType != whole[field.name].dataType:
                raise ValueError(f"{field.name} {field.dataType.simpleString()}: there is no such column")
        self.columns = schema.names
        self.patterns = [options["path"]] if "path" in options else json.loads(options.get("paths", "[]"))
        self.arguments = {
            name: _argument(name, value) for name, value in options.items() if name not in ("path", "paths", "rows")
        }
        self.batches([], **self.arguments)  # Raises for a wrong option, before anything is read.

    def partitions(self) -> Sequence[InputPartition]:
        storage_options = self.arguments.get("storage_options")
        return [InputPartition(path) for path in warc.list_archives(self.patterns, storage_options=storage_options)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        for batch in self.batches(partition.value, **self.arguments):
            yield batch.select(self.columns)


def _kind(options: Mapping[str, str]) -> tuple[StructType, Callable[..., Iterator[pa.RecordBatch]]]:
    rows = options.get("rows", "links")
    if rows not in _KINDS:
        raise ValueError(f"{rows!r} is no kind of rows; there are {', '.join(_KINDS)}")
    return _KINDS[rows]


def _argument(name: str, value: str) -> Any:
    if name == "storage_options":
        return json.loads(value)
    return value.split(",") if name in ("enable", "attributes") else value


def links_in_arrow(**options: Unpack[_Options]) -> _InArrow:
    """A function for `DataFrame.mapInArrow` with the schema `LINKS`; the first column of the frame names archives."""
    return _in_arrow(warc.link_batches, options)


def documents_in_arrow(**options: Unpack[_Options]) -> _InArrow:
    """A function for `DataFrame.mapInArrow` with the schema `DOCUMENTS`, for a frame like that of `links_in_arrow`."""
    return _in_arrow(warc.rewrite_batches, options)


def _in_arrow(batches: Callable[..., Iterator[pa.RecordBatch]], options: Mapping[str, object]) -> _InArrow:
    batches([], **options)  # Raises for a wrong option, before anything is read.

    def read(frames: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return batches((path for frame in frames for path in frame.column(0).to_pylist()), **options)

    return read


def links_in_partition(**options: Unpack[_Options]) -> Callable[[Iterable[str]], Iterator[warc.ArchiveLink]]:
    """A function for `RDD.mapPartitions` of an RDD of paths.

    `links_in_arrow` is much faster, because here each row is a Python object.
    """
    warc.link_batches([], **options)  # Raises for a wrong option, before anything is read.
    return lambda paths: warc.link_rows(paths, **options)


def read_links(spark: SparkSession, archives: Iterable[str], **options: Unpack[_Options]) -> DataFrame:
    """The links of `archives` with a partition for each, in the rows of the data source; works in PySpark 3.5, too."""
    return _frame(spark, archives).mapInArrow(links_in_arrow(**options), LINKS)


def read_documents(spark: SparkSession, archives: Iterable[str], **options: Unpack[_Options]) -> DataFrame:
    """The documents of `archives` with their links made absolute, with a partition for each archive."""
    return _frame(spark, archives).mapInArrow(documents_in_arrow(**options), DOCUMENTS)


def read_captures(
    spark: SparkSession, archives: Iterable[str], *, storage_options: dict[str, Any] | None = None
) -> DataFrame:
    """The captures in `archives`, with a partition for each archive."""
    read = _in_arrow(warc.capture_batches, {"storage_options": storage_options})
    return _frame(spark, archives).mapInArrow(read, CAPTURES)


def _frame(spark: SparkSession, archives: Iterable[str]) -> DataFrame:
    rows = [(path,) for path in archives]
    return spark.createDataFrame(spark.sparkContext.parallelize(rows, max(1, len(rows))), "path string")


def list_archives(spark: SparkSession, *patterns: str) -> list[str]:
    """The archives that match `patterns`, by the rules of `baselink.warc.list_archives`.

    They are listed by the Hadoop file systems that the driver is configured for: `hdfs://`, `s3a://`, `abfss://`, ...
    A file that does not exist raises FileNotFoundError, too.
    """
    jvm: Any = spark.sparkContext._jvm
    configuration: Any = spark.sparkContext._jsc.hadoopConfiguration()
    found: list[str] = []
    for pattern in patterns:
        path = jvm.org.apache.hadoop.fs.Path(pattern)
        files = path.getFileSystem(configuration)
        matches = [files.getFileStatus(path)] if files.exists(path) else files.globStatus(path) or []
        of_pattern: list[str] = []
        for match in matches:
            if match.isFile():
                of_pattern.append(match.getPath().toString())
                continue
            listed = files.listFiles(match.getPath(), True)
            in_folder = []
            while listed.hasNext():
                in_folder.append(listed.next().getPath().toString())
            of_pattern += sorted(name for name in in_folder if warc.is_archive(name))
        if not of_pattern:
            raise FileNotFoundError(f"{pattern}: there are no archives")
        found += of_pattern
    return found

"""Fetching public data sets, and checking that they are the known ones."""

from __future__ import annotations

import hashlib
import lzma
import urllib.request
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from pmgt_mpi.data.archive import Archive
from pmgt_mpi.data.files import reading
from pmgt_mpi.errors import UserError
from pmgt_mpi.replacing import replacing

CHUNK = 1 << 20

TIMEOUT = 30.0
"""Seconds that a server may be silent."""

PRESET = 2
"""Of the xz packer: a third of the time of the usual one."""


@dataclass(frozen=True)
class Dataset:
    """A public data set, and how to know it.

    Attributes
    ----------
    file
        Name under which it is kept, packed as .xz.
    size, sha256
        Of the unpacked file: the packed ones differ by packer.
    urls
        Its public homes, packed as .gz; the next is tried where one fails.
    notice
        What its owners ask to be kept with it.
    """

    name: str
    file: str
    size: int
    sha256: str
    urls: tuple[str, ...]
    notice: str


DATASETS = {
    "covtype": Dataset(
        name="covtype",
        file="covtype.data.xz",
        size=75_169_317,
        sha256="0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945",
        urls=(
            "https://archive.ics.uci.edu/ml/machine-learning-databases/covtype/covtype.data.gz",
            "https://ndownloader.figshare.com/files/5976039",
        ),
        notice="Covertype: copyright Jock A. Blackard and Colorado State University",
    ),
}


class WrongFileError(Exception):
    """What came is not the data set; says how that was seen."""


def fetch(
    dataset: Dataset,
    folder: Path,
    urls: Sequence[str] = (),
    tell: Callable[[str], None] = lambda _: None,
) -> Path:
    """Return the path of a data set in a folder, checked; download it if it is missing.

    Parameters
    ----------
    urls
        Where to look instead of its public homes.
    tell
        Called with what is being done.
    """
    path = folder / dataset.file
    with reading(path):
        there = path.exists()
    if there:
        tell(f"checking {path}")
        try:
            with Archive(path) as archive:
                check(dataset, iter(lambda: archive.read(CHUNK), b""))
        except WrongFileError as error:
            raise UserError(
                f"{path} is not the known {dataset.name}: {error}; remove it and fetch "
                "it again"
            ) from None
        return path
    reasons = []
    for url in urls or dataset.urls:
        tell(f"fetching {url}")
        try:
            download(dataset, url, path)
        except WrongFileError as error:
            reasons.append(f"{url} gave another file: {error}")
        except (OSError, HTTPException, ValueError) as error:
            reasons.append(f"{url}: {error}")
        else:
            return path
    raise UserError(
        f"cannot fetch {dataset.name}: {'; '.join(reasons)}. On a machine that is "
        f"online, fetch it there and copy {dataset.file} to {folder}; or name another "
        "place of the .gz file with --url"
    )


def download(dataset: Dataset, url: str, path: Path) -> None:
    """Download a .gz file, check it on the way, and keep it as .xz.

    Nothing is left under `path` unless all of it is right.
    """
    request = urllib.request.Request(url, headers={"User-Agent": "pmgt_mpi"})
    with (
        urllib.request.urlopen(request, timeout=TIMEOUT) as response,
        replacing(path) as temporary,
        lzma.open(temporary, "wb", preset=PRESET) as file,
    ):
        packed = iter(lambda: response.read(CHUNK), b"")
        check(dataset, unpacked(packed), file.write)


def unpacked(packed: Iterator[bytes]) -> Iterator[bytes]:
    """Unpack the pieces of a .gz file, no more than `CHUNK` bytes at once."""
    unpacker = zlib.decompressobj(wbits=31)
    try:
        for piece in packed:
            while piece and not unpacker.eof:
                yield unpacker.decompress(piece, CHUNK)
                piece = unpacker.unconsumed_tail
        yield unpacker.flush()
    except zlib.error as error:
        raise WrongFileError(f"it is not a .gz file ({error})") from None
    if not unpacker.eof:
        raise WrongFileError("it is cut off")


def check(
    dataset: Dataset,
    pieces: Iterator[bytes],
    keep: Callable[[bytes], object] = lambda _: None,
) -> None:
    """Take the pieces of an unpacked file, and see that they are the data set."""
    digest, size = hashlib.sha256(), 0
    for piece in pieces:
        digest.update(piece)
        keep(piece)
        size += len(piece)
        if size > dataset.size:
            raise WrongFileError(f"it has more than {dataset.size:,} bytes unpacked")
    if digest.hexdigest() != dataset.sha256:
        raise WrongFileError(
            f"its sha256, unpacked, is {digest.hexdigest()} ({size:,} bytes), expected "
            f"{dataset.sha256} ({dataset.size:,} bytes)"
        )

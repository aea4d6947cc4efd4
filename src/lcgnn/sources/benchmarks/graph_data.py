"""Graphs of the GraphData collection: sparse matrices, pickled within an npz file."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from lcgnn.csr import checked_csr
from lcgnn.errors import DataError
from lcgnn.sources.benchmarks.npz_file import Contents, NpzFile
from lcgnn.sources.benchmarks.unpickling import unpickled
from lcgnn.sources.npy import unpacked_array

SITE = "https://github.com/EdisonLeeeee/GraphData/raw/f8022c26b917346f2a461ffec0ec5ae24b36de68/datasets/"


@dataclass(frozen=True)
class GraphData(NpzFile):
    """A graph with ``adj_matrix`` and ``node_attr``, scipy's CSR matrices, and ``node_label``."""

    def parse(self, content: bytes) -> Contents:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            adjacency = self._matrix(archive, "adj_matrix")
            features = self._matrix(archive, "node_attr")
            labels = unpacked_array(archive.read("node_label.npy")).astype(np.int64)
        # A symmetric matrix has every link at both of its ends; one of directed links has each once.
        symmetric = (adjacency != adjacency.T).nnz == 0
        num_links = adjacency.nnz // 2 if symmetric else adjacency.nnz
        return Contents(np.stack(adjacency.nonzero()), num_links, labels, features)

    def _matrix(self, archive: zipfile.ZipFile, key: str) -> csr_array:
        """A matrix that numpy stored as an array of one object, for which it uses pickle."""
        what = f"{self.file_name}, {key}"
        file = io.BytesIO(archive.read(f"{key}.npy"))
        np.lib.format.read_magic(file)
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        if shape != () or not dtype.hasobject:
            raise DataError(f"{what}: {dtype} of shape {shape} is no pickled matrix. Fetch the published file.")
        parts = vars(unpickled(what, file.read()).item())
        return checked_csr(parts["data"], parts["indices"], parts["indptr"], parts["_shape"], what)

"""Embeddings from any OpenAI-compatible endpoint."""

from __future__ import annotations

import base64
import re
import threading
import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from deeprefine_graphdb.model.counts import counted
from deeprefine_graphdb.model.errors import ModelError

if TYPE_CHECKING:
    from openai import OpenAI

Vectors = npt.NDArray[np.float32]

OPENAI_URL = "https://api.openai.com/v1"
BATCH = 128
MAX_CHARACTERS = 6_000
RETRIES = 5
TOO_LARGE = (400, 413, 422)
KEY_LIKE = re.compile(r"\b(sk|pk|key)-[\w*.-]{6,}|Bearer\s+\S+", re.IGNORECASE)


class Embedder:
    """Turns texts into vectors of length 1. Safe to share between threads.

    ``url`` is ``None`` for OpenAI's own endpoint; an empty ``key`` is for a local server. Connection errors,
    timeouts, 429 (with Retry-After) and 5xx answers are tried again up to ``retries`` times. ``calls``,
    ``tokens`` and ``seconds`` add up what was used; tokens stay 0 when the server does not tell them.
    """

    def __init__(
        self,
        model: str,
        url: str | None = None,
        key: str = "",
        timeout: float = 120.0,
        batch: int = BATCH,
        retries: int = RETRIES,
    ) -> None:
        self.model = model
        self._url = url or OPENAI_URL
        self._key = key
        self._timeout = timeout
        self._batch = batch
        self._retries = retries
        self._counting = threading.Lock()
        self.calls = 0
        self.tokens = 0
        self.seconds = 0.0

    @property
    def place(self) -> str:
        """The endpoint as messages name it: without user, password and query."""
        parts = urlsplit(self._url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Give one vector a text, as rows. Raises :class:`ModelError`."""
        batches = list(self.batches(texts))
        return np.concatenate(batches) if batches else np.zeros((0, 0), np.float32)

    def batches(self, texts: Sequence[str]) -> Iterator[Vectors]:
        """Embed texts and give the vectors of one request after another, so that each can be kept at once.

        A batch that the server finds too large is halved, and so are the ones after it. Raises
        :class:`ModelError`.
        """
        at = 0
        while at < len(texts):
            batch = texts[at : at + self._batch]
            vectors = self._request([text[:MAX_CHARACTERS] if text.strip() else "-" for text in batch])
            if vectors is None:
                self._batch = max(1, len(batch) // 2)
                continue
            at += len(batch)
            yield vectors

    def _request(self, batch: list[str]) -> Vectors | None:
        import openai

        began = time.monotonic()
        try:
            answer = self._client.embeddings.create(model=self.model, input=batch, encoding_format="float")
        except openai.APIStatusError as error:
            if error.status_code in TOO_LARGE and len(batch) > 1:
                return None
            raise self._failed(f"answered {error.status_code}: {error.message}") from None
        except openai.APITimeoutError:
            raise self._failed(f"gave no answer within {self._timeout:g} s") from None
        except openai.APIConnectionError:
            raise self._failed("cannot be reached") from None
        except (openai.OpenAIError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise self._failed(f"gave an answer that cannot be read ({type(error).__name__})") from None
        self._count(answer, time.monotonic() - began)
        return self._vectors(answer, len(batch))

    def _vectors(self, answer: Any, wanted: int) -> Vectors:
        try:
            rows = [
                _numbers(item.embedding) for item in sorted(answer.data, key=lambda item: item.index or 0)
            ]
            vectors = np.array(rows, dtype=np.float32)
        except (AttributeError, TypeError, ValueError):
            raise self._failed("gave an answer without embeddings") from None
        if vectors.ndim != 2 or vectors.shape[0] != wanted or not vectors.shape[1]:
            raise self._failed(f"gave {len(rows)} embeddings for {wanted} texts, or of unequal length")
        if not np.isfinite(vectors).all():
            raise self._failed("gave an embedding that has no finite numbers")
        return normalised(vectors)

    def _count(self, answer: Any, seconds: float) -> None:
        with self._counting:
            self.calls += 1
            self.seconds += seconds
            self.tokens += counted(getattr(getattr(answer, "usage", None), "total_tokens", 0))

    def _failed(self, what: str) -> ModelError:
        said = KEY_LIKE.sub("***", what.replace(self._key, "***") if self._key else what)
        said = " ".join(said.split())[:300].rstrip(".")
        return ModelError(
            f"The embedding endpoint {self.place} (model {self.model}) {said}.",
            "What was embedded is kept; run `deeprefine-db index` again.",
        )

    @cached_property
    def _client(self) -> OpenAI:
        from openai import OpenAI

        return OpenAI(
            base_url=self._url,
            api_key=self._key or "none",
            timeout=self._timeout,
            max_retries=self._retries,
        )


def _numbers(embedding: Any) -> Any:
    """Give the numbers of an embedding; some servers send base64 of 32-bit floats whatever they are asked for."""
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4")
    return embedding


def normalised(vectors: Vectors) -> Vectors:
    """Scale rows to length 1; a row of zeros stays as it is."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    scaled: Vectors = (vectors / lengths).astype(np.float32)
    return scaled

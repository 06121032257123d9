"""Counting on a Dask cluster of processes: the same merges, also when a worker is killed in the middle."""

from __future__ import annotations

import os
import signal
import socket
import warnings

import pytest

from bpe import TrainSettings, counting_files, train, train_files
from bpe.errors import CorpusError, UnavailableError
from bpe.samples import load_sample, udhr_languages

distributed = pytest.importorskip("distributed", reason="python -m pip install -r requirements-cluster.txt")

SETTINGS = TrainSettings(num_merges=300, tie_break="lowest-ids")


@pytest.fixture(scope="module")
def text():
    return "\n".join(load_sample(f"udhr-{language.code}") for language in udhr_languages())


@pytest.fixture
def corpus(tmp_path, text):
    path = tmp_path / "corpus.txt"
    path.write_bytes(text.encode())
    return path


@pytest.fixture
def cluster():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the cluster's own making: ports in use, workers that die
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as running:
            yield running


@pytest.mark.filterwarnings("ignore")
def test_killing_a_worker_in_the_middle_changes_nothing(cluster, corpus, text, monkeypatch):
    monkeypatch.setattr(counting_files, "_PART_BYTES", 50_000)
    killed = []

    def kill_one(done, total):
        if done > total // 3 and not killed:
            worker = next(iter(cluster.workers.values()))
            killed.append(worker.pid)
            os.kill(worker.pid, signal.SIGKILL)

    training = train_files([corpus], SETTINGS, scheduler=cluster.scheduler_address, count_progress=kill_one)
    expected = train(text, SETTINGS)
    assert len(killed) == 1
    assert list(training.merges) == list(expected.merges)
    assert list(training.pre_tokens.items()) == list(expected.pre_tokens.items())


@pytest.mark.filterwarnings("ignore")
def test_urls_bad_bytes_and_missing_files(cluster, corpus, text):
    training = train_files([f"file://{corpus}"], SETTINGS, scheduler=cluster.scheduler_address)
    assert list(training.merges) == list(train(text, SETTINGS).merges)
    bad = corpus.with_name("bad.txt")
    bad.write_bytes(b"good \xff bad")
    with pytest.raises(CorpusError, match="offset 5"):
        train_files([bad], SETTINGS, scheduler=cluster.scheduler_address)
    with pytest.raises(FileNotFoundError):
        train_files([f"file://{corpus}.missing"], SETTINGS, scheduler=cluster.scheduler_address)


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_is_not_there(corpus, monkeypatch):
    monkeypatch.setattr(counting_files, "_SCHEDULER_SECONDS", 1)
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{held.getsockname()[1]}"
        for wrong in (address, "nowhere", "tcp://nowhere.invalid:1"):
            with pytest.raises(UnavailableError, match="no Dask scheduler answers") as caught:
                train_files([corpus], SETTINGS, scheduler=wrong)
            assert "\n" not in str(caught.value)


def test_a_url_of_no_known_kind(corpus):
    with pytest.raises(UnavailableError, match="cannot be opened"):
        train_files(["nosuch://bucket/corpus.txt"], SETTINGS)

from __future__ import annotations

from pathlib import Path

import pytest

from larm.errors import StorageError
from larm.peers.identity import Identity, is_signed, public_key


def test_a_key_is_made_once_and_kept(tmp_path: Path) -> None:
    first = Identity.opened(tmp_path / "sub" / "peer.key")
    assert Identity.opened(tmp_path / "sub" / "peer.key").key == first.key
    assert (tmp_path / "sub" / "peer.key").stat().st_mode & 0o777 == 0o600
    assert len(first.key) == 43
    assert public_key(first.key) is not None


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "peer.key"
    Identity.opened(path)
    path.chmod(0o640)
    with pytest.raises(StorageError, match="others than you"):
        Identity.opened(path)
    path.chmod(0o600)
    path.write_text("nonsense")
    with pytest.raises(StorageError, match="not a peer's key"):
        Identity.opened(path)


def test_a_signature_is_good_for_its_key_purpose_and_data_alone() -> None:
    one, other = Identity.new(), Identity.new()
    signature = one.sign("tuning", b"data")
    assert is_signed(one.key, "tuning", b"data", signature)
    assert not is_signed(one.key, "tombstone", b"data", signature)
    assert not is_signed(one.key, "tuning", b"other", signature)
    assert not is_signed(other.key, "tuning", b"data", signature)
    for nonsense in ("", "ä", "A" * 86, signature + "=", "%"):
        assert not is_signed(one.key, "tuning", b"data", nonsense)
        assert not is_signed(nonsense, "tuning", b"data", signature)
    assert public_key(one.key[:-1] + "~") is None

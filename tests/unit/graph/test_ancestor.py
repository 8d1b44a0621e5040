"""Which base and manifest a file descends from, by rule 4 and the mark of rule 6."""

from __future__ import annotations

from deeprefine_graphdb.graph.ancestor import State, find_ancestor
from deeprefine_graphdb.graph.manifest import ManifestEntry


def entry(by: str) -> ManifestEntry:
    return ManifestEntry(kind="added", object="link", key="k", by=by, disk="{}")


def state(file: str, base: str, by: str = "") -> State:
    return State(file, base, lambda: [entry(by)] if by else [])


LOG = [state("b1", "b1"), state("d1", "b1", "r1.1"), state("b2", "b2"), state("d2", "b2", "r2.1")]
BASES = {"b1", "b2"}


def test_a_known_file_has_its_own_base_and_manifest() -> None:
    found = find_ancestor("d2", LOG, "b2", BASES)
    assert (found.base_digest, found.why, found.written, found.is_current) == ("b2", "known", "d2", True)
    assert [each.by for each in found.manifest] == ["r2.1"]


def test_a_file_of_another_branch_needs_the_base_of_then() -> None:
    found = find_ancestor("d1", LOG, "b2", BASES)
    assert (found.base_digest, found.why, found.is_current) == ("b1", "known", False)
    assert [each.by for each in found.manifest] == ["r1.1"]


def test_a_base_that_is_kept_is_known_without_a_state() -> None:
    found = find_ancestor("b3", LOG, "b2", {*BASES, "b3"})
    assert (found.base_digest, found.manifest, found.why) == ("b3", (), "known")


def test_the_latest_of_two_states_of_one_file_counts() -> None:
    found = find_ancestor("d1", [*LOG, state("d1", "b2", "r3.1")], "b2", BASES)
    assert (found.base_digest, [each.by for each in found.manifest]) == ("b2", ["r3.1"])


def test_a_file_that_an_update_left_descends_from_the_base_itself() -> None:
    found = find_ancestor("new", LOG, "b2", BASES, sidecar=state("d1", "b1", "r1.1"), updating="b2")
    assert (found.base_digest, found.manifest, found.why) == ("b2", (), "update")


def test_an_update_that_was_cut_short_before_graphify_wrote_leaves_a_known_file() -> None:
    found = find_ancestor("d2", LOG, "b2", BASES, updating="b2")
    assert (found.why, [each.by for each in found.manifest]) == ("known", ["r2.1"])


def test_an_unknown_file_descends_from_what_the_sidecar_says() -> None:
    found = find_ancestor("new", LOG, "b2", BASES, sidecar=state("d1", "b1", "r1.1"))
    assert (found.base_digest, found.why, found.is_current) == ("b1", "sidecar", False)
    assert found.written == "d1"


def test_without_a_sidecar_it_descends_from_what_was_written_last() -> None:
    found = find_ancestor("new", LOG, "b2", BASES)
    assert (found.base_digest, found.why, [each.by for each in found.manifest]) == ("b2", "last", ["r2.1"])


def test_a_sidecar_whose_base_is_not_here_gives_images_only() -> None:
    found = find_ancestor("new", LOG, "b2", BASES, sidecar=state("d9", "b9", "r9.1"))
    assert (found.base_digest, found.why) == ("b2", "last")
    assert [each.by for each in found.strange] == ["r9.1"]


def test_a_state_whose_base_is_gone_is_passed_over() -> None:
    found = find_ancestor("d1", LOG, "b2", {"b2"})
    assert (found.base_digest, found.why) == ("b2", "last")


def test_with_an_empty_log_a_file_is_a_base() -> None:
    found = find_ancestor("new", [], None, ())
    assert (found.base_digest, found.manifest, found.why) == (None, (), "none")

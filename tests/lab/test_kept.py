"""The tables of the kept rows in ``bench/lab`` are reproduced byte for byte."""

from pathlib import Path

import pytest

from suffice.cli.app import main

KEPT = sorted(Path(__file__).parents[2].glob("bench/lab/*/rows.jsonl.gz"))


@pytest.mark.parametrize("rows", KEPT, ids=lambda path: path.parent.name)
def test_tables_from_kept_rows_are_reproduced(rows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit:
        main(["lab", "tables", str(rows.parent)])
    assert exit.value.code == 0
    assert capsys.readouterr().out == (rows.parent / "tables.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("rows", KEPT, ids=lambda path: path.parent.name)
def test_kept_rows_quote_no_data_set_and_are_small(rows: Path) -> None:
    import gzip

    text = gzip.decompress(rows.read_bytes()).decode()
    assert '"answer": "' not in text
    assert "query_texts" not in text
    assert rows.stat().st_size < 5_000_000

from __future__ import annotations

from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laya_router.detection import Detection, detect
from laya_router.texts import SAMPLE_CHARACTERS, sampled_lines, string_values

JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "script", "language"),
    [
        ("Здравствуйте, я не могу войти", "cyrillic", None),
        ("我要退款", "han", None),
        ("환불해 주세요", "hangul", "ko"),
        ("返品したいです", "hiragana", "ja"),
        ("注文番号確認希望です", "han", "ja"),
        ("Θέλω τα χρήματά μου πίσω", "greek", "el"),
        ("أريد استرداد أموالي", "arabic", None),
        ("ต้องการเงินคืน", "thai", "th"),
    ],
)
def test_another_script_than_latin_is_not_english(text: str, script: str, language: str | None) -> None:
    detection = detect(text)
    assert (detection["script"], detection["language"]) == (script, language)
    assert not detection["is_english"] and not detection["language_undecided"]
    assert detection["non_latin_fraction"] == 1.0


@pytest.mark.parametrize("text", ["I was charged twice", "Ich möchte mein Geld zurück", "", "12:30 -- 42", "😀"])
def test_latin_text_and_no_text_stay_undecided(text: str) -> None:
    detection = detect(text)
    assert detection["language_undecided"] and detection["language"] is None


def test_the_shares_count_letters_alone() -> None:
    detection = detect("abc дд 123 é")
    assert detection["script_profile"] == {"latin": 0.6667, "cyrillic": 0.3333}
    assert detection["non_latin_fraction"] == 0.3333
    assert detection["diacritic_rate"] == 0.5
    assert detect("42")["script"] == "unknown"


def test_one_foreign_message_in_an_english_form_is_found_and_quoted() -> None:
    notes = ["called twice, no answer either time, left a message with the front desk", "Верните мне деньги за заказ"]
    form = {"subject": "Refund for the order", "priority": "high", "notes": notes}
    detection = detect(form)
    assert detection["mixed_segment"] == "Верните мне деньги за заказ"
    assert not detection["language_undecided"] and not detection["is_english"]


def test_the_quoted_part_is_at_most_80_characters() -> None:
    assert detect(["English words " * 60, "длинная строка " * 20])["mixed_segment"] == ("длинная строка " * 20)[:80]


def test_a_name_in_its_own_script_does_not_make_a_form_foreign() -> None:
    detection = detect({"customer": "山田 太郎", "message": "Please send the invoice for March again."})
    assert detection["mixed_segment"] is None and detection["language_undecided"]


def test_keys_are_not_read() -> None:
    assert list(string_values({"ключ": ["a", {"другой": "b"}], "n": 3})) == ["a", "b"]


def test_a_long_state_is_sampled_from_one_end_to_the_other() -> None:
    lines = sampled_lines("\n".join(f"{number:06d}" for number in range(40_000)))
    assert sum(map(len, lines)) <= SAMPLE_CHARACTERS
    assert lines[0].startswith("000000") and lines[-1].endswith("039999")


def test_a_long_single_line_is_sampled_too() -> None:
    detection = detect("a " * 200_000 + "я" * 200_000)
    assert 0.3 < detection["non_latin_fraction"] < 0.9


@given(JSON)
def test_every_json_state_gets_every_key_with_shares_between_zero_and_one(state: Any) -> None:
    detection = detect(state)
    assert set(detection) == set(get_type_hints(Detection))
    assert all(0 <= share <= 1 for share in detection["script_profile"].values())
    assert 0 <= detection["diacritic_rate"] <= 1 and 0 <= detection["non_latin_fraction"] <= 1

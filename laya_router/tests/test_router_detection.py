from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laya_router.detection import Detection, detect, evidence, read
from laya_router.detection.identification import english_log_odds

ENGLISH_NOTE = "Customer has called before. Please check the warranty and escalate if needed."
JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def is_foreign(state: object) -> bool:
    detection = detect(state)
    return not detection["is_english"] and not detection["language_undecided"]


@pytest.mark.parametrize(
    ("text", "script", "language"),
    [
        ("Здравствуйте, я не могу войти", "cyrillic", "ru"),
        ("Посилка досі не прийшла, поверніть гроші", "cyrillic", "uk"),
        ("我要退款，商品坏了", "han", "zh"),
        ("환불해 주세요", "hangul", "ko"),
        ("返品したいです", "hiragana", "ja"),
        ("Θέλω τα χρήματά μου πίσω", "greek", "el"),
        ("ต้องการเงินคืน", "thai", "th"),
        ("החבילה שלי לא הגיעה", "hebrew", "he"),
    ],
)
def test_another_script_than_latin_is_not_english(text: str, script: str, language: str) -> None:
    detection = detect(text)
    assert (detection["script"], detection["language"]) == (script, language)
    assert not detection["is_english"] and not detection["language_undecided"]
    assert detection["non_latin_fraction"] == 1.0


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Der Drucker druckt nur noch leere Seiten.", "de"),
        ("Mon colis n'est toujours pas arrivé, c'est inadmissible.", "fr"),
        ("quiero que me devuelvan el dinero del pedido", "es"),
        ("Moja paczka nadal nie dotarła, proszę o zwrot.", "pl"),
        ("MEIN PAKET IST IMMER NOCH NICHT DA", "de"),
    ],
)
def test_latin_text_in_another_language_is_not_english(text: str, language: str) -> None:
    detection = detect(text)
    assert (detection["script"], detection["language"]) == ("latin", language)
    assert is_foreign(text) and detection["mixed_segment"] is None


@pytest.mark.parametrize(
    "text",
    [
        "I was charged twice",
        "no internet",
        "MY INTERNET IS DOWN AGAIN",
        "i cant acess my acount plz help",
        "Please update the name on my account to François Lefèvre",
        "Wojciech asked whether his leave was approved",
        "The café on Main Street still has no espresso machine",
        "the page www.tienda.es/carrito/pagar keeps loading",
        "mail hans.mueller@firma.de bounces",
        "kubectl get pods shows CrashLoopBackOff",
        "Please rename the account to Владимир Путинский today",
        "The tolerance is ±5 μm at 20 °C for α = 0.05",
    ],
)
def test_english_is_english_with_names_loans_typos_and_code_in_it(text: str) -> None:
    detection = detect(text)
    assert detection["is_english"] and detection["language"] == "en" and not detection["language_undecided"]


@pytest.mark.parametrize(
    "state", ["", "   \n", "12:30 -- 42", "😀🎉", "\x00\x07", {}, [], 42, None, True, {"key": 1}, b"abc"]
)
def test_without_letters_nothing_is_decided(state: Any) -> None:
    detection = detect(state)
    assert detection["language_undecided"] and not detection["is_english"]
    assert (detection["script"], detection["language"], detection["script_profile"]) == ("unknown", None, {})


@pytest.mark.parametrize(
    "text", ["https://example.org/konto/passwort", "a.b.c.d", "x9f3-22b", "user@firma.de", "\ud800x1"]
)
def test_letters_that_are_no_words_decide_nothing(text: str) -> None:
    detection = detect(text)
    assert detection["language_undecided"] and detection["script"] == "latin"


def test_the_shares_count_letters_alone() -> None:
    detection = detect("abc дд 123 é")
    assert detection["script_profile"] == {"latin": 0.6667, "cyrillic": 0.3333}
    assert detection["non_latin_fraction"] == 0.3333
    assert detection["diacritic_rate"] == 0.5
    assert detect("42")["script"] == "unknown"


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("Der Drucker druckt nur noch leere Seiten.", "de"),
        ("meu cartão foi recusado mas tem saldo", "pt"),
        ("aplikacja nie działa od wczoraj", "pl"),
        ("не приходит код подтверждения на телефон", "ru"),
        ("付款失败", "zh"),
        ("환불 언제 되나요", "ko"),
    ],
)
def test_one_foreign_message_in_an_english_form_is_found_and_quoted(message: str, language: str) -> None:
    form = {
        "status": "open",
        "channel": "web form",
        "thread": [{"by": "customer", "text": message}],
        "note": ENGLISH_NOTE,
    }
    detection = detect(form)
    assert (detection["mixed_segment"], detection["language"], detection["script"]) == (message, language, "latin")
    assert is_foreign(form)


def test_one_foreign_line_among_english_ones_is_found_in_plain_text() -> None:
    text = f"{ENGLISH_NOTE}\n\nich kann mich seit gestern nicht mehr einloggen\n\nRegards,\nSupport"
    assert detect(text)["mixed_segment"] == "ich kann mich seit gestern nicht mehr einloggen"


def test_a_foreign_remark_below_a_stack_trace_is_found() -> None:
    trace = 'Traceback (most recent call last):\n  File "main.py", line 3, in <module>\nRuntimeError: boom'
    assert is_foreign(f"{trace}\n\nDas passiert jedes Mal, wenn ich die Datei öffne.")
    assert detect(f"{trace}\n\nThis happens each time I open the file.")["is_english"]


def test_a_wholly_foreign_state_has_no_mixed_segment() -> None:
    for state in [
        "Wo ist mein Paket?\nBitte antworten Sie bald.",
        {"betreff": "Где мой заказ", "text": "Верните деньги"},
    ]:
        assert is_foreign(state) and detect(state)["mixed_segment"] is None


@pytest.mark.parametrize(
    "other",
    [
        "Jürgen Großmann",
        "12 rue de la République, 69002 Lyon",
        "Włodzimierz Szczęsny <w.szczesny@firma.pl>",
        "Hôtel de la Paix",
        "Officine Meccaniche Rossi S.p.A.",
        "JUAN PÉREZ",
        "Küchenmaschine KM-400",
        "2x spaghetti alla carbonara, 1x tiramisù",
        "https://www.beispiel.de/hilfe/rechnung-und-zahlung",
        "2024-05-01 12:03:11 ERROR Datei nicht gefunden in der Ablage",
        "at com.firma.kunde.Verwaltung.laden(Verwaltung.java:88)",
        "> Können Sie das bitte noch einmal prüfen?",
        "const zustand = laden(kunde, auftrag);",
        "王小明",
        "Дмитрий Иванов",
        "Αλέξανδρος Παπαδόπουλος",
    ],
)
def test_names_addresses_code_logs_and_quotes_beside_english_do_not_count(other: str) -> None:
    for state in ({"value": other, "note": ENGLISH_NOTE}, {"value": other, "status": "it does not work"}):
        detection = detect(state)
        assert detection["is_english"] and detection["mixed_segment"] is None


def test_what_is_skipped_beside_prose_is_read_where_there_is_nothing_else() -> None:
    assert is_foreign({"a": "> Können Sie das bitte noch einmal prüfen?", "b": "> Ich warte seit gestern."})
    assert detect(["[WARN] retrying connection (attempt 3 of 5)", "[INFO] connection restored"])["is_english"]


def test_the_quoted_part_is_at_most_80_characters() -> None:
    foreign = "ich warte nun schon seit drei wochen auf mein paket " * 4
    assert detect([ENGLISH_NOTE, foreign])["mixed_segment"] == foreign[:80]


def test_keys_are_not_read() -> None:
    keys = {"Der Drucker druckt nur noch leere Seiten": "It prints empty pages.", "ключ": "Please send someone today."}
    assert detect(keys) == detect(list(keys.values()))
    assert detect(keys)["is_english"]


def test_a_foreign_line_anywhere_in_a_long_english_state_is_found_when_the_sample_holds_it() -> None:
    lines = [f"The delivery number {number} arrived on time and nothing was missing." for number in range(250)]
    for position in (0, 125, 249):
        state = [*lines[:position], "le livreur a laissé le colis sous la pluie", *lines[position:]]
        assert detect(state)["mixed_segment"] == "le livreur a laissé le colis sous la pluie"


def test_the_language_of_a_long_text_is_that_of_the_whole_and_not_of_its_beginning() -> None:
    english = "The parcel arrived late and the box was wet. " * 40
    german = "Das Paket kam zu spät und der Karton war nass. " * 4000
    assert is_foreign(english + german)
    assert is_foreign("a " * 200_000 + "я" * 200_000)


@pytest.mark.parametrize(
    ("state", "grounds"),
    [
        ("Where is my parcel?", "English text, 4 of 4 words are English"),
        ("Wo bleibt denn mein Paket?", "Latin text, not English but de, 1 of 4 words are English"),
        ("Где моя посылка?", "Cyrillic text, not English but ru"),
        (
            [ENGLISH_NOTE, "wo bleibt denn mein Paket?"],
            "English text with a part that is not but de, 1 of 4 words are English",
        ),
        ("12 + 30", "no text"),
        ("https://example.org", "Latin text without evidence of its language"),
    ],
)
def test_the_grounds_say_what_was_found(state: object, grounds: str) -> None:
    assert read(state).grounds == grounds


HUGE = {
    "words": "hello there my friend, all is well " * 30_000,
    "one word": "a" * 1_000_000,
    "no space": "a.b'c/" * 200_000,
    "emoji": "😀" * 500_000,
    "controls": "\x00\x01\x1b" * 300_000,
    "marks": "a" + "\u0301" * 500_000,
    "markup": "<" * 1_000_000,
    "surrogates": "\ud800" * 200_000,
    "lines": "\n".join(f"line {number} of a long listing with some words" for number in range(50_000)),
    "values": [f"value {number} is here" for number in range(50_000)],
    "cyrillic": "привет мир " * 100_000,
}


@pytest.mark.parametrize("kind", HUGE)
def test_of_an_absurdly_large_state_no_more_is_read_than_of_a_large_one(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    identified: list[str] = []

    def note(text: str) -> float:
        identified.append(text)
        return english_log_odds(text)

    monkeypatch.setattr(evidence, "english_log_odds", note)
    assert set(detect(HUGE[kind])) == set(get_type_hints(Detection))
    assert len(identified) <= 41 and max(map(len, identified), default=0) < 300


@given(JSON)
@settings(max_examples=60)
def test_every_json_state_gets_every_key_with_shares_between_zero_and_one(state: Any) -> None:
    detection = detect(state)
    assert set(detection) == set(get_type_hints(Detection))
    assert all(0 <= share <= 1 for share in detection["script_profile"].values())
    assert 0 <= detection["diacritic_rate"] <= 1 and 0 <= detection["non_latin_fraction"] <= 1
    assert not (detection["is_english"] and detection["language_undecided"])
    json.dumps(detection)


@given(st.text(st.characters(), max_size=60))
@settings(max_examples=60)
def test_any_text_is_read_lone_surrogates_and_control_characters_included(text: str) -> None:
    assert detect(text) == detect([text])


def test_eight_threads_get_the_answers_of_one() -> None:
    texts = [
        f"{text} {number}" for number in range(12) for text in ("Where is my parcel", "Wo ist mein Paket", "где заказ")
    ]
    expected = [detect(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: [detect(text) for text in texts], range(8)):
            assert found == expected

"""Screening by name: what must match, what must not, and what no text may do to it.

The cast of the small lists is made up or known to everybody; the same small index serves all tests that only read.
"""

from random import Random
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stammdaten.screening.entries import ORGANISATION, PERSON, VESSEL, WEAK, Entry, Name, written
from stammdaten.screening.matching import (
    CERTAIN,
    DEFAULT_THRESHOLD,
    ENGINE,
    Contacts,
    Index,
    comparable,
    similarity,
)
from stammdaten.screening.matching.folding import fold
from stammdaten.screening.parties import Party

FIRST = [
    "Olena",
    "Viktor",
    "Karim",
    "Fatima",
    "Jorge",
    "Greta",
    "Anatol",
    "Ming",
    "Yusuf",
    "Halima",
    "Sergei",
    "Nadia",
    "Pavel",
    "Amina",
    "Tomas",
    "Ingrid",
]
LAST = [
    "Dubrovin",
    "Halloran",
    "Qaziri",
    "Mbeleko",
    "Santillan",
    "Oberwald",
    "Tarkhanov",
    "Zhelev",
    "Okonjo",
    "Farrukhi",
    "Lindqvist",
    "Marchetti",
]


def entry(entry_id: str, *names: str, **said: Any) -> tuple[str, str]:
    """Make a listed entry of the list `test`."""
    return "test", written(Entry(entry_id=entry_id, names=tuple(map(Name, names)), **said))


def listed(name: str, **said: Any) -> Index:
    """Make a list of three, the first with this name."""
    return Index.of([entry("1", name, **said), entry("2", "Somebody Else Entirely"), entry("3", "Third Company Ltd")])


def score(index: Index, party: Party) -> float:
    """Return how alike the first entry is."""
    return max((match.score for match in index.matches(party, least=0.0) if match.entry_id == "1"), default=0.0)


class TestSimilarity:
    """Names alone."""

    @pytest.mark.parametrize(
        ("name", "other"),
        [
            ("Владимир Путин", "Vladimir Putin"),
            ("Wladimir Putin", "Vladimir Vladimirovich Putin"),
            ("Сергій Шойгу", "Sergei SHOIGU"),
            ("Sergej Schojgu", "Sergei Shoigu"),
            ("Michail Chodorkowski", "Mikhail Khodorkovsky"),
            ("Aljaksandr Lukaschenka", "Alexander Lukashenko"),
            ("محمد بن سلمان", "Mohammed bin Salman"),
            ("بشار الأسد", "Bashar al-Assad"),
            ("حسن نصر الله", "Hassan Nasrallah"),
            ("محمود احمدی\u200cنژاد", "Mahmoud Ahmadinejad"),  # noqa: RUF001 - Arabic
            ("习近平", "Xi Jinping"),
            ("김정은", "Kim Jong Un"),
            ("Hans Müller", "Hans Mueller"),
            ("Hans Müller", "Hans Muller"),
            ("Muammar Qadhafi", "Moammar Gaddafi"),
            ("Abdul Rahman Yasin", "Abdurrahman Yasin"),
            ("Mohd. Hassan Akhund", "Muhammad Hasan Akhund"),
            ("Usama bin Ladin", "Osama bin Laden"),
            ("Nicolás Maduro", "Nicolás Maduro Moros"),
            ("Sergey Lavrov", "Sergey Viktorovich Lavrov"),
            ("Lavrov, Sergey", "Sergey Viktorovich Lavrov"),
            ("Sergey V. Lavrov", "Sergey Viktorovich Lavrov"),
            ("Dr. Rami Makhlouf", "Rami Makhlouf"),
            ("Igor Sech1n", "Igor Sechin"),
            ("lgor Sechin", "Igor Sechin"),
            ("Bill Johnson", "William Johnson"),
            ("Olaf Scholze", "Olaf Scholz"),
            ("Jean-Marie Le Pen", "Jean Marie Lepen"),
            ("SergeiLavrov", "Sergei Lavrov"),
            ("Nikolai Patr ushev", "Nikolai Platonovich Patrushev"),
            ("Sergei Shoigu", "Сергей Кужугетович Шойгу"),
            ("Schamil Bassajew", "Shamil Basayev"),
            ("Jurij Bojko", "Yuriy Boyko"),
            ("Hafiz Saeed", "Hafiz Muhammad Saeed"),
        ],
    )
    def test_finds_one_person_in_two_spellings(self, name: str, other: str) -> None:
        assert similarity(name, other)[0] >= DEFAULT_THRESHOLD

    @pytest.mark.parametrize(
        ("name", "other"),
        [
            ("Siemens Aktiengesellschaft", "Siemens AG"),
            ("SiemensAG", "Siemens AG"),
            ("ПАО Газпром", "Gazprom PJSC"),
            ("OOO Gazprom", "Gazprom Ltd."),
            ("Wagner", "Wagner Group"),
            ("Gruppe Wagner", "Wagner Group"),
            ("Mahan Airlines", "Mahan Air"),
            ("Sberbank", "Sberbank of Russia"),
            ("Petrochem Intl Co.", "Petrochem International Company"),
            ("Karim Bros Trading", "Karim Brothers Trading Company"),
            ("Miller and Sons", "Miller & Sons Ltd"),
            ("Uralvagonzavod", "Ural Vagon Zavod"),
            ("Rosneft 0il Company", "Rosneft Oil Company"),
            ("A.B.C. Company", "ABC Company"),
            ("G.m.b.H. Oberwald", "Oberwald GmbH"),
            ("Islamic Republic Iran Shipping Lines", "Islamic Republic of Iran Shipping Lines"),
            ("Hisbollah", "Hezbollah"),
            ("Al Qaida", "Al-Qaeda"),
        ],
    )
    def test_finds_one_organisation_in_two_spellings(self, name: str, other: str) -> None:
        assert similarity(name, other, kind=ORGANISATION)[0] >= DEFAULT_THRESHOLD

    @pytest.mark.parametrize(
        ("name", "other"),
        [
            ("EMMA LLC", "emma daniels"),
            ("George Bush", "George Habbash"),
            ("Octavian Scholz", "Olaf Scholz"),
            ("CORP", "Sunrise Corp"),
            ("Trading Company", "Blue Star Trading Company"),
            ("International", "International Bank"),
            ("Putin", "Vladimir Vladimirovich Putin"),
            ("Hussein", "Saddam Hussein al-Tikriti"),
            ("Mohammed Ali", "Mohammed Hassan"),
            ("Peter Müller", "Hans Müller"),
            ("Anna Schmidt", "Anna Schulz"),
            ("Kim Min Soo", "Kim Jong Un"),
            ("Wang Wei", "Wang Li"),
            ("Deutsche Bank", "Deutsche Bahn"),
            ("Bank of China", "Bank of Cyprus"),
            ("Iran Fish Trading", "Iran Steel Trading"),
            ("Maria Garcia", "Maria Gonzalez"),
            ("Hassan Dahir Farah", "Hassan Dahir Aweys"),
        ],
    )
    def test_keeps_different_parties_apart(self, name: str, other: str) -> None:
        assert similarity(name, other)[0] < DEFAULT_THRESHOLD

    def test_ranks_instead_of_piling_up(self) -> None:
        long = similarity("Viktor Anatol Dubrovin", "Viktor Anatol Dubrovin")[0]
        two = similarity("Viktor Dubrovin", "Viktor Dubrovin")[0]
        short = similarity("Ming Li", "Ming Li")[0]
        typing_error = similarity("Viktor Dubrovim", "Viktor Dubrovin")[0]

        assert 1.0 > long > two > short > DEFAULT_THRESHOLD
        assert two > typing_error >= DEFAULT_THRESHOLD

    def test_costs_little_to_be_of_another_legal_form_and_nothing_to_have_none(self) -> None:
        same = similarity("Oberwald Pumpen GmbH", "Oberwald Pumpen Ltd")[0]
        none = similarity("Oberwald Pumpen", "Oberwald Pumpen GmbH")[0]
        other = similarity("Oberwald Pumpen AG", "Oberwald Pumpen GmbH")[0]

        assert none > CERTAIN
        assert DEFAULT_THRESHOLD <= other < none
        assert other < same

    def test_tells_what_made_the_score(self) -> None:
        found, features = similarity("Viktor Dubrovim", "Viktor Anatol Dubrovin")

        assert features["spelling"] < 0
        assert features["missing words"] < 0
        assert found == pytest.approx(sum(features.values()), abs=0.001)

    @given(st.text(max_size=60), st.text(max_size=60))
    def test_gives_any_two_texts_a_score_and_the_same_both_ways(self, name: str, other: str) -> None:
        found, _ = similarity(name, other)

        assert 0.0 <= found <= 1.0
        assert abs(found - similarity(other, name)[0]) <= 0.05
        assert similarity(name, other) == similarity(name, other)

    @given(st.lists(st.sampled_from(FIRST + LAST), min_size=2, max_size=5, unique=True), st.randoms())
    def test_does_not_care_for_order_case_or_accents(self, words: list[str], chance: Random) -> None:
        other = list(words)
        chance.shuffle(other)

        found, _ = similarity(" ".join(words), " ".join(other).upper().replace("A", "Á").replace("O", "ö"))

        assert found >= CERTAIN - 0.05
        assert similarity(" ".join(words).upper(), " ".join(words)) == similarity(" ".join(words), " ".join(words))


class TestComparable:
    """What holds nothing to compare."""

    @pytest.mark.parametrize(
        "name",
        [
            "",
            "???",
            "-",
            "x",
            "Dr.",
            "Herr Prof. Dr.",
            "GmbH",
            "GmbH & Co. KG",
            "Corp",
            "12345",
            "n/a",
            "unknown",
            "\x00",
        ],
    )
    def test_refuses_a_name_that_holds_nothing(self, name: str) -> None:
        assert not comparable(Party(last_name=name))

    @pytest.mark.parametrize("name", ["Li", "习", "ABC", "A.B.C.", "Don King", "Sarl Dupont", "A1", "Trading", "محمد"])
    def test_takes_a_name_that_can_be_looked_for(self, name: str) -> None:
        assert comparable(Party(last_name=name))


class TestMatches:
    """A party against the lists."""

    @settings(max_examples=60, deadline=None)
    @given(
        st.text(min_size=1, max_size=80),
        st.sampled_from(["", "male", "female"]),
        st.sampled_from(["", "Germany", "Iran", "XX"]),
        st.sampled_from(["", PERSON, ORGANISATION, VESSEL]),
    )
    def test_finds_the_same_comparable_name_whatever_else_is_said(
        self, name: str, gender: str, country: str, kind: str
    ) -> None:
        party = Party(last_name=name, gender=gender, country=country, city="Hamburg")
        index = listed(name, kind=kind, gender="female", nationalities=("KP",))

        found = score(index, party)

        assert found >= DEFAULT_THRESHOLD or not comparable(party)

    def test_finds_equal_names_of_several_entries_and_lists(self) -> None:
        document = written(Entry(entry_id="7", names=(Name("Viktor Dubrovin"),)))
        others = [entry(str(number), "DUBROVIN Viktor") for number in range(400)]
        index = Index.of([("un", document), ("eu", document), *others])

        found = index.matches(Party(first_name="Viktor", last_name="Dubrovin"), least=DEFAULT_THRESHOLD)

        assert len(found) == 402
        assert {("un", "7"), ("eu", "7"), ("test", "399")} <= {(match.source, match.entry_id) for match in found}

    def test_gives_one_match_an_entry_by_its_best_name(self) -> None:
        index = Index.of([entry("1", "Karim Farrukhi", "Karim Faruki", "Karim Farrukhi al-Qaziri", kind=PERSON)])

        (match,) = index.matches(Party(last_name="Karim Faruki"), least=DEFAULT_THRESHOLD)

        assert (match.name, match.matched_name) == ("Karim Farrukhi", "Karim Faruki")
        assert match.score == pytest.approx(sum(match.features.values()), abs=0.001)
        assert (index.names, index.entries) == (3, 1)

    @pytest.mark.parametrize("name", ["W. Dubrovin", "V. Dubrovin", "V Dubrovin 😀"])
    def test_takes_initials_as_transliterations_share_them_and_no_symbols(self, name: str) -> None:
        assert listed("Viktor Dubrovin").matches(Party(last_name=name), least=DEFAULT_THRESHOLD)

    def test_takes_a_list_of_namesakes(self) -> None:
        document = written(Entry(entry_id="1", names=(Name("Viktor Dubrovin"),)))
        index = Index.of([("test", document)] * 20_000)

        assert (index.names, index.entries) == (20_000, 20_000)

    def test_counts_a_weak_alias_less(self) -> None:
        strong = listed("Viktor Dubrovin")
        weak = Index.of([("test", written(Entry(entry_id="1", names=(Name("Viktor Dubrovin", WEAK),))))])
        party = Party(last_name="Viktor Dubrovin")

        assert DEFAULT_THRESHOLD <= score(weak, party) < score(strong, party)

    def test_raises_for_the_same_country_and_lowers_for_another_country_gender_or_kind(self) -> None:
        index = listed("Viktor Dubrovin", kind=PERSON, gender="male", nationalities=("RU",))
        plain = score(index, Party(first_name="Viktor", last_name="Dubrovin"))

        assert score(index, Party(first_name="Viktor", last_name="Dubrovin", country="Russia")) > plain
        assert (
            DEFAULT_THRESHOLD <= score(index, Party(first_name="Viktor", last_name="Dubrovin", country="Cuba")) < plain
        )
        assert score(index, Party(first_name="Viktor", last_name="Dubrovin", gender="female")) < plain
        assert score(index, Party(last_name="Viktor Dubrovin GmbH")) < plain

    def test_never_lifts_a_poor_name(self) -> None:
        index = listed("Viktor Anatol Dubrovin", kind=PERSON, nationalities=("RU",), addresses=("Moscow",))

        agreeing = score(index, Party(first_name="Viktor", last_name="Tarkhanov", country="RU", city="Moscow"))

        assert agreeing <= score(index, Party(first_name="Viktor", last_name="Tarkhanov"))

    @pytest.mark.parametrize(
        "name",
        [
            "AND OR NOT (",
            'name:"Dubrovin" OR *:*',
            "letters:[* TO *]",
            "/.*/ +victoria -d* ~2 ^9",
            "'; DROP TABLE contacts; --",
            "\ud800\x00\uffff\u202e Viktor",
            "a" * 510,
            "ab " * 170,
            "Viktor " * 70,
            "ﷺ" * 255,
            "王" * 255,
            "محمد " * 100,
            " ".join(f"w{number}x" for number in range(120)),
            " ".join("abcdefghij"[number % 10] for number in range(250)),
        ],
    )
    def test_takes_any_text_as_a_name_in_no_time(self, name: str) -> None:
        long = " ".join(f"w{number}y" for number in range(50_000))
        index = Index.of(
            [
                entry("1", "Viktor Dubrovin"),
                entry("2", name.replace("\ud800", "")),
                entry("3", long),
                entry("4", "Viktor " * 50_000),
            ]
        )
        index.matches(Party(last_name="Warm Up"), least=0.1)

        began = process_time()
        found = index.matches(Party(first_name=name[:255], last_name=name[255:]), least=DEFAULT_THRESHOLD)

        # A thousandth of it is usual, and without bounds it is minutes.
        assert process_time() - began < 2
        assert all(match.entry_id != "1" for match in found)

    @pytest.mark.parametrize(
        ("name", "crowd", "wanted"),
        [
            ("Публичное акционерное общество «Газпром»", "Публичное акционерное общество {}", "Gazprom PJSC"),
            ("Mahan Airlines", "{} Airlines", "Mahan Air"),
            ("Karim Qaziri", "Karim {}", "Kareem Kaziri"),
            ("حسن نصر الله", "حسن {}", "Hassan Nasrallah"),
        ],
    )
    def test_is_not_led_astray_by_a_crowd(self, name: str, crowd: str, wanted: str) -> None:
        others = [entry(str(number), crowd.format(other)) for number, other in enumerate(_names(500, seed=5))]
        index = Index.of([*others, entry("wanted", wanted)])

        found = index.matches(Party(last_name=name), least=DEFAULT_THRESHOLD)

        assert "wanted" in {match.entry_id for match in found}

    def test_is_the_same_every_time(self) -> None:
        entries = [entry(str(number), name) for number, name in enumerate(_names(300, seed=3))]
        party = Party(first_name="Olena", last_name="Dubrovin")

        one, other = (Index.of(entries).matches(party, least=0.3) for _ in range(2))

        assert one
        assert one == other
        assert [match.score for match in one] == sorted((match.score for match in one), reverse=True)

    def test_finds_nobody_on_empty_lists(self) -> None:
        assert Index.of([]).matches(Party(last_name="Viktor Dubrovin"), least=0.0) == []


class TestContacts:
    """A changed entry against the contacts."""

    def test_agrees_with_matches(self) -> None:
        entries = [entry(str(number), name, kind=PERSON) for number, name in enumerate(_names(150, seed=1))]
        parties = [Party(*name.split(" ", 1)) for name in _names(400, seed=2)]
        index = Index.of(entries)

        contacts = Contacts.of(list(enumerate(parties)), index)

        alike = {
            (contact, said) for source, said in entries for contact in contacts.alike(said, least=DEFAULT_THRESHOLD)
        }
        found = {
            (contact, match.document)
            for contact, party in enumerate(parties)
            for match in index.matches(party, least=DEFAULT_THRESHOLD)
        }
        assert found
        assert found <= alike

    def test_finds_all_bearers_of_a_common_name(self) -> None:
        parties = [
            Party(first_name="Mohammed", last_name=f"Ali Hassan {'' if n % 2 else 'al-'}Qaziri") for n in range(3_000)
        ]
        index = listed("Mohamed Aly Hassan Qaziri")
        _, document = entry("1", "Mohamed Aly Hassan Qaziri")

        found = Contacts.of(list(enumerate(parties)), index).alike(document, least=DEFAULT_THRESHOLD)

        assert found == list(range(3_000))

    def test_takes_contacts_without_lists_and_without_names(self) -> None:
        contacts = Contacts.of([(1, Party(last_name="???")), (2, Party(last_name="Viktor Dubrovin"))], None)

        assert contacts.alike(entry("1", "???", "Viktor Dubrovin")[1], least=DEFAULT_THRESHOLD) == [2]


class TestFold:
    """Any text as plain words."""

    @given(st.text())
    def test_leaves_plain_words(self, text: str) -> None:
        folded = fold(text)

        assert folded.isascii()
        assert all(word.isalnum() for word in folded.split(" ")) or not folded
        assert fold(folded.lower()) == folded.lower()

    def test_names_the_engine(self) -> None:
        assert ENGINE.split()[0] == "stammdaten-names"


def _names(count: int, *, seed: int) -> list[str]:
    """Return made-up names, some with an error, some with a second name."""
    chance = Random(seed)
    names = []
    for _ in range(count):
        name = f"{chance.choice(FIRST)} {chance.choice(LAST)}"
        if chance.random() < 0.3:
            place = chance.randrange(1, len(name))
            name = name[:place] + chance.choice("aeiourst") + name[place:]
        if chance.random() < 0.2:
            name += f" {chance.choice(LAST)}"
        names.append(name)
    return names

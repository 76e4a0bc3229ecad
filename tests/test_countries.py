"""Countries as lists, contacts and people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stammdaten.screening.countries import country_code


class TestCountryCode:
    """What a country is called, by whom."""

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("DE", "DE"),
            ("de", "DE"),
            (" De ", "DE"),
            ("DEU", "DE"),
            ("Germany", "DE"),
            ("Deutschland", "DE"),
            ("Allemagne", "DE"),
            ("Alemania", "DE"),
            ("Germania", "DE"),
            ("Duitsland", "DE"),
            ("Niemcy", "DE"),
            ("Alemanha", "DE"),
            ("Almanya", "DE"),
            ("Österreich", "AT"),
            ("OESTERREICH", "AT"),
            ("Türkiye", "TR"),
            ("TURKIYE", "TR"),
            ("Turkey", "TR"),
            ("Cote d'Ivoire", "CI"),
            ("Côte d\u2019Ivoire", "CI"),
            ("Kosovo", "XK"),
            ("U.S.A.", "US"),
            ("UK", "GB"),
            ("UAE", "AE"),
            ("The Netherlands", "NL"),
        ],
    )
    def test_reads_codes_and_names_in_nine_languages(self, text: str, code: str) -> None:
        assert country_code(text) == code

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("Korea, North", "KP"),
            ("Democratic People's Republic of Korea", "KP"),
            ("Korea, South", "KR"),
            ("Republic of Korea", "KR"),
            ("Iran (Islamic Republic of)", "IR"),
            ("Venezuela (Bolivarian Republic of)", "VE"),
            ("Democratic Republic of the Congo", "CD"),
            ("Congo, Democratic Republic of the", "CD"),
            ("Congo (Democratic Republic)", "CD"),
            ("Congo, Republic of the", "CG"),
            ("Burma", "MM"),
            ("Myanmar (Burma) / Myanmar (Birmanie)", "MM"),
            ("Belarus / Bélarus", "BY"),
            ("Syria / Syrie", "SY"),
            ("Syrian Arab Republic", "SY"),
            ("West Bank", "PS"),
            ("Palestinian", "PS"),
            ("State of Palestine", "PS"),
            ("Russian Federation", "RU"),
            ("United Kingdom of Great Britain and Northern Ireland", "GB"),
            ("China, Hong Kong Special Administrative Region", "HK"),
            ("Man, Isle of", "IM"),
            ("Viet Nam", "VN"),
            ("Afghan", "AF"),
            ("Syrian", "SY"),
        ],
    )
    def test_reads_the_spellings_of_lists(self, text: str, code: str) -> None:
        assert country_code(text) == code

    @pytest.mark.parametrize(
        "text",
        [
            "",
            " ",
            "?",
            "Region: Gaza",
            "Region: Crimea",
            "former Soviet Union",
            "undetermined",
            "SU",
            "YU",
            "EU",
            "ZZ",
            "Korea",
            "Korean",
            "Dominican",
            "Belarus / Russia",
            "00",
            "150",
            "x" * 1_000_000,
        ],
    )
    def test_guesses_nothing(self, text: str) -> None:
        assert not country_code(text)

    @given(st.text())
    def test_takes_any_text(self, text: str) -> None:
        assert len(country_code(text)) in {0, 2}

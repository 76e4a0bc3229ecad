"""Who is screened: of a contact that which identifies the party; knows neither contacts nor lists."""

from typing import NamedTuple


class Party(NamedTuple):
    """The identifying data of a contact. A company's name stands in `last_name`; `country` is as it was typed."""

    first_name: str = ""
    last_name: str = ""
    gender: str = ""  # male, female
    street: str = ""
    postal_code: str = ""
    city: str = ""
    country: str = ""

    @property
    def name(self) -> str:
        """First and last name."""
        return f"{self.first_name} {self.last_name}".strip()

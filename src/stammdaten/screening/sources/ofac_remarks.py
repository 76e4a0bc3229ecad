"""What OFAC writes into the free text of the remarks, where its form is clear; knows neither CSV nor XML.

The form is that of the data specification of the SDN list: parts with `; ` between them and a full stop at the end.
"""

import re

from stammdaten.screening.entries import PERSON, WEAK
from stammdaten.screening.sources.drafts import Draft

# A semicolon within an alias's quotation marks divides nothing; few remarks have one, so the end is what counts.
_DIVIDER = re.compile(r";\s+")
_ALIAS = re.compile(r"(?:alt\. )?[afn]\.k\.a\.,? ['\"\u2018\u201c](.+?)['\"\u2019\u201d]?\.?$")
_BORN = re.compile(r"(?:alt\. )?DOB (.+)")
_NATIONALITY = re.compile(r"(?:alt\. )?(?:nationality|citizen) (.+)", re.IGNORECASE)
_REGISTERED_IN = re.compile(r"(?:alt\. )?Nationality of Registration (.+)")
_FLAG = re.compile(r"(?:alt\. )?(?:Former )?Vessel Flag (.+)")
_GENDER = re.compile(r"Gender (.+)")
# `Registration Number 123`, `Cedula No. 123`, `NIT # 123`, `BIK (RU) 123`: what tells them is a word for a number and
# a number; the others are told by their names.
_NUMBER = re.compile(
    r"(?:alt\. )?(?:"
    r"[A-Z][\w'/. -]{0,60}?\b(?:Number|No\b\.?|ID|Code|Card|Identification|Registry|Certificate)(?: \([A-Z]+\))?|"
    r"[\w. ]{1,40} #|BIK \(RU\)|C\.I\.F\.|C\.R\. No\.|C\.U\.I\.|C\.U\.I\.T\.|C\.U\.R\.P\.|Cedula|Credencial electoral|"
    r"Cartilla de Servicio Militar Nacional|D\.N\.I\.|Diplomatic Passport|Folio Mercantil|I\.F\.E\.|ISIN|License|MMSI|"
    r"Numero de Identidad|Passport|R\.F\.C\.|RTN|SSN|SWIFT/BIC|Tax ID|US FEIN|"
    r"Aircraft Manufacturer's Serial Number \(MSN\)|Aircraft Mode S Transponder Code|"
    r"Aircraft Construction Number \(also called L/N or S/N or F/N\)"
    r")(?: #| No\.)? (?P<number>(?=[^(]*\d|[A-Z]{6}).+)"
)
_NO_NUMBER = re.compile(r"(?:alt\. )?(?:Tele|Phone|Fax|Mobile|Email)", re.IGNORECASE)
# What follows a number: the country that issued it, and from when to when it was good.
_AFTER_NUMBER = re.compile(r"\s*(?:\([^()]*\)|issued .*|expire[sd] .*)\s*")


def spoken_name(text: str, kind: str) -> str:
    """Turn `LAST, First` of a person into `First LAST`; `LAST, First, Jr.` into `First LAST Jr.`."""
    last, comma, rest = text.partition(", ")
    if kind != PERSON or not comma:
        return text
    first, _, suffix = rest.partition(", ")
    return " ".join(filter(None, (first, last, suffix)))


def read_remarks(draft: Draft, remarks: str) -> None:
    """Add to the draft what remarks say in a clear form; weak aliases stand in the CSV form's remarks alone."""
    for part in _DIVIDER.split(remarks.removesuffix(".")):
        if alias := _ALIAS.match(part):
            draft.add_names(spoken_name(alias[1], draft.kind), quality=WEAK)
        elif born := _BORN.match(part):
            draft.add_birth_dates(born[1])
        elif gender := _GENDER.match(part):
            draft.set_gender(gender[1])
        elif registered := _REGISTERED_IN.match(part) or _FLAG.match(part):
            draft.add_countries(registered[1])
        elif nationality := _NATIONALITY.match(part):
            draft.add_nationalities(nationality[1])
        elif not _NO_NUMBER.match(part) and (number := _NUMBER.match(part)):
            draft.add_identifiers(_AFTER_NUMBER.split(number["number"], maxsplit=1)[0])

"""The sanctions lists this service reads, and how a file of one is recognised; knows no store and no network."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from stammdaten.screening.sources import block_list, ca, ch, eu, ofac, opensanctions, uk, un
from stammdaten.screening.sources.reading import Reading, Unreadable

__all__ = ["SOURCES", "Reading", "Source", "Unreadable", "read_source"]


@dataclass(frozen=True)
class Source:
    """A list: its name in commands, its title, where its publisher offers it, and what reads it.

    `urls` are downloaded together and laid beside one another; empty where there is nothing to download.
    """

    name: str
    title: str
    urls: tuple[str, ...]
    read: Callable[[Path], Reading]


def read_source(name: str, path: Path) -> Reading:
    """Begin to read a file, or OFAC's folder of files, as the list of that name.

    :raises Unreadable: if it is not a file of that list; likewise while the reading is iterated
    :raises KeyError: if there is no source of that name
    """
    source = SOURCES[name]
    try:
        return source.read(path)
    except OSError as error:
        raise Unreadable(f"{path.name} cannot be read: {error.strerror}.") from error


_SESAM = "https://www.sesam.search.admin.ch/sesam-search-web/pages"
_CANADA = "https://www.international.gc.ca/world-monde/assets/office_docs"
# XML where there is a choice: it shows when it was cut short.
_ALL = (
    Source(
        "ofac-sdn",
        "OFAC Specially Designated Nationals",
        ("https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/SDN.XML",),
        partial(ofac.read_ofac, ofac.SDN_FILES),
    ),
    Source(
        "ofac-consolidated",
        "OFAC Consolidated Non-SDN",
        ("https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/CONSOLIDATED.XML",),
        partial(ofac.read_ofac, ofac.CONSOLIDATED_FILES),
    ),
    Source(
        "un",
        "United Nations Security Council Consolidated List",
        ("https://scsanctions.un.org/resources/xml/en/consolidated.xml",),
        un.read_un,
    ),
    Source(
        "eu",
        "European Union Consolidated Financial Sanctions List",
        ("https://webgate.ec.europa.eu/fsd/fsf/public/files/xmlFullSanctionsList_1_1/content?token=dG9rZW4tMjAxNw",),
        eu.read_eu,
    ),
    Source(
        "uk",
        "UK Sanctions List",
        ("https://sanctionslist.fcdo.gov.uk/docs/UK-Sanctions-List.xml",),
        uk.read_uk,
    ),
    Source(
        "ch",
        "Swiss Sanctions List (SECO)",
        (f"{_SESAM}/downloadXmlGesamtliste.xhtml?lang=en&action=downloadXmlGesamtlisteAction",),
        ch.read_ch,
    ),
    Source(
        "ca",
        "Canada Special Economic Measures List",
        (f"{_CANADA}/international_relations-relations_internationales/sanctions/sema-lmes.xml",),
        ca.read_ca,
    ),
    Source(
        "opensanctions",
        "OpenSanctions",
        ("https://data.opensanctions.org/datasets/latest/sanctions/targets.simple.csv",),
        opensanctions.read_opensanctions,
    ),
    Source("block-list", "Block list", (), block_list.read_block_list),
)
SOURCES = {source.name: source for source in _ALL}

"""How a list of OFAC's is recognised: a folder of CSV files, one CSV file, or XML; knows no details of them."""

from pathlib import Path

from stammdaten.screening.sources.ofac_csv import Files, files_in, is_primary, read_csv
from stammdaten.screening.sources.ofac_xml import read_xml
from stammdaten.screening.sources.reading import Reading, Unreadable
from stammdaten.screening.sources.xml_records import looks_like_xml

SDN_FILES = ("sdn.csv", "alt.csv", "add.csv", "sdn_comments.csv")
CONSOLIDATED_FILES = ("cons_prim.csv", "cons_alt.csv", "cons_add.csv", "cons_comments.csv")


def read_ofac(names: tuple[str, str, str, str], path: Path) -> Reading:
    """Read a list of OFAC's from a folder with files of these names, from XML, or from a primary CSV file alone.

    :raises Unreadable: if it is none of these
    """
    if path.is_dir():
        return read_csv(files_in(path, names))
    if looks_like_xml(path):
        return read_xml(path)
    if not is_primary(path):
        raise Unreadable(f"{path.name} begins neither as XML nor as a CSV list of OFAC's with 12 columns.")
    return read_csv(Files(path))

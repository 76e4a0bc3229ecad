"""Readers of sanctions lists, on small made-up files after the published formats.

A file is written for each test; `read` reads it to the end and returns the entries and the reading. Tables hold what
must be refused. The parties, numbers and places are invented.
"""

# One table of refusals for all formats is what shows that none was forgotten; hence more than 300 lines.

import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from stammdaten.screening.entries import Entry, Name
from stammdaten.screening.sources import SOURCES, Reading, Unreadable, read_source

OFAC_NAMESPACE = "https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/XML"
OLD_OFAC_NAMESPACE = "http://tempuri.org/sdnList.xsd"
DETAILS = "https://sanctionssearch.ofac.treas.gov/Details.aspx?id="


def read(name: str, path: Path) -> tuple[list[Entry], Reading]:
    """Read a file to its end."""
    reading = read_source(name, path)
    return list(reading), reading


def file(folder: Path, text: str | bytes, name: str = "list") -> Path:
    """Write a file and return where it is."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def sdn_row(*values: str) -> str:
    """One row of sdn.csv: number, name, type, programme, flag, remarks; the rest is null."""
    number, name, kind, program, flag, remarks = (*values, *["-0- "] * (6 - len(values)))
    quoted = [value if value == "-0- " else f'"{value}"' for value in (name, kind, program)]
    last = remarks if remarks == "-0- " else f'"{remarks}"'
    return ",".join([number, *quoted, "-0- ", "-0- ", "-0- ", "-0- ", "-0- ", flag, "-0- ", last]) + "\r\n"


def ofac_folder(folder: Path, **files: str | bytes) -> Path:
    """Write the files of OFAC's, each by its name without ending; those that are not given hold one entry."""
    rows = {
        "sdn": sdn_row("7", "DOE, Jane Ann", "individual", "SDGT] [IRAN", "-0- ", "DOB 12 Mar 1971."),
        "alt": '7,1,"aka","ROE, Janet",-0- \r\n',
        "add": '7,1,"1 Main Street","Springfield 123","Cuba",-0- \r\n',
    }
    for name, text in {**rows, **files}.items():
        file(folder, text, f"{name}.csv")
    return folder


class TestSources:
    """What there is to be read."""

    def test_are_these(self) -> None:
        assert list(SOURCES) == [
            "ofac-sdn",
            "ofac-consolidated",
            "un",
            "eu",
            "uk",
            "ch",
            "ca",
            "opensanctions",
            "block-list",
        ]
        assert all(source.name == name and source.title for name, source in SOURCES.items())
        assert all(url.startswith("https://") for source in SOURCES.values() for url in source.urls)


class TestOfacCsv:
    """The CSV files of the United States' lists."""

    def test_puts_the_files_together(self, tmp_path: Path) -> None:
        remarks = (
            "DOB 12 Mar 1971; alt. DOB circa 1972; POB Springfield; nationality Iran; alt. nationality Korea, North; "
            "citizen Cuba; Gender Female; Passport A123 (Iran) issued 2 Mar 2001; a.k.a. 'LITTLE, Jane'; "
            "National ID No. 5-6 (Cuba); Minister of Nothing; Telephone No. 123456; Linked To: ACME."
        )
        folder = ofac_folder(
            tmp_path,
            sdn=sdn_row("7", "DOE, Jane Ann", "individual", "SDGT] [IRAN", "-0- ", remarks)
            + sdn_row("8", "ACME TRADING CO., LTD.", "-0- ", "CUBA")
            + sdn_row("9", "SEA DOG", "vessel", "CUBA", "Panama", "Vessel Registration Identification IMO 9999999.")
            + "\x1a",
            alt='7,1,"aka","ROE, Janet, Jr.",-0- \r\n8,2,"fka","ACME",-0- \r\n\x1a',
        )

        (jane, acme, dog), reading = read("ofac-sdn", folder)

        assert jane == Entry(
            entry_id="7",
            names=(Name("Jane Ann DOE"), Name("Jane LITTLE", "weak"), Name("Janet ROE Jr.")),
            kind="person",
            gender="female",
            birth_years=(1971, 1972),
            nationalities=("IR", "KP", "CU"),
            countries=("CU",),
            addresses=("1 Main Street, Springfield 123, Cuba",),
            identifiers=("A123", "5-6"),
            programs=("SDGT", "IRAN"),
            url=f"{DETAILS}7",
        )
        assert acme == Entry(
            entry_id="8",
            names=(Name("ACME TRADING CO., LTD."), Name("ACME")),
            kind="organisation",
            programs=("CUBA",),
            url=f"{DETAILS}8",
        )
        assert (dog.kind, dog.countries, dog.identifiers) == ("vessel", ("PA",), ("IMO 9999999",))
        assert not reading.version
        assert not reading.unknown

    def test_joins_remarks_that_were_cut_in_a_word(self, tmp_path: Path) -> None:
        begun = "Minister; " * 99 + "DOB 12 Mar"
        folder = ofac_folder(
            tmp_path,
            sdn=sdn_row("7", "DOE, Jane", "individual", "X", "-0- ", begun),
            sdn_comments='7," 1971; Gender F."\r\n',
        )

        (jane,), _ = read("ofac-sdn", folder)

        assert len(begun) == 1000
        assert (jane.birth_years, jane.gender) == ((1971,), "female")

    def test_says_that_remarks_were_cut(self, tmp_path: Path) -> None:
        begun = "a.k.a. 'J. D.'; " + "x" * 966 + "; nationality Niger"
        folder = ofac_folder(tmp_path, sdn=sdn_row("7", "DOE, Jane", "individual", "X", "-0- ", begun))

        (jane,), reading = read("ofac-sdn", folder)

        assert jane.nationalities == ()
        assert reading.unknown == {"remarks: cut off, the file of comments was not given": 1}

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
    def test_decides_the_encoding(self, tmp_path: Path, encoding: str) -> None:
        rows = sdn_row("7", "MÜLLER, Jörg", "individual", "X")
        path = file(tmp_path, rows.encode(encoding))

        (muller,), reading = read("ofac-sdn", path)

        assert muller.names == (Name("Jörg MÜLLER"),)
        assert reading.unknown == {"aliases and addresses: their files were not given": 1}

    def test_takes_a_header_others_have_added(self, tmp_path: Path) -> None:
        path = file(tmp_path, "ID,Name,Type,a,b,c,d,e,f,g,h,i\n" + sdn_row("7", "DOE", "-0- ", "X") + "\x1a,,,,,,,,,,,")

        entries, _ = read("ofac-sdn", path)

        assert [entry.entry_id for entry in entries] == ["7"]

    def test_takes_no_folder_for_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "sdn.csv").mkdir()

        with pytest.raises(Unreadable, match=r"lacks sdn.csv, alt.csv, add.csv"):
            read_source("ofac-sdn", tmp_path)

    def test_tells_the_two_lists_apart_by_their_files(self, tmp_path: Path) -> None:
        with pytest.raises(Unreadable, match=r"lacks cons_prim.csv, cons_alt.csv, cons_add.csv"):
            read_source("ofac-consolidated", ofac_folder(tmp_path))

    @pytest.mark.parametrize(
        ("name", "text", "said"),
        [
            ("sdn", sdn_row("7", "A") + sdn_row("7", "B"), "'7' stands in the file twice"),
            ("sdn", sdn_row("7", "A") + '8,"B",-0- \r\n', "sdn.csv, line 2 has 3 columns; 12 were expected"),
            ("sdn", sdn_row("7", "A") + sdn_row("x8", "B"), "line 2: 'x8' stands where a number was expected"),
            ("sdn", sdn_row("7", "A")[:-2], "the last one, has no end"),
            ("sdn", sdn_row("7", "A") + '8,"B', "Line 2, the last one, has no end"),
            ("sdn", sdn_row("7", "A") + '8,"B\r\n', "sdn.csv, line 2: unexpected end of data"),
            ("sdn", "", "alt.csv speaks of the entry 7"),
            ("sdn", sdn_row("7", "A\x00B"), "NUL"),
            ("sdn", sdn_row("7", "A" * 2_000_000), "Line 1 is longer than 1000000 characters"),
            ("sdn", b"\x81" * 100, "not text in UTF-8 or Windows-1252"),
            ("alt", '8,1,"aka","X",-0- \r\n', "alt.csv speaks of the entry 8, which sdn.csv lacks"),
            ("add", '8,1,"X","Y","Cuba",-0- \r\n', "add.csv speaks of the entry 8"),
            ("alt", '7,1,"aka","X"\r\n', "alt.csv, line 1 has 4 columns; 5 were expected"),
            ("sdn_comments", '8,"X"\r\n', "sdn_comments.csv speaks of the entry 8"),
        ],
    )
    def test_refuses_a_broken_folder(self, tmp_path: Path, name: str, text: str | bytes, said: str) -> None:
        folder = ofac_folder(tmp_path, **{name: text})

        with pytest.raises(Unreadable, match=said):
            read("ofac-sdn", folder)


OFAC_XML = """<?xml version="1.0" standalone="yes"?>
<sdnList xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns="{namespace}">
  <publshInformation><Publish_Date>03/28/2025</Publish_Date><Record_Count>2</Record_Count></publshInformation>
  <sdnEntry>
    <uid>7</uid><firstName>Jane  Ann</firstName><lastName>DOE</lastName><sdnType>Individual</sdnType>
    <programList><program>SDGT</program></programList>
    <idList>
      <id><uid>1</uid><idType>Passport</idType><idNumber>A123</idNumber><idCountry>Iran</idCountry></id>
      <id><uid>2</uid><idType>Gender</idType><idNumber>Female</idNumber></id>
      <id><uid>3</uid><idType>Secondary sanctions risk:</idType><idNumber>section 1(b)</idNumber></id>
    </idList>
    <akaList>
      <aka><uid>1</uid><category>strong</category><lastName>ROE</lastName><firstName>Janet</firstName></aka>
      <aka><uid>2</uid><type>a.k.a.</type><category>weak</category><lastName>LITTLE JANE</lastName></aka>
    </akaList>
    <addressList><address><uid>1</uid><city>Gaza</city><country>Region: Gaza</country></address></addressList>
    <nationalityList><nationality><uid>1</uid><country>Iran</country></nationality></nationalityList>
    <citizenshipList><citizenship><uid>1</uid><country>Cuba</country></citizenship></citizenshipList>
    <dateOfBirthList><dateOfBirthItem><dateOfBirth>1958 to 1960</dateOfBirth></dateOfBirthItem></dateOfBirthList>
    <novelty>x</novelty>
  </sdnEntry>
  <sdnEntry>
    <uid>8</uid><lastName>SEA DOG</lastName><sdnType>Vessel</sdnType>
    <vesselInfo><callSign>CL1</callSign><vesselFlag>Cuba</vesselFlag></vesselInfo>
  </sdnEntry>
</sdnList>
"""


class TestOfacXml:
    """The XML of the United States' lists."""

    @pytest.mark.parametrize("namespace", [OFAC_NAMESPACE, OLD_OFAC_NAMESPACE])
    def test_reads_both_namespaces(self, tmp_path: Path, namespace: str) -> None:
        (jane, dog), reading = read("ofac-sdn", file(tmp_path, OFAC_XML.format(namespace=namespace)))

        assert jane == Entry(
            entry_id="7",
            names=(Name("Jane Ann DOE"), Name("Janet ROE"), Name("LITTLE JANE", "weak")),
            kind="person",
            gender="female",
            birth_years=(1958, 1959, 1960),
            nationalities=("IR", "CU"),
            addresses=("Gaza, Region: Gaza",),
            identifiers=("A123",),
            programs=("SDGT",),
            url=f"{DETAILS}7",
        )
        assert dog == Entry(
            entry_id="8",
            names=(Name("SEA DOG"),),
            kind="vessel",
            countries=("CU",),
            identifiers=("CL1",),
            url=f"{DETAILS}8",
        )
        assert reading.version == "2025-03-28"
        assert reading.unknown == {"country: Region: Gaza": 1, "element: novelty": 1}

    @pytest.mark.parametrize(
        ("old", "new", "said"),
        [
            ("<Record_Count>2<", "<Record_Count>3<", "Record_Count speaks of 3 entries, the file holds 2"),
            ("<uid>8</uid>", "<uid>7</uid>", "'7' stands in the file twice"),
            ("<uid>8</uid>", "", "'SEA DOG' has no uid"),
            ("</sdnList>", "", "no element found; complete XML was expected"),
            (OFAC_NAMESPACE, "http://example.org/other", "sdnList was expected"),
        ],
    )
    def test_refuses_a_broken_file(self, tmp_path: Path, old: str, new: str, said: str) -> None:
        path = file(tmp_path, OFAC_XML.format(namespace=OFAC_NAMESPACE).replace(old, new))

        with pytest.raises(Unreadable, match=said):
            read("ofac-sdn", path)


UN_XML = """<?xml version="1.0" encoding="UTF-8"?>
<CONSOLIDATED_LIST dateGenerated="2026-02-27T00:00:09.554Z">
  <INDIVIDUALS>
    <INDIVIDUAL>
      <DATAID>1</DATAID><FIRST_NAME>JANE</FIRST_NAME><SECOND_NAME>ANN</SECOND_NAME><THIRD_NAME>DOE</THIRD_NAME>
      <UN_LIST_TYPE>DRC</UN_LIST_TYPE><REFERENCE_NUMBER>XXi.001</REFERENCE_NUMBER><LISTED_ON>2012-12-31</LISTED_ON>
      <GENDER>Female</GENDER><NAME_ORIGINAL_SCRIPT>Джейн Доу</NAME_ORIGINAL_SCRIPT>
      <NATIONALITY><VALUE>Democratic Republic of the Congo</VALUE><VALUE>na</VALUE></NATIONALITY>
      <INDIVIDUAL_ALIAS><QUALITY/><ALIAS_NAME/></INDIVIDUAL_ALIAS>
      <INDIVIDUAL_ALIAS><QUALITY>Good</QUALITY>
        <ALIAS_NAME>Janet Roe; Janette Roe b) J. Row</ALIAS_NAME></INDIVIDUAL_ALIAS>
      <INDIVIDUAL_ALIAS><QUALITY>Low</QUALITY><ALIAS_NAME>Jay (original script: Джей)</ALIAS_NAME></INDIVIDUAL_ALIAS>
      <INDIVIDUAL_ADDRESS><CITY>Goma</CITY><COUNTRY>Rwanda</COUNTRY><NOTE>x</NOTE></INDIVIDUAL_ADDRESS>
      <INDIVIDUAL_DATE_OF_BIRTH>
        <TYPE_OF_DATE>BETWEEN</TYPE_OF_DATE><FROM_YEAR>1958</FROM_YEAR><TO_YEAR>1960</TO_YEAR>
      </INDIVIDUAL_DATE_OF_BIRTH>
      <INDIVIDUAL_DATE_OF_BIRTH><TYPE_OF_DATE>EXACT</TYPE_OF_DATE><DATE>1971-03-12</DATE></INDIVIDUAL_DATE_OF_BIRTH>
      <INDIVIDUAL_DATE_OF_BIRTH><TYPE_OF_DATE>EXACT</TYPE_OF_DATE><NOTE>about thirty</NOTE></INDIVIDUAL_DATE_OF_BIRTH>
      <INDIVIDUAL_DOCUMENT><TYPE_OF_DOCUMENT>Passport</TYPE_OF_DOCUMENT><NUMBER>A123</NUMBER></INDIVIDUAL_DOCUMENT>
    </INDIVIDUAL>
  </INDIVIDUALS>
  <ENTITIES>
    <ENTITY>
      <DATAID>2</DATAID><FIRST_NAME>ACME</FIRST_NAME><REFERENCE_NUMBER>XXe.001</REFERENCE_NUMBER>
      <ENTITY_ALIAS><QUALITY>f.k.a.</QUALITY><ALIAS_NAME>Acme (Acmé; Akme)</ALIAS_NAME></ENTITY_ALIAS>
      <ENTITY_ADDRESS><STREET>1 Main St</STREET><COUNTRY>Iran (Islamic Republic of)</COUNTRY></ENTITY_ADDRESS>
    </ENTITY>
  </ENTITIES>
</CONSOLIDATED_LIST>
"""


class TestUn:
    """The list of the United Nations."""

    def test_reads_individuals_and_entities(self, tmp_path: Path) -> None:
        (jane, acme), reading = read("un", file(tmp_path, UN_XML))

        assert jane == Entry(
            entry_id="XXi.001",
            names=(
                Name("JANE ANN DOE"),
                Name("Джейн Доу", "original"),
                Name("Janet Roe"),
                Name("Janette Roe"),
                Name("J. Row"),
                Name("Jay", "weak"),
                Name("Джей", "weak"),
            ),
            kind="person",
            gender="female",
            birth_years=(1958, 1959, 1960, 1971),
            nationalities=("CD",),
            countries=("RW",),
            addresses=("Goma, Rwanda",),
            identifiers=("A123",),
            programs=("DRC",),
            listed_on="2012-12-31",
        )
        assert acme == Entry(
            entry_id="XXe.001",
            names=(Name("ACME"), Name("Acme"), Name("Acmé"), Name("Akme")),
            kind="organisation",
            countries=("IR",),
            addresses=("1 Main St, Iran (Islamic Republic of)",),
        )
        assert reading.version == "2026-02-27"
        assert reading.unknown == {"date of birth: about thirty": 1}


CA_RECORD = "<record><Country>Syria / Syrie</Country>{}<Schedule>Part 1</Schedule><Item>{}</Item></record>"


class TestCanada:
    """The list of Canada."""

    def test_reads_persons_organisations_and_ships(self, tmp_path: Path) -> None:
        person = (
            "<LastName>DOE</LastName><GivenName>Jane Ann </GivenName><Aliases>Jane Roe, Janet; "
            "Russian: Джейн Доу, J. Row or Jane Row</Aliases>"
            "<DateOfBirthOrShipBuildDate>1950 or 1951</DateOfBirthOrShipBuildDate>"
            "<DateOfListing>2020-09-28</DateOfListing>"
        )
        company = "<EntityOrShip>Acme Works/Usines Acme</EntityOrShip><Aliases>Acme, Ltd., AW Co., OOO Acme</Aliases>"
        ship = (
            "<EntityOrShip>Sea Dog</EntityOrShip><ShipIMONumber>9999999</ShipIMONumber>"
            "<DateOfBirthOrShipBuildDate>1980</DateOfBirthOrShipBuildDate>"
        )
        records = "".join(CA_RECORD.format(part, item) for item, part in enumerate((person, company, ship), 1))

        (jane, acme, dog), reading = read("ca", file(tmp_path, f"<data-set>{records}</data-set>"))

        assert jane == Entry(
            entry_id="Syria|Part 1|1",
            names=(
                Name("Jane Ann DOE"),
                Name("Jane Roe"),
                Name("Janet", "weak"),
                Name("Джейн Доу", "original"),
                Name("J. Row"),
                Name("Jane Row"),
            ),
            kind="person",
            birth_years=(1950, 1951),
            programs=("Syria",),
            listed_on="2020-09-28",
        )
        assert [name.text for name in acme.names] == [
            "Acme Works/Usines Acme",
            "Acme Works",
            "Usines Acme",
            "Acme, Ltd.",
            "AW Co.",
            "OOO Acme",
        ]
        assert (dog.kind, dog.identifiers, dog.birth_years) == ("vessel", ("IMO 9999999",), ())
        assert not reading.unknown

    def test_tells_records_of_one_number_apart_by_their_names(self, tmp_path: Path) -> None:
        records = "".join(
            CA_RECORD.format(f"<EntityOrShip>{name}</EntityOrShip>", item)
            for name, item in (("A", 1), ("B", 1), ("C", 2))
        )

        entries, _ = read("ca", file(tmp_path, f"<data-set>{records}</data-set>"))

        assert [entry.entry_id for entry in entries] == ["Syria|Part 1|1|A", "Syria|Part 1|1|B", "Syria|Part 1|2"]


EU_XML = """<?xml version="1.0" encoding="UTF-8"?>
<export xmlns="http://eu.europa.ec/fpi/fsd/export" generationDate="2025-06-02T12:00:00.000+02:00" globalFileId="1">
  <sanctionEntity designationDetails="" unitedNationId="" euReferenceNumber="EU.1.1" logicalId="11">
    <remark>x</remark>
    <regulation regulationType="regulation" programme="XYZ" numberTitle="1/2003">
      <publicationUrl>https://eur-lex.example.org/1</publicationUrl>
    </regulation>
    <subjectType code="person" classificationCode="P"/>
    <nameAlias firstName="Jane" lastName="Doe" wholeName="Jane Doe" gender="F" strong="true" logicalId="1"/>
    <nameAlias wholeName="Джейн Доу" strong="true" logicalId="2"/>
    <nameAlias wholeName="Little Jane" strong="false" logicalId="3"/>
    <nameAlias wholeName="Lil" strong="true" logicalId="4"><remark>(Low quality alias)</remark></nameAlias>
    <citizenship countryIso2Code="IR" countryDescription="IRAN, ISLAMIC REPUBLIC OF"/>
    <citizenship countryIso2Code="00" countryDescription="UNKNOWN"/>
    <birthdate birthdate="1971-03-12" year="1971" dayOfMonth="12" countryIso2Code="00"/>
    <birthdate yearRangeFrom="1958" yearRangeTo="1960" circa="true"/>
    <birthdate yearRangeTo="1980"/>
    <identification number="A123" latinNumber="" identificationTypeCode="passport" countryIso2Code="IR"/>
    <address city="Springfield" street="1 Main St" zipCode="123" countryIso2Code="CU" countryDescription="CUBA"/>
  </sanctionEntity>
  <sanctionEntity logicalId="12" designationDate="2020-01-02">
    <subjectType code="enterprise" classificationCode="E"/>
    <nameAlias wholeName="Acme" strong="true"/>
    <regulation><publicationUrl>javascript:alert(1)</publicationUrl></regulation>
    <novelty/>
  </sanctionEntity>
</export>
"""
EU_HEADER = (
    "fileGenerationDate;Entity_LogicalId;Entity_EU_ReferenceNumber;Entity_DesignationDate;Entity_SubjectType;"
    "Entity_Regulation_Programme;Entity_Regulation_PublicationUrl;NameAlias_WholeName;NameAlias_Gender;"
    "Address_City;Address_Street;Address_CountryIso2Code;Address_CountryDescription;BirthDate_BirthDate;BirthDate_Year;"
    "Identification_Number;Citizenship_CountryIso2Code;Citizenship_CountryDescription"
)
EU_ROWS = (
    "02/06/2025;11;EU.1.1;;P;XYZ;https://eur-lex.example.org/1;Jane Doe;F;;;;;;;;;",
    '02/06/2025;11;EU.1.1;;P;XYZ;https://eur-lex.example.org/1;"Roe; Janet";;;;;;;;;;',
    "02/06/2025;12;EU.1.2;2020-01-02;E;XYZ;;Acme;;;;;;;;;;",
    "02/06/2025;11;EU.1.1;;P;XYZ;;;;Springfield;1 Main St;CU;CUBA;1971-03-12;1971;A123;IR;IRAN",
)


class TestEu:
    """The list of the European Union."""

    def test_reads_xml(self, tmp_path: Path) -> None:
        (jane, acme), reading = read("eu", file(tmp_path, EU_XML))

        assert jane == Entry(
            entry_id="EU.1.1",
            names=(
                Name("Jane Doe"),
                Name("Джейн Доу", "original"),
                Name("Little Jane", "weak"),
                Name("Lil", "weak"),
            ),
            kind="person",
            gender="female",
            birth_years=(1971, 1958, 1959, 1960),
            nationalities=("IR",),
            countries=("CU",),
            addresses=("1 Main St, 123, Springfield, CUBA",),
            identifiers=("A123",),
            programs=("XYZ",),
            url="https://eur-lex.example.org/1",
        )
        assert acme == Entry(entry_id="12", names=(Name("Acme"),), kind="organisation", listed_on="2020-01-02")
        assert reading.version == "2025-06-02"
        assert reading.unknown == {"element: novelty": 1, "date of birth: to 1980": 1, "url: javascript:alert(1)": 1}

    def test_tells_entities_of_one_reference_apart(self, tmp_path: Path) -> None:
        text = EU_XML.replace(
            '<sanctionEntity logicalId="12"', '<sanctionEntity euReferenceNumber="EU.1.1" logicalId="12"'
        )

        entries, _ = read("eu", file(tmp_path, text))

        assert [entry.entry_id for entry in entries] == ["EU.1.1", "EU.1.1 12"]

    @pytest.mark.parametrize("mark", ["", "\ufeff"])
    def test_merges_the_rows_of_csv(self, tmp_path: Path, mark: str) -> None:
        path = file(tmp_path, mark + "\r\n".join([EU_HEADER, *EU_ROWS, ""]))

        (jane, acme), reading = read("eu", path)

        assert jane == Entry(
            entry_id="EU.1.1",
            names=(Name("Jane Doe"), Name("Roe; Janet")),
            kind="person",
            gender="female",
            birth_years=(1971,),
            nationalities=("IR",),
            countries=("CU",),
            addresses=("1 Main St, Springfield, CUBA",),
            identifiers=("A123",),
            programs=("XYZ",),
            url="https://eur-lex.example.org/1",
        )
        assert acme == Entry(
            entry_id="EU.1.2", names=(Name("Acme"),), kind="organisation", programs=("XYZ",), listed_on="2020-01-02"
        )
        assert reading.version == "2025-06-02"

    @pytest.mark.parametrize(
        ("rows", "said"),
        [
            (("1;2;3",), "Line 2 has 3 columns; the header has 18"),
            ((EU_ROWS[0].replace(";11;", ";;"),), "has no logical id"),
            ((EU_ROWS[0].replace("Jane Doe", ""),), "holds no entries"),
        ],
    )
    def test_refuses_broken_csv(self, tmp_path: Path, rows: tuple[str, ...], said: str) -> None:
        with pytest.raises(Unreadable, match=said):
            read("eu", file(tmp_path, "\n".join([EU_HEADER, *rows, ""])))


UK_HEADER = (
    "Last Updated,Unique ID,OFSI Group ID,Name 6,Name 1,Name 2,Name 3,Name 4,Name 5,Name type,Alias strength,"
    "Name non-latin script,Regime Name,Designation Type,Address Line 1,Address Postal Code,Address Country,"
    "Date Designated,D.O.B,Nationality(/ies),Passport number,Gender,IMO number,Current believed flag of ship"
)
UK_ROWS = (
    ",XX001,,DOE,Jane,Ann,,,,Primary Name,,,X Law,Individual,1 Main St,A,Cuba,31/12/2020,12/03/1971,Iran,A123,Female,,",
    "01/02/2024,XX002,2,SEA DOG,,,,,,Primary Name,,,X Law,Ship,,,,31/12/2020,,,,,9999999,Panama",
    "01/02/2024,XX001,1,ROE,Janet,,,,,Alias,Good quality a.k.a,,X Law,Individual,,,,31/12/2020,dd/mm/1972,,,,,",
    "01/02/2024,XX001,1,LIL,,,,,,Alias,Low quality a.k.a,Лил,X Law,Individual,,,,31/12/2020,,,,,,",
)
UK_XML = """<?xml version="1.0" encoding="utf-8"?>
<Designations>
  <DateGenerated>10/06/2025</DateGenerated>
  <Designation>
    <LastUpdated>01/02/2024</LastUpdated><DateDesignated>31/12/2020</DateDesignated><UniqueID>XX001</UniqueID>
    <RegimeName>X Law</RegimeName><IndividualEntityShip>Individual</IndividualEntityShip>
    <Names>
      <Name><Name1>Jane</Name1><Name2>Ann</Name2><Name6>DOE</Name6><NameType>Primary Name</NameType></Name>
      <Name><Name1>Janet</Name1><Name6>ROE</Name6><NameType>Primary Name Variation</NameType></Name>
      <Name><Name6>LIL</Name6><NameType>Alias</NameType><AliasStrength>Low quality a.k.a</AliasStrength></Name>
    </Names>
    <NonLatinNames><NonLatinName><NameNonLatinScript>Лил</NameNonLatinScript></NonLatinName></NonLatinNames>
    <Addresses>
      <Address><AddressLine1>1 Main St</AddressLine1><AddressPostalCode>A</AddressPostalCode>
      <AddressCountry>Cuba</AddressCountry></Address>
    </Addresses>
    <IndividualDetails><Individual>
      <DOBs><DOB>12/03/1971</DOB><DOB>dd/mm/1972</DOB></DOBs>
      <Nationalities><Nationality>Iran</Nationality></Nationalities>
      <PassportDetails><Passport><PassportNumber>A123</PassportNumber></Passport></PassportDetails>
      <Genders><Gender>Female</Gender></Genders>
    </Individual></IndividualDetails>
  </Designation>
  <Designation>
    <UniqueID>XX002</UniqueID><DateDesignated>31/12/2020</DateDesignated><RegimeName>X Law</RegimeName>
    <IndividualEntityShip>Ship</IndividualEntityShip>
    <Names><Name><Name6>SEA DOG</Name6><NameType>Primary Name</NameType></Name></Names>
    <ShipDetails><Ship>
      <IMONumbers><IMONumber>IMO9999999</IMONumber></IMONumbers>
      <CurrentBelievedFlagOfShips><CurrentBelievedFlagOfShip>Panama</CurrentBelievedFlagOfShip></CurrentBelievedFlagOfShips>
    </Ship></ShipDetails>
    <Novelty/>
  </Designation>
</Designations>
"""
UK_ENTRIES = [
    Entry(
        entry_id="XX001",
        names=(Name("Jane Ann DOE"), Name("Janet ROE"), Name("LIL", "weak"), Name("Лил", "original")),
        kind="person",
        gender="female",
        birth_years=(1971, 1972),
        nationalities=("IR",),
        countries=("CU",),
        addresses=("1 Main St, A, Cuba",),
        identifiers=("A123",),
        programs=("X Law",),
        listed_on="2020-12-31",
    ),
    Entry(
        entry_id="XX002",
        names=(Name("SEA DOG"),),
        kind="vessel",
        countries=("PA",),
        identifiers=("IMO 9999999",),
        programs=("X Law",),
        listed_on="2020-12-31",
    ),
]


class TestUk:
    """The list of the United Kingdom."""

    @pytest.mark.parametrize(("first", "version"), [("Report Date: 23-Sep-2025\r\n", "2025-09-23"), ("", "")])
    def test_merges_the_rows_of_csv(self, tmp_path: Path, first: str, version: str) -> None:
        entries, reading = read("uk", file(tmp_path, "\ufeff" + first + "\r\n".join([UK_HEADER, *UK_ROWS, ""])))

        assert entries == UK_ENTRIES
        assert reading.version == version
        assert not reading.unknown

    def test_reads_xml(self, tmp_path: Path) -> None:
        entries, reading = read("uk", file(tmp_path, UK_XML))

        assert [set(entry.names) for entry in entries] == [set(entry.names) for entry in UK_ENTRIES]
        assert [entry.addresses for entry in entries] == [entry.addresses for entry in UK_ENTRIES]
        assert [(entry.entry_id, entry.birth_years, entry.countries, entry.identifiers) for entry in entries] == [
            ("XX001", (1971, 1972), ("CU",), ("A123",)),
            ("XX002", (), ("PA",), ("IMO 9999999",)),
        ]
        assert reading.version == "2025-06-10"
        assert reading.unknown == {"element: Novelty": 1}

    def test_refuses_a_row_without_its_id(self, tmp_path: Path) -> None:
        with pytest.raises(Unreadable, match="'DOE' has no Unique ID"):
            read("uk", file(tmp_path, "\n".join([UK_HEADER, UK_ROWS[0].replace("XX001", ""), ""])))


CH_XML = """<?xml version="1.0" encoding="UTF-8"?>
<swiss-sanctions-list list-type="whole-list" date="2025-06-03">
  <sanctions-program ssid="1">
    <program-key lang="eng">X-Land</program-key><program-key lang="ger">Y</program-key>
    <sanctions-set ssid="101" lang="eng">annex</sanctions-set>
  </sanctions-program>
  <target ssid="7" sanctions-set-id="101">
    <foreign-identifier>z</foreign-identifier>
    <individual sex="female">
      <identity ssid="71" main="true">
        <name ssid="72" name-type="primary-name" quality="good">
          <name-part ssid="74" order="1" name-part-type="family-name"><value>Doe</value>
            <spelling-variant ssid="75" lang="eng" script="LATN">Dough</spelling-variant>
            <spelling-variant ssid="75" lang="rus" script="CYRL">Доу</spelling-variant></name-part>
          <name-part ssid="73" order="2" name-part-type="given-name"><value>Jane</value>
            <spelling-variant ssid="76" lang="rus" script="CYRL">Джейн</spelling-variant></name-part>
          <name-part ssid="70" order="3" name-part-type="title"><value>Dr.</value></name-part>
        </name>
        <name ssid="77" name-type="alias" quality="low">
          <name-part order="1" name-part-type="whole-name"><value>Lil</value></name-part>
        </name>
        <day-month-year ssid="78" day="12" month="3" year="1971"/>
        <nationality ssid="79"><country iso-code="IR">Iran</country></nationality>
        <address ssid="80" place-id="900"><address-details>1 Main St</address-details><zip-code>123</zip-code></address>
        <identification-document document-type="passport"><number>A123</number></identification-document>
      </identity>
      <justification ssid="81">x</justification>
    </individual>
    <modification modification-type="listed" effective-date="2020-12-31">
      <added><target ssid="666"><individual><identity/></individual></target></added>
    </modification>
  </target>
  <target ssid="8">
    <sanctions-set-id>101</sanctions-set-id>
    <object object-type="vessel">
      <identity><name><name-part order="1"><value>Sea Dog</value></name-part></name></identity>
      <other-information>IMO number: 9999999</other-information>
    </object>
    <modification modification-type="listed" effective-date="2020-12-31"/>
    <modification modification-type="de-listed" effective-date="2025-07-01"/>
  </target>
  <target ssid="9">
    <entity><identity><name><name-part order="1"><value>Gone</value></name-part></name></identity></entity>
    <modification modification-type="de-listed" effective-date="2021-01-01"/>
    <modification modification-type="listed" effective-date="2020-12-31"/>
  </target>
  <place ssid="900"><location>Springfield</location><country iso-code="CU">Cuba</country></place>
</swiss-sanctions-list>
"""


class TestSwitzerland:
    """The list of Switzerland."""

    def test_reads_targets_that_stand(self, tmp_path: Path) -> None:
        (jane, dog), reading = read("ch", file(tmp_path, CH_XML))

        assert jane == Entry(
            entry_id="7",
            names=(Name("Jane Doe"), Name("Джейн Доу", "original"), Name("Jane Dough"), Name("Lil", "weak")),
            kind="person",
            gender="female",
            birth_years=(1971,),
            nationalities=("IR",),
            countries=("CU",),
            addresses=("1 Main St, 123 Springfield, CU",),
            identifiers=("A123",),
            programs=("X-Land",),
            listed_on="2020-12-31",
        )
        assert dog == Entry(
            entry_id="8",
            names=(Name("Sea Dog"),),
            kind="vessel",
            identifiers=("IMO 9999999",),
            programs=("X-Land",),
            listed_on="2020-12-31",
        )
        assert reading.version == "2025-06-03"
        assert not reading.unknown

    def test_says_that_it_left_spellings_out(self, tmp_path: Path) -> None:
        spellings = "".join(f'<spelling-variant lang="eng">V{number}</spelling-variant>' for number in range(11))
        text = CH_XML.replace("<value>Doe</value>", f"<value>Doe</value>{spellings}")
        text = text.replace("<value>Jane</value>", f"<value>Jane</value>{spellings}")

        (jane, _), reading = read("ch", file(tmp_path, text))

        assert len(jane.names) == 1 + 100 + 3
        assert reading.unknown == {"spellings: more than 100 of Jane Doe": 1}

    @pytest.mark.parametrize(
        ("old", "new", "said"),
        [
            ('list-type="whole-list"', 'list-type="delta"', "the whole-list was expected"),
            ('place-id="900"', 'place-id="901"', "the place '901', which the file lacks"),
            ('<target ssid="8">', "<target>", "A target has no ssid"),
        ],
    )
    def test_refuses_a_broken_file(self, tmp_path: Path, old: str, new: str, said: str) -> None:
        with pytest.raises(Unreadable, match=said):
            read("ch", file(tmp_path, CH_XML.replace(old, new)))


TARGETS = (
    '"id","schema","name","aliases","birth_date","countries","addresses","identifiers","sanctions","phones","emails",'
    '"program_ids","dataset","first_seen","last_seen","last_change"\n'
    '"Q1","Person","Jane Doe","Janet Roe;""Roe; Jane""","1971-03-12;1972","ir;cu",'
    '"1 Main St, Springfield","A123","x","","","US-X;EU-Y","d","2020-01-01","2025-06-01T01:02:03","2025-01-01"\n'
    '"Q2","LegalEntity","Acme","","","","","","Sanction 1","","","","d","","2025-06-02T01:02:03",""\n'
    '"Q3","Novelty","X","","","","","","","","","","d","","",""\n'
)
JANE = {
    "id": "Q1",
    "schema": "Person",
    "target": True,
    "last_seen": "2025-06-02T01:02:03",
    "properties": {
        "name": ["Jane Doe", "Джейн Доу"],
        "alias": ["Janet Roe"],
        "weakAlias": ["Lil"],
        "gender": ["female"],
        "birthDate": ["1971-03"],
        "nationality": ["ir"],
        "country": ["cu", "suhh"],
        "address": ["1 Main St"],
        "passportNumber": ["A123"],
        "programId": ["US-X"],
        "addressEntity": [{"id": "x"}],
    },
}


class TestOpenSanctions:
    """The two exports of OpenSanctions."""

    def test_reads_targets(self, tmp_path: Path) -> None:
        (jane, acme), reading = read("opensanctions", file(tmp_path, TARGETS))

        assert jane == Entry(
            entry_id="Q1",
            names=(Name("Jane Doe"), Name("Janet Roe"), Name("Roe; Jane")),
            kind="person",
            birth_years=(1971, 1972),
            countries=("IR", "CU"),
            addresses=("1 Main St, Springfield",),
            identifiers=("A123",),
            programs=("US-X", "EU-Y"),
            url="https://www.opensanctions.org/entities/Q1/",
        )
        assert (acme.kind, acme.programs) == ("", ("Sanction 1",))
        assert reading.version == "2025-06-02"
        assert reading.unknown == {"schema: Novelty": 1}

    def test_reads_entities(self, tmp_path: Path) -> None:
        others = (
            {"id": "a", "schema": "Address", "properties": {}},
            {"id": "b", "schema": "Vessel", "target": False, "properties": {"name": ["Sea Dog"]}},
            {"id": "c", "schema": "Novelty", "properties": {}},
            {"id": "d", "schema": "Company", "target": True, "properties": {"name": "no list"}},
        )
        text = "".join(json.dumps(entity) + "\n" for entity in (JANE, *others))

        (jane,), reading = read("opensanctions", file(tmp_path, text))

        assert jane == Entry(
            entry_id="Q1",
            names=(Name("Jane Doe"), Name("Джейн Доу", "original"), Name("Janet Roe"), Name("Lil", "weak")),
            kind="person",
            gender="female",
            birth_years=(1971,),
            nationalities=("IR",),
            countries=("CU",),
            addresses=("1 Main St",),
            identifiers=("A123",),
            programs=("US-X",),
            url="https://www.opensanctions.org/entities/Q1/",
        )
        assert reading.version == "2025-06-02"
        assert reading.unknown == {
            "country: suhh": 1,
            "not a target: Vessel": 1,
            "schema: Novelty": 1,
            "entry without a name": 1,
        }

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ('{"id": "Q2", "schema":', "Line 2 is not complete JSON"),
            ('{"id": 2, "schema": "Person", "properties": {}}', "Line 2 is not an entity"),
            ("[]", "Line 2 is not an entity"),
            ("[" * 100_000, "Line 2 is not complete JSON"),
            ('{"id": " ", "schema": "Person", "properties": {}}', "An entity has no id"),
        ],
    )
    def test_refuses_broken_json(self, tmp_path: Path, line: str, said: str) -> None:
        with pytest.raises(Unreadable, match=said):
            read("opensanctions", file(tmp_path, f"{json.dumps(JANE)}\n{line}\n"))

    def test_removes_what_cannot_be_shown_or_stored(self, tmp_path: Path) -> None:
        entity = {**JANE, "properties": {"name": [" A\x00\ud800B\u202e \n\t C\x85 ", "x" * 1001, " "]}}

        (entry,), reading = read("opensanctions", file(tmp_path, json.dumps(entity) + "\n"))

        assert entry.names == (Name("AB C"),)
        assert reading.unknown == {"name: longer than 1000 characters": 1}


class TestNames:
    """What becomes of a name that a list gives more than once."""

    def test_are_strong_when_they_are_both_weak_and_strong(self, tmp_path: Path) -> None:
        names = {"weakAlias": ["Lil", "Jay"], "alias": ["Lil"]}
        entity = {**JANE, "properties": names}
        other = {**JANE, "id": "Q2", "properties": {"abbreviation": ["A"], "weakAlias": ["A", "B"]}}
        text = "".join(json.dumps(one) + "\n" for one in (entity, other))

        (jane, weak), _ = read("opensanctions", file(tmp_path, text))

        assert jane.names == (Name("Lil"), Name("Jay", "weak"))
        assert weak.names == (Name("A", "weak"), Name("B", "weak"))

    def test_are_strong_when_the_strong_one_comes_later(self, tmp_path: Path) -> None:
        weak = '<nameAlias wholeName="Acme" strong="false"/>'
        text = EU_XML.replace(
            '<nameAlias wholeName="Acme" strong="true"/>', f'{weak}<nameAlias wholeName="Acme" strong="true"/>'
        )

        (_, acme), _ = read("eu", file(tmp_path, text))

        assert acme.names == (Name("Acme"),)


class TestBlockList:
    """A company's own list."""

    @pytest.mark.parametrize("mark", ["", "\ufeff"])
    @pytest.mark.parametrize("delimiter", [",", ";"])
    def test_takes_names_and_uids(self, tmp_path: Path, mark: str, delimiter: str) -> None:
        rows = (
            "id,Name,uid,kind,country,comment,aliases",
            "1,Acme Ltd.,C-1,company,Cuba,does not pay,Akme|Acme Trading",
            ",Jane Doe,,person,,,",
            ",,C-2,,,,",
            ",,,,,,",
        )

        entries, reading = read("block-list", file(tmp_path, mark + "\n".join(rows).replace(",", delimiter)))

        assert entries == [
            Entry(
                entry_id="1",
                names=(Name("Acme Ltd."), Name("Akme"), Name("Acme Trading")),
                kind="organisation",
                countries=("CU",),
                identifiers=("uid:C-1",),
                programs=("does not pay",),
            ),
            Entry(entry_id="name:jane doe", names=(Name("Jane Doe"),), kind="person"),
            Entry(entry_id="uid:C-2", names=(), identifiers=("uid:C-2",)),
        ]
        assert not reading.unknown

    def test_reports_what_it_does_not_know(self, tmp_path: Path) -> None:
        _, reading = read("block-list", file(tmp_path, "name,kind,country,phone\nAcme,robot,Atlantis,1\n"))

        assert reading.unknown == {"column: phone": 1, "kind: robot": 1, "country: Atlantis": 1}

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("Acme\nJane\n", "Line 1 is not a header"),
            ("name,name\nA,B\n", "Line 1 is not a header"),
            ("name,uid\n", "holds no entries"),
            ("name,uid\nA\n", "Line 2 has 1 columns; the header has 2"),
            ("name,comment\n,x\n", "Line 2 has neither a name nor a uid"),
            ("name\nAcme\nACME\n", "stands in the file twice"),
            ("name\n" + "A" * 1001, "Line 2 has a name that is too long"),
            ("name\nM\xfcller".encode("latin-1"), "is not text in UTF-8"),
        ],
    )
    def test_refuses(self, tmp_path: Path, text: str | bytes, said: str) -> None:
        with pytest.raises(Unreadable, match=said):
            read("block-list", file(tmp_path, text))


WHOLE_FILES = {
    "ofac-sdn": OFAC_XML.format(namespace=OFAC_NAMESPACE),
    "un": UN_XML,
    "eu": EU_XML,
    "uk": UK_XML,
    "ch": CH_XML,
    "ca": f"<data-set>{CA_RECORD.format('<LastName>DOE</LastName>', 1)}</data-set>",
    "opensanctions": TARGETS,
}
# OFAC's lists have one form, and any table with names is a block list.
SAME_FORMS = {("ofac-consolidated", "ofac-sdn"), ("block-list", "opensanctions")}
BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]><x>&b;</x>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>'


class TestAnyFormat:
    """What holds for the files of every source."""

    @pytest.mark.parametrize("name", SOURCES)
    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b" \r\n",
            b"<!DOCTYPE html><html><body>Service unavailable</body></html>",
            b"<html><body>Service unavailable</body></html>",
            b"<html>",
            b"Not found",
            b"{}",
            b"\x00" * 100,
            b"\xff\xfe" + "<x/>".encode("utf-16-le"),
            b'<?xml version="1.0" encoding="klingon"?><x/>',
            b'<?xml version="1.0" encoding="shift_jis"?><x/>',
            BOMB.encode(),
            OUTSIDE.encode(),
            b"PK\x03\x04" + bytes(range(256)),
        ],
    )
    def test_refuses_what_is_no_list(self, tmp_path: Path, name: str, content: bytes) -> None:
        with pytest.raises(Unreadable):
            read(name, file(tmp_path, content))

    @pytest.mark.parametrize(
        ("name", "other"),
        [
            (name, other)
            for name in SOURCES
            for other in WHOLE_FILES
            if name != other and (name, other) not in SAME_FORMS
        ],
    )
    def test_refuses_the_file_of_another_source(self, tmp_path: Path, name: str, other: str) -> None:
        with pytest.raises(Unreadable):
            read(name, file(tmp_path, WHOLE_FILES[other]))

    @pytest.mark.parametrize("name", WHOLE_FILES)
    def test_refuses_half_a_file(self, tmp_path: Path, name: str) -> None:
        whole = WHOLE_FILES[name].rstrip().encode()

        for length in range(1, len(whole) - 1, 37):
            with pytest.raises(Unreadable):
                read(name, file(tmp_path, whole[:length]))

    @pytest.mark.parametrize("doctype", [BOMB, OUTSIDE])
    @pytest.mark.parametrize("name", [name for name in WHOLE_FILES if name != "opensanctions"])
    def test_expands_nothing(self, tmp_path: Path, name: str, doctype: str) -> None:
        declaration = doctype.partition("<x>")[0]
        _, prolog, rest = WHOLE_FILES[name].rpartition("?>")
        text = f"{declaration}{rest}".replace("DOE", "&a;")

        with pytest.raises(Unreadable, match="DTD"):
            read(name, file(tmp_path, text if prolog else f"{declaration}{WHOLE_FILES[name]}"))

    @pytest.mark.parametrize("name", [name for name in WHOLE_FILES if name != "opensanctions"])
    def test_takes_no_declaration_even_a_harmless_one(self, tmp_path: Path, name: str) -> None:
        prolog, found, rest = WHOLE_FILES[name].rpartition("?>")

        with pytest.raises(Unreadable, match="DTDForbidden"):
            read(name, file(tmp_path, f"{prolog}{found}<!DOCTYPE list>{rest}"))

    def test_refuses_elements_without_end(self, tmp_path: Path) -> None:
        path = file(tmp_path, "<data-set>" + "<a>" * 1_000)

        with pytest.raises(Unreadable, match="deeper than 64 levels"):
            read("ca", path)

    @pytest.mark.parametrize("name", SOURCES)
    def test_refuses_what_it_cannot_open(self, tmp_path: Path, name: str) -> None:
        for path in (tmp_path, tmp_path / "missing"):
            with pytest.raises(Unreadable):
                read(name, path)

    def test_is_one_pass(self, tmp_path: Path) -> None:
        _, reading = read("un", file(tmp_path, UN_XML))

        with pytest.raises(RuntimeError, match="one pass"):
            list(reading)

    def test_keeps_no_more_of_what_it_does_not_know_than_fits(self, tmp_path: Path) -> None:
        rows = "".join(f"name{number},Atlantis {number}{'x' * 300}\n" for number in range(1_500))

        _, reading = read("block-list", file(tmp_path, f"name,country\n{rows}"))

        assert len(reading.unknown) == 1_001
        assert reading.unknown["more"] == 500
        assert max(map(len, reading.unknown)) == 120

    @pytest.mark.parametrize(
        ("name", "head", "line", "tail"),
        [
            ("ofac-sdn", "", sdn_row("{0}", "ACME {0}", "-0- ", "X", "-0- ", "a.k.a. 'A{0}'; nationality Iran."), ""),
            ("block-list", "name,uid\n", "Acme {0},{0}\n", ""),
            ("opensanctions", TARGETS.partition("\n")[0] + "\n", f'"{{0}}","Person","A {{0}}"{"," * 13}\n', ""),
            (
                "un",
                "<CONSOLIDATED_LIST><ENTITIES>",
                UN_XML[UN_XML.index("<ENTITY>") : UN_XML.index("</ENTITIES>")],
                "</ENTITIES></CONSOLIDATED_LIST>",
            ),
        ],
    )
    def test_streams(self, tmp_path: Path, name: str, head: str, line: str, tail: str) -> None:
        many = "".join(line.replace("XXe.001", "{0}").format(number) for number in range(3_000))
        path = file(tmp_path, head + many + tail)
        reading = read_source(name, path)

        tracemalloc.start()
        count = sum(1 for _ in reading)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

        assert count == 3_000
        assert peak < 3_000_000

    @pytest.mark.parametrize("name", SOURCES)
    @settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    @given(content=st.binary(max_size=500))
    @example(content=b'"a\r"')
    def test_reads_or_refuses_any_bytes(self, tmp_path: Path, name: str, content: bytes) -> None:
        read_or_refuse(name, file(tmp_path, content))

    @pytest.mark.parametrize("name", WHOLE_FILES)
    @settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    @given(data=st.data())
    def test_reads_or_refuses_a_damaged_file(self, tmp_path: Path, name: str, data: st.DataObject) -> None:
        content = bytearray(WHOLE_FILES[name].encode())
        places = st.integers(0, len(content) - 1)
        for place, byte in data.draw(st.lists(st.tuples(places, st.integers(0, 255)), min_size=1, max_size=5)):
            content[place] = byte

        read_or_refuse(name, file(tmp_path, bytes(content)))


def read_or_refuse(name: str, path: Path) -> None:
    """Read a file, or see it refused; whatever is read has names and can be shown."""
    try:
        entries, _ = read(name, path)
    except Unreadable:
        return
    assert all(entry.names or name == "block-list" for entry in entries)
    shown = [value for entry in entries for value in (entry.entry_id, entry.url, *entry.addresses)]
    assert all(value.isprintable() and value.encode().decode() == value for value in shown)

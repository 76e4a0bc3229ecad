"""The demo's sanctions list and block list: invented parties, in the formats that real lists come in."""

# In the format of the United Nations: loading their real list takes the place of this one.
_PARTIES = """
INDIVIDUAL | DEMOi.001 | Casimir Ottokar Brandtholm-Velde | Iceland
INDIVIDUAL | DEMOi.002 | Феофан Кириллович Заозёрский | Kazakhstan
INDIVIDUAL | DEMOi.003 | Xaverine Ndiaye-Kowalczyk | Senegal
ENTITY | DEMOe.001 | Obsidian Harbour Freight Forwarding Company | Panama
ENTITY | DEMOe.002 | Zhongxing Qilin Turbine Components Limited | China
"""
_DAY = "2026-11-01"

BLOCK_LIST = """name;uid;country;comment
Fauler Zauber Handels GmbH;;DE;Liefert nicht, zahlt nicht.
;K-10064;;Gesperrt durch die Geschäftsleitung.
"""


def sanctions_list() -> str:
    """Return the list as the United Nations would publish it."""
    parties = [[cell.strip() for cell in line.split("|")] for line in _PARTIES.strip().splitlines()]
    written = {
        kind: "".join(_party(*party) for party in parties if party[0] == kind) for kind in ("INDIVIDUAL", "ENTITY")
    }
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><CONSOLIDATED_LIST dateGenerated="{_DAY}T00:00:00.000Z">'
        f"<INDIVIDUALS>{written['INDIVIDUAL']}</INDIVIDUALS><ENTITIES>{written['ENTITY']}</ENTITIES>"
        "</CONSOLIDATED_LIST>"
    )


def _party(kind: str, reference: str, name: str, country: str) -> str:
    where = (
        f"<NATIONALITY><VALUE>{country}</VALUE></NATIONALITY>"
        if kind == "INDIVIDUAL"
        else f"<ENTITY_ADDRESS><COUNTRY>{country}</COUNTRY></ENTITY_ADDRESS>"
    )
    return (
        f"<{kind}><DATAID>{reference[-3:]}</DATAID><FIRST_NAME>{name}</FIRST_NAME><UN_LIST_TYPE>DEMO</UN_LIST_TYPE>"
        f"<REFERENCE_NUMBER>{reference}</REFERENCE_NUMBER><LISTED_ON>2024-02-29</LISTED_ON>{where}</{kind}>"
    )

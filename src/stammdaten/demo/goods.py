"""Word tables of the demo's goods: kinds with their tariff numbers, and who makes them; invented, but for the numbers.

The tariff numbers are those of the Combined Nomenclature; ten digits where TARIC does not divide the eight further.
"""

from typing import NamedTuple


class Kind(NamedTuple):
    """What comes in several sizes under one tariff number; `eccn` is "" where no export control is known."""

    group: str
    german: str
    english: str
    german_material: str
    english_material: str
    ctn: str
    sizes: tuple[str, ...]
    eccn: str


class Group(NamedTuple):
    """Goods that are bought from the same makers, built into the same machines and kept in the same list."""

    list_slug: str
    vendors: tuple[str, ...]
    machine_types: tuple[str, ...]
    assembly_groups: tuple[str, ...]


# group | German | English | Werkstoff | material | tariff number | sizes | ECCN
_KINDS = """
BF | Sechskantschraube | Hexagon head screw | Stahl 8.8, verzinkt | steel 8.8, zinc-plated | 73181588 | M6x20, M8x30, M8x40, M10x50, M16x80 |
BF | Sechskantschraube | Hexagon head screw | Edelstahl A2 | stainless steel A2 | 73181575 | M5x16, M6x25, M8x35, M12x50 |
BF | Zylinderschraube | Socket head cap screw | Stahl 12.9, brüniert | steel 12.9, blackened | 73181568 | M4x12, M5x20, M6x30, M8x25, M10x45 |
BF | Gewindestift | Set screw | Edelstahl A4 | stainless steel A4 | 73181535 | M4x8, M5x10, M6x12, M8x16 |
BF | Sicherungsmutter | Self-locking nut | Stahl, verzinkt | steel, zinc-plated | 73181660 | M6, M8, M10, M12 |
BF | Sechskantmutter | Hexagon nut | Edelstahl A2 | stainless steel A2 | 73181639 | M5, M6, M8, M10 |
BF | Unterlegscheibe | Washer | Stahl, verzinkt | steel, zinc-plated | 73182200 | 6,4 mm, 8,4 mm, 10,5 mm, 13 mm |
BF | Federring | Spring washer | Federstahl | spring steel | 73182100 | 6 mm, 8 mm, 10 mm |
BF | Splint | Cotter pin | Stahl, verzinkt | steel, zinc-plated | 73182400 | 2x20 mm, 3,2x32 mm, 5x50 mm |
BF | Druckfeder | Compression spring | Federstahldraht | spring steel wire | 73202081 | 1x10x30 mm, 1,6x14x45 mm, 2x18x60 mm |
BF | Zugfeder | Tension spring | Federstahldraht | spring steel wire | 73202085 | 0,8x8x25 mm, 1,2x10x40 mm, 2x16x70 mm |
WL | Rillenkugellager | Deep groove ball bearing | Wälzlagerstahl | bearing steel | 84821090 | 6204-2RS, 6205-2RS, 6206-2Z, 6308-2Z, 6310-2RS |
WL | Miniaturkugellager | Miniature ball bearing | Wälzlagerstahl | bearing steel | 84821010 | 623-ZZ, 624-ZZ, 625-ZZ, 608-ZZ |
WL | Kegelrollenlager | Tapered roller bearing | Wälzlagerstahl | bearing steel | 84822000 | 30204, 30206, 32008, 32210 |
WL | Pendelrollenlager | Spherical roller bearing | Wälzlagerstahl | bearing steel | 84823000 | 22208, 22212, 22316 |
WL | Nadelkranz | Needle roller and cage assembly | Wälzlagerstahl | bearing steel | 84824000 | K 12x15x13, K 20x24x17, K 35x40x25 |
WL | Zylinderrollenlager | Cylindrical roller bearing | Wälzlagerstahl | bearing steel | 84825000 | NU 204, NU 208, NU 312 |
WL | Stehlager | Pillow block bearing | Grauguss | cast iron | 84832000 | UCP 204, UCP 206, UCP 210 |
WL | Gleitlagerbuchse | Plain bearing bush | Bronze | bronze | 84833080 | 12x16x20 mm, 20x26x30 mm, 40x50x40 mm |
AT | Kugelgewindetrieb | Ball screw | Stahl, gehärtet | steel, hardened | 84834030 | 16x5 mm, 20x5 mm, 25x10 mm, 32x10 mm |
AT | Stirnradgetriebe | Helical gear unit | Grauguss | cast iron | 84834021 | i=5, i=12,5, i=25, i=40 |
AT | Schneckengetriebe | Worm gear unit | Aluminium | aluminium | 84834025 | i=10, i=20, i=60 |
AT | Wellenkupplung, spielfrei | Zero-backlash shaft coupling | Aluminium | aluminium | 84836080 | 14/16 mm, 19/24 mm, 28/32 mm |
AT | Keilriemenscheibe | V-belt pulley | Grauguss | cast iron | 84835020 | SPA 100-2, SPA 160-2, SPB 200-3 |
AT | Rollenkette | Roller chain | Stahl | steel | 73151190 | 06B-1, 08B-1, 10B-1, 16B-2 |
AT | Zahnriemen | Timing belt | Chloropren, Glasfaserzugstrang | neoprene, glass fibre cords | 40103500 | 8M-720, 8M-960, 8M-1200, 8M-1440 |
PU | Kreiselpumpe, Blockbauweise | Monobloc centrifugal pump | Grauguss | cast iron | 84137051 | 32-160, 40-200, 50-250, 65-160 |
PU | Kreiselpumpe, mehrstufig | Multistage centrifugal pump | Edelstahl | stainless steel | 84137075 | 3-8, 5-12, 10-6 |
PU | Tauchpumpe | Submersible pump | Edelstahl | stainless steel | 84137021 | DN 40, DN 50, DN 80 |
PU | Heizungsumwälzpumpe | Heating circulator | Grauguss | cast iron | 84137030 | 25-40, 25-60, 32-80 |
PU | Zahnradpumpe, hydraulisch | Hydraulic gear pump | Aluminium | aluminium | 84136031 | 8 cm³, 16 cm³, 22,5 cm³ |
PU | Dosierpumpe | Dosing pump | PVDF | PVDF | 84135040 | 2 l/h, 10 l/h, 45 l/h, 800 l/h | 2B350.i
PU | Drehschieber-Vakuumpumpe | Rotary vane vacuum pump | Grauguss | cast iron | 8414102500 | 25 m³/h, 63 m³/h, 100 m³/h | 2B999
PU | Hydraulikzylinder, doppeltwirkend | Double-acting hydraulic cylinder | Stahl | steel | 84122180 | 32/18-100, 50/28-200, 80/45-400 |
PU | Pneumatikzylinder | Pneumatic cylinder | Aluminium | aluminium | 84123100 | 20-50, 32-100, 50-160, 63-250 |
VT | Kugelhahn | Ball valve | Edelstahl 1.4408 | stainless steel 1.4408 | 84818081 | DN 15, DN 25, DN 40, DN 50, DN 80 | 2B350.g
VT | Absperrklappe | Butterfly valve | Sphäroguss | ductile iron | 84818085 | DN 50, DN 80, DN 100, DN 150 |
VT | Rückschlagventil | Check valve | Stahlguss | cast steel | 84813091 | DN 15, DN 25, DN 50 |
VT | Druckminderer | Pressure reducing valve | Edelstahl | stainless steel | 84811019 | DN 15, DN 20, DN 32 |
VT | Sicherheitsventil | Safety valve | Grauguss | cast iron | 84814010 | DN 20, DN 32, DN 50 |
VT | Absperrschieber | Gate valve | Stahlguss | cast steel | 84818063 | DN 50, DN 100, DN 200 |
VT | Membranventil | Diaphragm valve | PVDF | PVDF | 84818087 | DN 15, DN 25, DN 50 | 2B350.g
VT | Hydraulik-Wegeventil | Hydraulic directional control valve | Stahl | steel | 84812010 | NG 6, NG 10, NG 16 |
VT | Pneumatik-Wegeventil | Pneumatic directional control valve | Aluminium | aluminium | 84812090 | G1/8, G1/4, G1/2 |
MS | Widerstandsthermometer Pt100 | Resistance thermometer Pt100 | Edelstahl | stainless steel | 90251900 | 50 mm, 100 mm, 250 mm |
MS | Drucktransmitter | Pressure transmitter | Edelstahl | stainless steel | 90262020 | 0-6 bar, 0-16 bar, 0-250 bar |
MS | Rohrfedermanometer | Bourdon tube pressure gauge | Messing | brass | 90262040 | 0-4 bar, 0-10 bar, 0-60 bar |
MS | Füllstandssensor | Level sensor | Edelstahl | stainless steel | 90261029 | 500 mm, 1000 mm, 2000 mm |
MS | Durchflussmesser, magnetisch-induktiv | Electromagnetic flow meter | PTFE | PTFE | 90261021 | DN 15, DN 32, DN 65 |
MS | pH-Messgerät | pH meter | Kunststoff | plastic | 90278930 | pH 0-14, pH 2-12 |
MS | Raumthermostat, elektronisch | Electronic room thermostat | Kunststoff | plastic | 90321020 | 24 V, 230 V |
MS | Messschieber, digital | Digital calliper | Edelstahl | stainless steel | 9017300000 | 150 mm, 200 mm, 300 mm |
MS | Vielfachmessgerät | Multimeter | Kunststoff | plastic | 90303100 | 3½-stellig, 4½-stellig |
MS | Oszilloskop | Oscilloscope | Kunststoff | plastic | 9030200000 | 100 MHz, 350 MHz, 2 GHz | 3A992.a
MS | Laserquelle, fasergekoppelt | Fibre-coupled laser source | Aluminium | aluminium | 90132000 | 20 W, 50 W, 200 W | 6A005.b
MS | Inertiales Navigationssystem | Inertial navigation system | Aluminium | aluminium | 90142020 | 0,1 °/h, 1 °/h | 7A103.a
EL | Drehstrommotor | Three-phase motor | Aluminium | aluminium | 85015220 | 1,1 kW, 2,2 kW, 4 kW, 5,5 kW, 7,5 kW |
EL | Drehstrommotor | Three-phase motor | Grauguss | cast iron | 85015230 | 11 kW, 15 kW, 22 kW, 30 kW |
EL | Gleichstrommotor | DC motor | Stahl | steel | 85013100 | 60 W, 120 W, 250 W |
EL | Frequenzumrichter | Frequency converter | Stahlblech | sheet steel | 85044095 | 2,2 kW, 5,5 kW, 15 kW, 37 kW | 3A225
EL | Steuertransformator | Control transformer | Kupfer | copper | 85043180 | 63 VA, 160 VA, 400 VA |
EL | Speicherprogrammierbare Steuerung | Programmable logic controller | Kunststoff | plastic | 8537109100 | 8 DI/6 DO, 14 DI/10 DO, 24 DI/16 DO |
EL | Feinsicherung | Miniature fuse | Glas | glass | 8536101000 | 1 A, 2 A, 6,3 A, 10 A |
EL | Leitungsschutzschalter | Circuit breaker | Kunststoff | plastic | 8536201000 | B 6, B 16, C 16, C 32 |
EL | Industrierelais, 24 V | Industrial relay, 24 V | Kunststoff | plastic | 8536419000 | 6 A, 10 A, 16 A |
EL | Leiterplattensteckverbinder | Printed circuit connector | Kunststoff | plastic | 8536693000 | 4-polig, 8-polig, 16-polig |
EL | Anschlussleitung M12 | Connecting cable M12 | PUR | PUR | 85444290 | 1 m, 3 m, 5 m, 10 m |
EL | Steuerleitung, geschirmt | Screened control cable | PVC | PVC | 85444995 | 4x0,75 mm², 7x1 mm², 12x1,5 mm² |
EL | Lichtwellenleiterkabel | Optical fibre cable | LSZH | LSZH | 85447000 | 4 OM4, 12 OM4, 24 OS2 |
EL | Leiterplatte, mehrlagig | Multilayer printed circuit | FR4 | FR4 | 8534001100 | 100x80 mm, 160x100 mm |
EL | Mikrocontroller | Microcontroller | Silizium | silicon | 85423190 | 32 bit/80 MHz, 32 bit/200 MHz | 3A991.a
EL | Haftmagnet, Neodym | Neodymium holding magnet | NdFeB | NdFeB | 85051110 | 10 mm, 20 mm, 32 mm |
EL | Axialventilator | Axial fan | Stahlblech | sheet steel | 84145925 | 200 mm, 300 mm, 450 mm |
DF | O-Ring | O-ring | NBR 70 | NBR 70 | 4016930000 | 10x2 mm, 20x2,5 mm, 40x3 mm, 75x4 mm, 120x5 mm |
DF | Flachdichtung | Flat gasket | Graphit mit Stahleinlage | graphite with steel insert | 8484100000 | DN 25, DN 50, DN 100 |
DF | Gleitringdichtung | Mechanical seal | Siliziumkarbid | silicon carbide | 8484200000 | 20 mm, 32 mm, 45 mm |
DF | Ölfilter | Oil filter | Papier | paper | 8421230000 | M18x1,5, M20x1,5, M22x1,5 |
DF | Wasserfilter | Water filter | Polypropylen | polypropylene | 8421210000 | 5 µm, 25 µm, 100 µm |
DF | Plattenwärmetauscher | Plate heat exchanger | Edelstahl 1.4404 | stainless steel 1.4404 | 84195080 | 12 kW, 40 kW, 120 kW | 2B350.d
WZ | Spiralbohrer | Twist drill | HSS | HSS | 82075060 | 3 mm, 5,5 mm, 8 mm, 12 mm |
WZ | Schaftfräser | End mill | Vollhartmetall | solid carbide | 82077010 | 4 mm, 8 mm, 16 mm |
WZ | Schraubendreher | Screwdriver | Chrom-Vanadium-Stahl | chrome vanadium steel | 82054000 | PH 1, PH 2, TX 25 |
WZ | Drehmomentschlüssel | Torque wrench | Chrom-Vanadium-Stahl | chrome vanadium steel | 82041100 | 5-25 Nm, 20-100 Nm, 40-200 Nm |
WZ | Kreissägeblatt | Circular saw blade | Werkzeugstahl | tool steel | 82023100 | 190 mm, 250 mm, 315 mm |
WZ | Seitenschneider | Side cutter | Chrom-Vanadium-Stahl | chrome vanadium steel | 82032000 | 140 mm, 180 mm |
"""  # noqa: E501 - a table

LISTS = {
    "ersatzteile-zubehoer": "Ersatzteile & Zubehör",
    "handelsware": "Handelsware",
    # Empty, for the files that a reader of `docs/exchange.md` sends.
    "spare-parts": "Spare parts",
}

GROUPS = {
    "BF": Group(
        "ersatzteile-zubehoer",
        ("Hövelmann Schraubenwerk GmbH", "Viteria Valtorta S.r.l.", "Yongxin Fastener Co., Ltd."),
        ("Förderanlage FA 40", "Abfüllanlage AF 200", "Verpackungslinie VL 7"),
        ("Grundgestell", "Seitenverkleidung", "Umlenkstation"),
    ),
    "WL": Group(
        "ersatzteile-zubehoer",
        ("Wälzlager Kühnöl GmbH", "Łożyska Głowacki Sp. z o.o.", "Nishikado Bearing K.K."),
        ("Förderanlage FA 40", "Rührwerk RW 12", "Walzstraße WS 3"),
        ("Antriebswelle", "Spindellagerung", "Umlenkrolle"),
    ),
    "AT": Group(
        "ersatzteile-zubehoer",
        ("Brüggeney Antriebstechnik GmbH", "Transmisiones Ibarrola S.A.", "Hwaseon Drive Co., Ltd."),
        ("Förderanlage FA 40", "Portalroboter PR 5", "Verpackungslinie VL 7"),
        ("Hauptantrieb", "Vorschubachse", "Hubeinheit"),
    ),
    "PU": Group(
        "handelsware",
        ("Pumpenfabrik Österlind GmbH", "Kjærholm Pumper A/S", "Officine Bordoni S.p.A.", "Millbrook Fluid Inc."),
        ("Kühlkreislauf KK 2", "Abfüllanlage AF 200", "Hydraulikaggregat HA 9"),
        ("Vorlage", "Rücklauf", "Druckerzeugung"),
    ),
    "VT": Group(
        "handelsware",
        ("Armaturenwerk Größl GmbH", "Robinetterie Châteauvert SAS", "Gümüşçay Vana A.Ş."),
        ("Kühlkreislauf KK 2", "Abfüllanlage AF 200", "Reaktor RK 500"),
        ("Zulauf", "Ablauf", "Sicherheitsgruppe"),
    ),
    "MS": Group(
        "handelsware",
        ("Messtechnik Jägerndorfer GmbH", "Zähringer Sensorik AG", "Cascade Hollow Instruments Inc."),
        ("Reaktor RK 500", "Prüfstand PS 1", "Kühlkreislauf KK 2"),
        ("Messstrecke", "Regelkreis", "Bedienpult"),
    ),
    "EL": Group(
        "ersatzteile-zubehoer",
        ("Elektro Südharz GmbH", "Åkerblom Elteknik AB", "Shanlin Electronics Ltd.", "Cascade Hollow Instruments Inc."),
        ("Portalroboter PR 5", "Förderanlage FA 40", "Prüfstand PS 1"),
        ("Schaltschrank", "Feldverdrahtung", "Antriebsregelung"),
    ),
    "DF": Group(
        "ersatzteile-zubehoer",
        ("Dichtungstechnik Löwenfurth KG", "Těsnění Dvořáček s.r.o.", "Sealwright Products Ltd."),
        ("Hydraulikaggregat HA 9", "Kühlkreislauf KK 2", "Reaktor RK 500"),
        ("Filterstufe", "Wellendurchführung", "Flanschverbindung"),
    ),
    "WZ": Group(
        "handelsware",
        ("Werkzeugfabrik Rübsamen GmbH", "Ferramentas Trindade Lda.", "Taoyun Tools Co., Ltd."),
        ("Bearbeitungszentrum BZ 4", "Werkstatt"),
        ("Werkzeugmagazin", "Handwerkzeug"),
    ),
}

# Where the vendors make their goods, and the preferential origin that a supplier's declaration claims, if one does.
ORIGINS = {
    "Viteria Valtorta S.r.l.": ("IT", "EU"),
    "Yongxin Fastener Co., Ltd.": ("CN", ""),
    "Łożyska Głowacki Sp. z o.o.": ("PL", "EU"),
    "Nishikado Bearing K.K.": ("JP", "JP"),
    "Transmisiones Ibarrola S.A.": ("ES", "EU"),
    "Hwaseon Drive Co., Ltd.": ("KR", "KR"),
    "Kjærholm Pumper A/S": ("DK", "EU"),
    "Officine Bordoni S.p.A.": ("IT", "EU"),
    "Millbrook Fluid Inc.": ("US", ""),
    "Robinetterie Châteauvert SAS": ("FR", "EU"),
    "Gümüşçay Vana A.Ş.": ("TR", "TR"),
    "Zähringer Sensorik AG": ("CH", "CH"),
    "Cascade Hollow Instruments Inc.": ("US", ""),
    "Åkerblom Elteknik AB": ("SE", "EU"),
    "Shanlin Electronics Ltd.": ("TW", ""),
    "Těsnění Dvořáček s.r.o.": ("CZ", "EU"),
    "Sealwright Products Ltd.": ("GB", "GB"),
    "Ferramentas Trindade Lda.": ("PT", "EU"),
    "Taoyun Tools Co., Ltd.": ("TW", ""),
}
HOME = ("DE", "EU")


def _kind(line: str) -> Kind:
    group, german, english, german_material, english_material, ctn, sizes, eccn = (
        cell.strip() for cell in line.split("|")
    )
    return Kind(group, german, english, german_material, english_material, ctn, tuple(sizes.split(", ")), eccn)


KINDS = tuple(_kind(line) for line in _KINDS.strip().splitlines())

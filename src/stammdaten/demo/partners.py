"""The demo's business partners: invented persons and companies of many countries and scripts."""

from typing import Any, NamedTuple


class Partner(NamedTuple):
    """A person, or a company, whose name stands in `last_name`."""

    contact_uid: str
    gender: str
    first_name: str
    last_name: str
    street: str
    postal_code: str
    city: str
    country_or_region: str


# uid | gender | first name | last name | street | postal code | city | country
_PARTNERS = """
K-10001 | | | Maschinenbau Flörsheimer GmbH | Gießereistraße 14 | 65439 | Flörsheim | Deutschland
K-10002 | | | Österwald & Söhne KG | Am Mühlgraben 3 | 31020 | Salzhemmendorf | Deutschland
K-10003 | female | Annegret | Kühnemund | Lindenallee 27 | 04109 | Leipzig | Deutschland
K-10004 | male | Thorben | Wiesenhütter | Deichweg 8 | 26725 | Emden | Deutschland
K-10005 | | | Anlagentechnik Größwang Ges.m.b.H. | Industriezeile 55 | 4020 | Linz | Österreich
K-10006 | female | Notburga | Hinterplattner | Dorfplatz 2 | 6232 | Münster | Österreich
K-10007 | | | Zürrer Präzision AG | Fabrikstrasse 9 | 8400 | Winterthur | Schweiz
K-10008 | | | Ateliers Mécaniques Beaufoy SAS | 12 rue des Forges | 42000 | Saint-Étienne | Frankreich
K-10009 | female | Maëlle | Quéffelec-Durand | 4 place de l'Église | 29000 | Quimper | Frankreich
K-10010 | | | Meccanica Valsugana S.r.l. | Via dell'Artigianato 21 | 38051 | Borgo Valsugana | Italien
K-10011 | male | Ermenegildo | Tasselli | Corso Garibaldi 7 | 60121 | Ancona | Italien
K-10012 | | | Talleres Urrutibéascoa S.L. | Polígono Industrial 5 | 48200 | Durango | Spanien
K-10013 | female | Leocádia | Figueirinhas | Rua da Fonte 18 | 3810-193 | Aveiro | Portugal
K-10014 | | | Machinefabriek Ter Braakhuis B.V. | Kanaaldijk 33 | 7556 AB | Hengelo | Niederlande
K-10015 | male | Sjoerd | Wijnstra | Noorderkade 2 | 8601 ES | Sneek | Niederlande
K-10016 | | | Skagløse Maskinværk A/S | Havnegade 40 | 6700 | Esbjerg | Dänemark
K-10017 | female | Þórhildur | Skarphéðinsdóttir | Hafnargata 11 | 230 | Reykjanesbær | Island
K-10018 | | | Kullaberg Verkstad AB | Verkstadsgatan 6 | 263 39 | Höganäs | Schweden
K-10019 | male | Sverre | Bjørkmo | Fjordveien 15 | 6413 | Molde | Norwegen
K-10020 | | | Konepaja Hämäläinen & Pojat Oy | Tehtaankatu 19 | 15140 | Lahti | Finnland
K-10021 | | | Zakłady Mechaniczne Brzozówka Sp. z o.o. | ul. Przemysłowa 8 | 41-800 | Zabrze | Polen
K-10022 | female | Bożydara | Wąsikiewicz | ul. Różana 5 | 50-228 | Wrocław | Polen
K-10023 | | | Strojírny Křivánek s.r.o. | Nádražní 102 | 702 00 | Ostrava | Tschechien
K-10024 | male | Győző | Szentgyörgyvölgyi | Kossuth utca 9 | 9021 | Győr | Ungarn
K-10025 | | | Uzinele Codrișor S.R.L. | Strada Fabricii 44 | 400624 | Cluj-Napoca | Rumänien
K-10026 | female | Ралица | Черногорова | ул. Оборище 23 | 1504 | София | Bulgarien
K-10027 | male | Θεμιστοκλής | Παπαζαφείρης | Οδός Εγνατία 88 | 546 23 | Θεσσαλονίκη | Griechenland
K-10028 | | | Strojarstvo Žganjer d.o.o. | Ulica Ljudevita Gaja 3 | 42000 | Varaždin | Kroatien
K-10029 | female | Daiņuvīte | Ķirsone | Brīvības iela 71 | LV-1001 | Rīga | Lettland
K-10030 | | | Ballyknock Engineering Ltd. | 3 Mill Lane | H91 X4K2 | Galway | Irland
K-10031 | | | Thistlewick Tooling plc | 27 Foundry Road | S3 8EN | Sheffield | Vereinigtes Königreich
K-10032 | female | Євпраксія | Барвінченко | вул. Соборна 14 | 21050 | Вінниця | Ukraine
K-10033 | | | Yağmurdere Makine Sanayi A.Ş. | Organize Sanayi Bölgesi 12. Cadde | 16140 | Bursa | Türkei
K-10034 | male | Çağlayan | Gümüşsoylu | Çiçek Sokak 6 | 35220 | İzmir | Türkei
K-10035 | female | თინათინ | ბერიაშვილიძე | რუსთაველის გამზირი 31 | 0108 | თბილისი | Georgien
K-10036 | male | Վարազդատ | Սարգսանյանց | Աբովյան փողոց 17 | 0001 | Երևան | Armenien
K-10037 | female | אביטל | בן־שושנים | רחוב הרצל 45 | 3303405 | חיפה | Israel
K-10038 | | | شركة نسيم البحر للمعدات الصناعية | شارع الميناء 7 | | جدة | Saudi-Arabien
K-10039 | female | شيماء | الياسمينى | شارع النيل 112 | 11511 | القاهرة | Ägypten
K-10040 | | | Société Atlas-Oulmès d'Équipement SARL | 58 boulevard Zerktouni | 20100 | Casablanca | Marokko
K-10041 | | | पवनपुत्र यन्त्र उद्योग प्राइवेट लिमिटेड | औद्योगिक क्षेत्र 4 | 411019 | पुणे | Indien
K-10042 | female | ประภาวดี | ศรีสุวรรณรัตน์ | 88 ถนนสุขุมวิท | 10110 | กรุงเทพมหานคร | Thailand
K-10043 | male | Phước Khánh | Nguyễn Đoàn | 25 Đường Lê Lợi | 550000 | Đà Nẵng | Vietnam
K-10044 | | | 宁波晨曦轴承制造有限公司 | 工业大道66号 | 315000 | 宁波 | China
K-10045 | female | 清瑶 | 欧阳 | 中山路18号 | 210000 | 南京 | China
K-10046 | | | 株式会社西門製作所 | 本町3丁目2-1 | 541-0053 | 大阪市 | Japan
K-10047 | male | 翔太郎 | 鬼頭 | 桜通4-5 | 450-0002 | 名古屋市 | Japan
K-10048 | female | 하늘빛 | 남궁 | 해운대로 77 | 48094 | 부산 | Südkorea
K-10049 | | | 桃雲工具股份有限公司 | 中正路120號 | 330 | 桃園市 | Taiwan
K-10050 | | | Millbrook Fluid Inc. | 1400 Harbor Avenue | 97203 | Portland, OR | Vereinigte Staaten
K-10051 | female | Philippa | Wrenfield-Okafor | 22 Maple Court | 53202 | Milwaukee, WI | Vereinigte Staaten
K-10052 | | | Outillage Rivière-aux-Loutres Inc. | 310 chemin du Moulin | G5R 3Z9 | Rivière-du-Loup | Kanada
K-10053 | male | Cuauhtli | Ibargüengoitia | Calle 5 de Mayo 61 | 72000 | Puebla | Mexiko
K-10054 | | | Metalúrgica Serra Azul Ltda. | Avenida Industrial 900 | 89219-600 | Joinville | Brasilien
K-10055 | | | Kudu Ridge Engineering (Pty) Ltd | 16 Assembly Street | 6001 | Gqeberha | Südafrika
K-10056 | female | Wangechi | Nyambura-Odhiambo | Ngong Road 140 | 00100 | Nairobi | Kenia
K-10057 | | | Wattlebird Mining Supplies Pty Ltd | 9 Quarry Crescent | 6330 | Albany | Australien
K-10058 | male | Айдархан | Жексенбайұлы | Абай даңғылы 52 | 050000 | Алматы | Kasachstan
K-10059 | male | Casimir Ottokar | Brandtholm-Velde | Laugavegur 200 | 105 | Reykjavík | Island
K-10060 | male | Feofan | Saosjorski | Dostyk 88 | 050010 | Almaty | Kasachstan
K-10061 | | | Obsidian Harbor Forwarding | Calle 50 | 0801 | Ciudad de Panamá | Panama
K-10062 | | | ??? | | | |
K-10063 | | | Fauler Zauber Handels GmbH | Nebelgasse 13 | 38855 | Wernigerode | Deutschland
K-10064 | male | Wendelin | Trübswetter | Moorweg 1 | 26345 | Bockhorn | Deutschland
"""

WATCHED = {"K-10033", "K-10038", "K-10044", "K-10058"}
ARCHIVED = {"K-10004", "K-10025", "K-10040"}
# What the clerks noted later, in this order.
NOTES = {
    "K-10001": ["Rahmenvertrag bis Jahresende, Ansprechpartner ist der Einkauf."],
    "K-10033": [
        "Endverbleibserklärung für Kugelhähne angefordert.",
        "Endverbleibserklärung liegt vor, Original in der Akte.",
    ],
    "K-10038": ["Ships via Jeddah; ask for the end user before each order."],
    "K-10044": ["Lieferantenerklärung fehlt noch."],
    "K-10046": ["Präferenznachweis nach EU-Japan-Abkommen: Erklärung zum Ursprung genügt."],
    "K-10058": ["Weiterverkauf nach außerhalb ausgeschlossen, schriftlich bestätigt."],
}
COMMENTS = {
    "K-10002": "Zahlt mit Skonto.",
    "K-10031": "Seit dem Austritt: Ausfuhranmeldung nötig.",
    "K-10050": "Lieferant und Kunde.",
}
# Numbers that are kept free for films and examples.
_PHONES = {
    "Deutschland": "+49 171 39200 {:02d}",
    "Vereinigtes Königreich": "+44 7700 9000{:02d}",
    "Vereinigte Staaten": "+1 503 555 01{:02d}",
}


def _partner(line: str) -> Partner:
    return Partner(*(cell.strip() for cell in line.split("|")))


PARTNERS = tuple(_partner(line) for line in _PARTNERS.strip().splitlines())


def contact_of(partner: Partner) -> dict[str, Any]:
    """Return a partner as an ERP system would send it in `contact`."""
    number = int(partner.contact_uid[-2:])
    return {
        **partner._asdict(),
        "email": f"{partner.contact_uid.lower()}@partner.example",
        "phone": _PHONES.get(partner.country_or_region, "").format(number),
        "comment": COMMENTS.get(partner.contact_uid, ""),
        "is_watchlist": partner.contact_uid in WATCHED,
    }

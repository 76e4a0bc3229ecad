"""Countries by code, by name in nine languages, and as sanctions lists spell them; knows no list format."""

import re
import unicodedata
from functools import cache, lru_cache

from babel import Locale
from babel.core import get_global

_LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pl", "pt", "tr")
# CLDR's groups, pseudo-locales and the unknown; XK, Kosovo, is no code of ISO 3166 but used by all.
_NO_COUNTRIES = {"EU", "EZ", "UN", "QO", "XA", "XB", "ZZ"}
_LONGEST = 200

# Spellings of the lists (UN, OFAC, EU, UK, SECO, Canada) and of everyday, that CLDR does not have.
_SPELLINGS = {
    "AE": "UAE; U.A.E.; Emirates; Emirati; Emirian; Vereinigte Arab. Emirate",
    "AF": "Islamic Republic of Afghanistan; Afghan; Afghani",
    "AG": "Antigua",
    "AL": "Albanian",
    "AM": "Armenian; Republic of Armenia",
    "AO": "Angolan",
    "AR": "Argentine; Argentinian; Argentinean",
    "AT": "Austrian",
    "AU": "Australian; Commonwealth of Australia",
    "AZ": "Azeri; Azerbaijani; Republic of Azerbaijan",
    "BA": "Bosnia; Bosnia-Herzegovina; Bosnian",
    "BD": "Bangladeshi",
    "BE": "Belgian",
    "BF": "Burkinabe",
    "BG": "Bulgarian",
    "BH": "Bahraini; Kingdom of Bahrain",
    "BI": "Burundian",
    "BJ": "Beninese",
    "BN": "Brunei Darussalam",
    "BO": "Bolivian; Plurinational State of Bolivia",
    "BR": "Brazilian; Brasil",
    "BS": "Bahamas, The; The Bahamas; Bahamian",
    "BW": "Botswanan",
    "BY": "Belarusian; Belarussian; Republic of Belarus; Byelorussia",
    "CA": "Canadian",
    "CD": "DRC; D.R.C.; DR Congo; Congo, Democratic Republic of the; Congo, Democratic Republic; "
    "Congo (Democratic Republic); Congo, The Democratic Republic of the; Democratic Republic of the Congo; "
    "Democratic Republic of Congo; Zaire; Congo, Dem. Rep.; Demokratische Republik Kongo; Congo DR",
    "CF": "CAR; Central African",
    "CG": "Republic of the Congo; Congo, Republic of the; Congo Republic; Republic of Congo; Congo",
    "CH": "Swiss; Swiss Confederation",
    "CI": "Ivory Coast; Cote d Ivoire; Cote d'Ivoire; Ivorian",
    "CL": "Chilean",
    "CM": "Cameroonian",
    "CN": "PRC; P.R.C.; People's Republic of China; P.R. China; PR China; China (mainland); Mainland China; Chinese; "
    "VR China; Volksrepublik China; China, People's Republic of",
    "CO": "Colombian",
    "CR": "Costa Rican",
    "CU": "Cuban",
    "CV": "Cape Verde; Cabo Verde",
    "CY": "Cypriot; Republic of Cyprus",
    "CZ": "Czech Republic; Czech; Czechia",
    "DE": "German; Federal Republic of Germany; BRD; Bundesrepublik Deutschland; Allemagne",
    "DJ": "Djiboutian",
    "DK": "Danish",
    "DO": "Dominican Rep.",
    "DZ": "Algerian; People's Democratic Republic of Algeria",
    "EC": "Ecuadorian; Ecuadorean",
    "EE": "Estonian",
    "EG": "Egyptian; Arab Republic of Egypt",
    "ER": "Eritrean",
    "ES": "Spanish; Kingdom of Spain",
    "ET": "Ethiopian",
    "FI": "Finnish",
    "FM": "Micronesia; Micronesia, Federated States of; Federated States of Micronesia",
    "FR": "French; French Republic",
    "GA": "Gabonese",
    "GB": "UK; U.K.; Great Britain; Britain; England; Scotland; Wales; Northern Ireland; British; "
    "United Kingdom of Great Britain and Northern Ireland; Grossbritannien; English; Scottish",
    "GE": "Georgian; Georgia, Republic of; Republic of Georgia",
    "GH": "Ghanaian",
    "GM": "Gambia, The; The Gambia; Gambian",
    "GN": "Guinean; Republic of Guinea",
    "GR": "Greek; Hellenic Republic",
    "GT": "Guatemalan",
    "GW": "Guinea Bissau",
    "GY": "Guyanese",
    "HK": "Hong Kong; Hong Kong SAR; Hongkong; China, Hong Kong Special Administrative Region; Hong Kong, China",
    "HN": "Honduran",
    "HR": "Croatian",
    "HT": "Haitian",
    "HU": "Hungarian",
    "ID": "Indonesian",
    "IE": "Irish; Republic of Ireland; Eire",
    "IL": "Israeli; State of Israel",
    "IN": "Indian; Republic of India",
    "IQ": "Iraqi; Republic of Iraq",
    "IR": "Islamic Republic of Iran; Iran, Islamic Republic of; Iranian; Persia; IRI",
    "IS": "Icelandic",
    "IT": "Italian; Italian Republic",
    "JM": "Jamaican",
    "JO": "Jordanian; Hashemite Kingdom of Jordan",
    "JP": "Japanese",
    "KE": "Kenyan",
    "KG": "Kyrgyz Republic; Kyrgyz; Kirghizia; Kirgizia",
    "KH": "Cambodian",
    "KM": "Comoran; Comorian",
    "KN": "Saint Kitts and Nevis; St. Kitts and Nevis",
    "KP": "Korea, North; North Korea; DPRK; D.P.R.K.; Democratic People's Republic of Korea; North Korean; "
    "Korea, Democratic People's Republic of; Korea (North); Democratic Peoples Republic of Korea; Korea DPR",
    "KR": "Korea, South; South Korea; Republic of Korea; Korea, Republic of; Korea (South); ROK; South Korean",
    "KW": "Kuwaiti",
    "KZ": "Kazakh; Kazakhstani; Republic of Kazakhstan",
    "LA": "Lao People's Democratic Republic; Laotian; Lao; Lao PDR",
    "LB": "Lebanese; Lebanese Republic",
    "LK": "Sri Lankan; Ceylon",
    "LR": "Liberian",
    "LT": "Lithuanian",
    "LV": "Latvian",
    "LY": "Libyan; Libyan Arab Jamahiriya; State of Libya",
    "MA": "Moroccan; Kingdom of Morocco",
    "MD": "Republic of Moldova; Moldova, Republic of; Moldovan",
    "ME": "Montenegrin",
    "MG": "Malagasy",
    "MK": "Macedonia; FYROM; Former Yugoslav Republic of Macedonia; Macedonian; "
    "Macedonia, The Former Yugoslav Republic of; Republic of North Macedonia; North Macedonia, The Republic of",
    "ML": "Malian",
    "MM": "Burma; Burmese; Republic of the Union of Myanmar",
    "MN": "Mongolian",
    "MO": "Macao; Macau; Macau SAR; China, Macao Special Administrative Region",
    "MR": "Mauritanian",
    "MT": "Maltese",
    "MU": "Mauritian",
    "MV": "Maldivian",
    "MW": "Malawian",
    "MX": "Mexican; United Mexican States",
    "MY": "Malaysian",
    "MZ": "Mozambican",
    "NA": "Namibian",
    "NG": "Nigerian; Federal Republic of Nigeria",
    "NI": "Nicaraguan",
    "NL": "Holland; The Netherlands; Netherlands, The; Netherlands, Kingdom of the; Kingdom of the Netherlands; Dutch",
    "NO": "Norwegian; Kingdom of Norway",
    "NP": "Nepalese; Nepali",
    "NZ": "New Zealander",
    "OM": "Omani; Sultanate of Oman",
    "PA": "Panamanian",
    "PE": "Peruvian",
    "PH": "The Philippines; Filipino; Philippine; Republic of the Philippines",
    "PK": "Pakistani; Islamic Republic of Pakistan",
    "PL": "Polish; Republic of Poland",
    "PS": "Palestinian; Palestine; State of Palestine; West Bank; Gaza; Gaza Strip; Occupied Palestinian Territory; "
    "Occupied Palestinian Territories; Palestinian Territory; Palestine, State of; Palestinian Territory, Occupied; "
    "Palestinian Territories",
    "PT": "Portuguese",
    "PY": "Paraguayan",
    "QA": "Qatari; State of Qatar",
    "RO": "Romanian; Rumania",
    "RS": "Serbian; Republic of Serbia",
    "RU": "Russian Federation; Russian; RF; Russische Foederation",
    "RW": "Rwandan",
    "SA": "Saudi; Saudi Arabian; Kingdom of Saudi Arabia; KSA; K.S.A.",
    "SD": "Sudanese; Republic of the Sudan; The Sudan; Sudan (the)",
    "SE": "Swedish; Kingdom of Sweden",
    "SG": "Singaporean",
    "SI": "Slovenian; Slovene",
    "SK": "Slovak Republic; Slovak",
    "SL": "Sierra Leonean",
    "SN": "Senegalese",
    "SO": "Somali; Federal Republic of Somalia",
    "SS": "South Sudanese; Republic of South Sudan; Sudan, South",
    "ST": "Sao Tome and Principe",
    "SV": "Salvadoran; Salvadorian",
    "SY": "Syrian Arab Republic; Syrian",
    "SZ": "Swaziland; Kingdom of Eswatini",
    "TD": "Chadian",
    "TG": "Togolese",
    "TH": "Thai; Kingdom of Thailand",
    "TJ": "Tajik; Tajikistani",
    "TL": "East Timor; Timor Leste",
    "TM": "Turkmen",
    "TN": "Tunisian",
    "TR": "Turkey; Turkish; Republic of Turkey; Republic of Turkiye; Turkiye, Republic of",
    "TT": "Trinidad; Trinidadian",
    "TW": "Taiwan, Province of China; Taiwan, China; Taiwanese; Chinese Taipei; Republic of China; Taiwan (China)",
    "TZ": "United Republic of Tanzania; Tanzania, United Republic of; Tanzanian",
    "UA": "Ukrainian",
    "UG": "Ugandan",
    "US": "USA; U.S.A.; U.S.; United States of America; American; America; Vereinigte Staaten von Amerika",
    "UY": "Uruguayan",
    "UZ": "Uzbek; Uzbekistani; Republic of Uzbekistan",
    "VA": "Holy See; Vatican",
    "VC": "Saint Vincent and the Grenadines; St. Vincent and the Grenadines; Saint Vincent",
    "VE": "Venezuelan; Bolivarian Republic of Venezuela; Venezuela, Bolivarian Republic of",
    "VG": "Virgin Islands, British; British Virgin Islands; BVI",
    "VI": "Virgin Islands, U.S.; US Virgin Islands",
    "VN": "Viet Nam; Vietnamese; Socialist Republic of Vietnam",
    "XK": "Kosovan; Kosovar; Republic of Kosovo",
    "YE": "Yemeni; Republic of Yemen",
    "ZA": "Republic of South Africa; South African; RSA",
    "ZM": "Zambian",
    "ZW": "Zimbabwean",
}
# Letters that are not a plain one with a mark: the Turkish i without a dot and the Polish l with a stroke.
_WHOLE_LETTERS = {0x131: "i", 0x142: "l"}
_UMLAUTS = str.maketrans(
    {"\u00c4": "Ae", "\u00d6": "Oe", "\u00dc": "Ue", "\u00e4": "ae", "\u00f6": "oe", "\u00fc": "ue"}
)
# `Bolivia (Plurinational State of)`: what stands in brackets is the rest of the official name.
_OFFICIAL_REST = re.compile(r"\s*\((?:the|[^()]* of(?: the)?)\)$", re.IGNORECASE)


def _folded(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold().translate(_WHOLE_LETTERS))
    letters = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    # Without its stops `U.S.A.` is one word.
    words = re.sub(r"[^\w]+", " ", letters.replace(".", "").replace("'", " ").replace("&", " and ")).split()
    return " ".join(words[1:] if len(words) > 1 and words[0] == "the" else words)


@cache
def _countries() -> dict[str, str]:
    """Return the codes by folded name; earlier languages go before later ones, the lists' spellings before all."""
    names: dict[str, str] = {}
    for code, spellings in _SPELLINGS.items():
        names.update((_folded(spelling), code) for spelling in spellings.split(";"))
    codes: set[str] = set()
    for language in _LANGUAGES:
        for code, name in Locale(language).territories.items():
            if len(code) == len("DE") and code not in _NO_COUNTRIES:
                codes.add(code)
                names.setdefault(_folded(name), code)
                if language == "de":
                    names.setdefault(_folded(name.translate(_UMLAUTS)), code)
    for alias, replacements in get_global("territory_aliases").items():
        if len(alias) == len("DEU") and alias.isalpha() and len(replacements) == 1:
            names.setdefault(alias.lower(), replacements[0])
    names.update((code.lower(), code) for code in codes)
    return names


@lru_cache(maxsize=10_000)
def country_code(text: str) -> str:
    """Return the ISO 3166-1 alpha-2 code of a country, empty if it is not known.

    Understood are codes (alpha-2, alpha-3), names in English, German, French, Spanish, Italian, Dutch, Polish,
    Portuguese and Turkish, the spellings of sanctions lists (`Korea, North`, `Iran (Islamic Republic of)`,
    `Belarus / Bélarus`) and English adjectives of nationality (`Syrian`). Kosovo is `XK`.
    """
    if not text or len(text) > _LONGEST:
        return ""
    countries = _countries()
    last, _, first = text.partition(", ")
    for spelling in (text, _OFFICIAL_REST.sub("", text), f"{first} {last}"):
        if code := countries.get(_folded(spelling)):
            return code
    named_twice = {countries.get(_folded(name), "") for name in text.split(" / ")}
    return named_twice.pop() if len(named_twice) == 1 else ""

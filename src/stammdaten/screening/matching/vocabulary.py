"""Words that mean little or the same: particles, titles, legal forms, words of trade. Knows no lists, no scores.

Everything is written as `fold` writes it; in texts of several words a bar ends each.
"""

from functools import lru_cache

_SPELLED_OUT = 5  # letters: `G.m.b.H.` is folded to single letters


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Said or left out at will: they neither find nor contradict.
PARTICLES = _words("""
    aal ad af after ag al an and ar as ash at av az ben bin bint binti da das de degli del della dello den der
    des di do dos du e el en et for fur i ibn im imeni la las le les los na named no of ould pour ten ter the ul
    und ur van vom von y ye zi zu zum zur
""")

TITLES = _words("""
    admiral al-hajj ambassador ayatollah bishop brig brigadier capt captain cdr cheikh col colonel commander
    dame deputy dipl doctor doktor don dona dr emir eng engineer esq father fr frau gen general gospodin
    governor hadj hadji haj haji hajj hajji herr hojatoleslam hon hr imam ing jr judge junior justice king
    lady lieutenant lord lt madame mag maj major marshal maulana maulavi maulawi mawlana mawlawi mba md minister
    miss mister mlle mme molvi monsieur moulavi mr mrs ms msc mulla mullah mullahs pastor phd president prince
    princess prof professor qari rev reverend senator senior senor senora sergeant sgt shaikh shaykh sheik
    sheikh sheykh sir sr sra ustad ustaz
""")

# Particles and titles that are given names or surnames as well: two of them are a name.
NAMES_AS_WELL = _words("an bishop da das di do don general judge justice king lord major marshal prince van")

# What people type who know no name.
PLACEHOLDERS = _words("""
    anonym anonymous desconocido inconnu keine na nil nn none null tba tbd unbekannt unknown xx xxx xxxx
""")

# What the commonest Arabic words become without vowels: too few consonants to be compared by them.
WITH_VOWELS = {
    "BN": "bin",
    "BNT": "bint",
    "L": "al",
    "AL": "al",
    "BD": "abd",
    "BW": "abu",
    "BY": "abi",
    "LY": "ali",
    "MHMD": "mohammed",
    "HSN": "hassan",
    "HSYN": "hussein",
    "LLH": "allah",
    "BDLLH": "abdullah",
}

# A party of another legal form may be another party; the same form in another language is the same.
_FORMS = {
    "limited": (
        """
    gmbh mbh ltd limited llc lc ooo tov sarl srl sprl bv bvba doo sro zoo spzoo kft oy eood ood uab sia ou lda
    ltda lllc pte pty pvt private tnhh sdn bhd fze fzc fzco dmcc wll jlt dwc ldt lmtd llp unlimited ug sdnbhd
    too mchj gesmbh
""",
        """
    gesellschaft mit beschrankter haftung | gesellschaft mit beschraenkter haftung | limited liability company |
    sp z o | spolka z ograniczona odpowiedzialnoscia | spolka z o | obshchestvo s ogranichennoy otvetstvennostyu
    | obschestvo s ogranichennoi otvetstvennostyu | tovarystvo z obmezhenoyu vidpovidalnistyu | societe a
    responsabilite limitee | societa a responsabilita limitata | societatea cu raspundere limitata | sociedad de
    responsabilidad limitada | s de r l | s de rl | s de r l c v | s de rl cv | limited company | private
    limited | pvt ltd | pte ltd | free zone establishment | limited sirketi | ltd sti | anonim sirketi |
    obshchestvo s ogranichennoj otvetstvennostyu
""",
    ),
    "stock": (
        """
    ag akg aktiengesellschaft sa spa saa sae sal sak sab saic plc inc incorporated incorporation corp
    corporation jsc cjsc ojsc pjsc oao zao pao ao nao ab asa nv kk oyj as ad akc eksi bsc psc pjs pat prat at se
    sca saog jscb asb tbk
""",
        """
    joint stock company | joynt stock company | open joint stock company | closed joint stock company | public
    joint stock company | private joint stock company | aktsionernoe obshchestvo | akcionerno drustvo |
    aktsionerne tovarystvo | otkrytoe aktsionernoe obshchestvo | zakrytoe aktsionernoe obshchestvo | publichnoe
    aktsionernoe obshchestvo | aktsionernoye obshchestvo | otkrytoye aktsionernoye obshchestvo | zakrytoye
    aktsionernoye obshchestvo | publichnoye aktsionernoye obshchestvo | societe anonyme | sociedad anonima |
    societa per azioni | sociedade anonima | s a de c v | sa de cv | s p a | public limited company | public
    company | spolka akcyjna | naamloze vennootschap | anonim sirketi | anonim sti | societate pe actiuni | a s
    | a d | kabushiki kaisha | kabushiki gaisha
""",
    ),
    "partnership": (
        """
    kg ohg lp gbr kgaa snc sas scs eurl
""",
        """
    limited partnership | gmbh and co kg | gmbh co kg | s a
""",
    ),
    "enterprise": (
        """
    fgup gup fsue sue pe ip chp ep
""",
        """
    federal state unitary enterprise | state unitary enterprise | federalnoe gosudarstvennoe unitarnoe
    predpriyatie
""",
    ),
    "company": (
        """
    co company companies coy cie compagnie compania companhia kompaniya kompania kompanya kompani firma firm
    gesellschaft sirketi sherkat shirkat obshchestvo est establishment
""",
        """
    and co | and company | und co | y cia | and sons | and bros
""",
    ),
}

# Words of trade, place and order that many parties share; they say little of which party it is.
GENERAL_WORDS = _words("""
    aerospace concern defence defense military security space
    branch filiale niederlassung zweigniederlassung office repraesentanz representative succursale sucursal
    austria austrian oesterreich luxembourg luxemburg luxembourgeoise schweiz suisse switzerland swiss frankreich france
    italia italien italy polska polen poland nederland netherlands belgium belgique tuerkei turkey turkiye
    hamburg frankfurt berlin muenchen wien zuerich london paris dubai
    academy africa african air airlines america american asia asian association aviation bank banking bros
    brothers business capital cargo center central centre chemical chemicals china chinese commercial
    construction consultancy consulting cuba cuban deutsche deutschland development dubai east eastern
    electronic electronics energy engineering enterprise enterprises equipment estate europe european exchange
    export exports factory federal finance financial foundation fund gas general germany global group groupe
    grup grupo gruppa gruppe gulf holding holdings hong hongkong impex import imports industria industrial
    industries industry institute insurance int international intl invest investment investments iran iranian
    iraq iraqi joint kong korea korean line lines logistic logistics machine machinery management marine
    maritime materials metal metals middle mining money moscow national navigation new north northern oil
    organisation organization partners petroleum plant production products property public real republic
    research resources russia russian scientific service services servicing ship shipmanagement shipping
    singapore solutions south southern state steel stock supplies supply syria syrian system systems tanker tech
    technologies technology tehran trade trading tradings transport transportation trust turkey uae uk union
    university usa west western works worldwide
""")

_SAME_WORDS = """
    air airline airlines airways avia aviation | oil petroleum neft | gaz gas | shirkat sherkat |
    intl int international internacional internazionale internationale mezhdunarodny | bros brothers | co
    company cie compagnie | mfg manufacturing | tech technology technologies technical | ind industry industries
    industrial | org organization organisation | assn assoc association | univ university | inst institute
    institut | dept department | govt government | natl national | corp corporation | bk bank banque banco
    bankas banka | eng engineering | mgmt management | svc svcs service services | sys system systems | ctr
    center centre central | trading trade trd torgovy | shipping ship | logistics logistic | invest investment
    investments | hldg hldgs holding holdings | grp group | elec electric electronic electronics | chem chemical
    chemicals | constr construction | dev development | gen general | imp import imports | exp export exports |
    pharma pharmaceutical pharmaceuticals | petro petroleum | intel intelligence | saint st sankt san | mount mt
    | fort ft | us usa | united utd | and und et y
"""


@lru_cache(maxsize=1)
def forms() -> dict[str, str]:
    """Return the class of each legal form: words, and several words with spaces between them."""
    classes = {}
    for form, (words, phrases) in _FORMS.items():
        for word in words.split():
            classes[word] = form
            if len(word) <= _SPELLED_OUT:
                classes[" ".join(word)] = form
        for phrase in phrases.split("|"):
            classes[" ".join(phrase.split())] = form
    return classes


@lru_cache(maxsize=1)
def longest_forms() -> dict[str, int]:
    """Return how many words the longest legal form has that begins with a word."""
    longest: dict[str, int] = {}
    for form in forms():
        first, *more = form.split()
        longest[first] = max(longest.get(first, 0), 1 + len(more))
    return longest


_MEANINGS = {word: number for number, group in enumerate(_SAME_WORDS.split("|")) for word in group.split()}


def word_group(word: str) -> frozenset[str]:
    """Return a mark that a word of trade shares with those of the same meaning."""
    return frozenset({f"w{_MEANINGS[word]}"} if word in _MEANINGS else ())


def same_word(word: str, other: str) -> bool:
    """Return whether two words of trade mean the same: `intl` and `international`."""
    meaning = _MEANINGS.get(word)
    return meaning is not None and meaning == _MEANINGS.get(other)

"""Words that claim nothing by themselves: by language, and what tells the language of a text."""

from __future__ import annotations

import re
from functools import lru_cache

from habilis.core.patterns import lazy_pattern

FUNCTION = {
    "german": """aber alle allem allen aller alles als also am an auch auf aus außerdem bei beim bereits bis da dabei
        damit danach dann daraus das dass davon dazu dem den denen denn der deren des dessen die dies diese diesem
        diesen dieser dieses doch dort durch ein eine einem einen einer eines er es etwa für gegen gibt haben hat
        hatte hatten hier hinter ich ihm ihn ihr ihre ihrem ihren ihrer im in insgesamt ist ja jede jedem jeden jeder
        jedes jedoch kann kein keine keinen können laut man mehr mit nach nein nicht noch nur ob oder ohne rund sehr
        sein seine seinem seinen seiner sich sie sind so sondern sowie über um und uns unter vom von vor war waren
        was weil welche welcher welches wenn wer werden wessen wie wieder wird wo wurde wurden zu zum zur zwischen""",
    "english": """a about above according after again all also although an and any are as at be because been before
        being below between both but by can cannot could did do does done down during each either else every few for
        from had has have he her here hers him his how however i if in into is it its itself just like many may me
        might more most much must my near neither no none nor not of off on once one only onto or other our out over
        own per same she should since so some such than that the their them then there therefore these they this
        those though through thus to too under until up upon us using very via was we were what when where whereas
        which while who whom whose why will with within without would yes yet you your""",
    "french": """à afin ainsi alors après au aucun aussi autre aux avant avec avoir car ce cela ces cet cette ceux
        chaque chez ci comme dans de depuis des donc dont du elle elles en encore entre est et été être eu fait il
        ils je jusque la le les leur leurs lors lorsque lui mais même moins ne ni non nos notre nous on ont ou où oui
        par parce pas pendant peu plus pour pourquoi qu quand que quel quelle quelles quels qui quoi sa sans selon
        ses si son sont sous sur ta tandis tous tout toute toutes très un une vers voici vos votre vous y""",
    "spanish": """a al algo algunos ante antes así aunque cada como con contra cual cuando cuándo cuánto cuántos
        cuál de del desde donde dónde dos durante e el él ella ellas ellos en entre era es esa ese eso esta está
        están estas este esto estos fue fueron ha había han hasta hay la las le les lo los más me menos mi mientras
        muy ni no nos o otra otro para pero por porque pues qué que quien quién se según ser si sí sin sobre son su
        sus también tan tiene todas todo todos tras un una uno unos y ya""",
    "italian": """al alla anche che chi ci come con da dal dalla dei del della delle di dove e è gli ha hanno il
        in io la le lo ma nel nella non per più quale quando quanto questo se si sono su sul tra un una""",
    "portuguese": """ao aos as com como da das de do dos e é ela ele em entre é foi há isso mais mas na não nas no
        nos o os ou para pela pelo por quando que quem são se sem seu sua também um uma""",
    "dutch": """aan als bij dat de deze die dit door een en er het hij hoe hun ik in is maar met naar niet nog of om
        ook op over te tot uit van voor waar was wat werd wie wordt zijn ze""",
}
"""Words of grammar by language."""

_OPENING = """about access account accuracy action actual additionally address adults adding after age agreement aim
    alternatively although amount analysis annual answer answers applications applying approximately area areas argument
    array arrival article articles assuming at attendance author authors availability average averages balance bar base
    based because before beginning best between both bottom budget building calculate calculated calculating calculation
    capacity case cases category cause certain change changes characters check checking children cities city class clear
    code color colour colours column columns combined compare compared comparing comparison computing conclusion
    considering consumption content contents context continue contract contracts converting cost costs count counting
    counts countries country create created creation criteria currency current currently customer customers daily data
    dataset date dates day days decimal decrease definition deliveries delivery demand departure description despite
    detail details determine development difference different direct distance distances distribution document documents
    domestic download due duration during early earnings efficiency eight either electricity eleven elements emissions
    empty encoding end energy engine entries entry error errors especially estimate evaluation even event events every
    everyone evidence exactly example except exchange existing expected expenses explanation export extract extracted
    extracting failure female field fields figure figures file files final finally find finding findings first five
    following food for format found four frequency from full function furthermore further general generally given giving
    good government gross group groups growth half health height hence high higher highest history hours house
    households however id identified image import importantly imports in income increase increased index industry
    inflation information input instead interest international internet inventory invoice invoices item items its job
    join joint key keys large larger largest last lastly late latest law least length less let level levels life light
    likely line lines link links list listed lists local location locations log logs long longest loss losses lower
    lowest main maintenance major male manufacturing many margin market match matches matching material maximum mean
    meanwhile measured measurement measurements median meeting members men mentioned message messages method metric
    minimum missing mode model module month monthly months more moreover most moving multiple multiplying name named
    names national natural net new next nine no none normal notably note notes nothing notice now number numbers object
    objects observation observations occurrences officials of office old once one online only open operating operation
    opposite option options order orders original other others otherwise our out output outside over overall own page
    pages paid parameter part participants particularly parts passengers patients pattern payment payments peak people
    per percentage percent performance period person phone place plan plants platform please point points population
    position possible power present previous previously price prices primary prime private probability problem process
    product production products profit profits program project projects properties property provided public quality
    quantity quarter question questions quick rain rainfall range rank ranked ranking ranks rate rates rather ratio
    reading reason reasons recent recently record recorded records reference region regions regular related relative
    remaining report reported reports requirements research residents response result results retail return returned
    returns revenue reverse right risk road room round rounded rounding row rows rule rules salary sales same sample
    schedule school science score scores search season second secondly section sector security see select sentence
    sentences separate sequence service services session seven several shape share shares shipping shop short shortest
    side similar similarly simple simply since single site six size sizes small smaller smallest software solution some
    sometimes sort sorted sorting source sources space special speed staff standard start started starting state station
    stations statistics status step steps still stock storage string strings structure student students subject
    subsequently substituting subtotal subtracting sum summary summing supply support surface system table tables
    target task tasks tax teachers team teams technology temperature temperatures ten term terms test text thanks then
    third this those three thus ticket tickets time times title today together top topic total totals town trade
    traffic train trains transport travel trip true twelve twenty two type types unfortunately unit units unknown unless
    unlike update updated usage use used user users using valid value values variable various version versions
    visitors volume votes wages water wave way weather website week weekly weeks weight while whole wind winner
    winners winter with women word words work workers working world year years yearly yes yield you zero"""
"""English words that begin sentences and headings of answers; capitalised there, they name nobody."""
_OTHERS = """outlook
    north south east west northern southern eastern western president minister king queen mr mrs ms dr prof
    sir madam herr frau monsieur madame señor señora don doña hr fr st saint company ltd inc gmbh ag corporation corp
    university street avenue river lake mount mountain island sea ocean bay republic kingdom department ministry
    table figure section chapter appendix am pm ad bc utc gmt cet est pst usd eur gbp jpy cny chf api csv json xml
    html pdf sql url http https id ids ok na nan null none cpu gpu ram usb iso sha md5 base64 ascii utf unicode python
    markdown latex excel internet english german french spanish chinese japanese russian arabic"""
_VERDICTS = """yes no true false correct incorrect right wrong valid invalid even odd prime composite positive negative
    higher lower greater less more fewer larger smaller bigger longer shorter older younger newer earlier later faster
    slower warmer colder cheaper increase increased increasing decrease decreased decreasing rise rose risen rising fall
    fell fallen falling drop dropped up down equal same identical different neither both none nothing nobody never
    always sometimes before after above below unknown impossible possible maybe unclear undefined empty unavailable
    first second last left leap palindrome n/a found missing available symmetric sorted unsorted
    ja nein wahr falsch richtig gerade ungerade positiv negativ höher niedriger größer kleiner mehr weniger länger
    kürzer älter jünger früher später schneller langsamer wärmer kälter teurer billiger gestiegen gesunken gefallen
    steigt sinkt gleich identisch verschieden unbekannt keine keiner nichts niemand nie immer beide weder
    oui non vrai faux plus moins supérieur inférieur égal égaux identique pair impair aucun aucune jamais toujours
    inconnu hausse baisse augmenté diminué sí verdadero falso mayor menor igual iguales más menos par impar ninguno
    ninguna nunca siempre desconocido subió bajó aumento disminución
    да нет верно неверно больше меньше выше ниже равно одинаково никогда всегда неизвестно
    是 否 不 不是 对 错 有 没有 大 小 多 少 更多 更少 增加 减少 上升 下降 相同 不同 未知 偶数 奇数 正确 错误 可以 不能
    はい いいえ 同じ 違う 不明 増加 減少 ある ない 正しい 偶数 奇数 نعم لا صحيح خطأ أكثر أقل متساو زاد انخفض"""
"""Judgements: an answer that is one of them stands on no word of the findings."""
_DECREASE = """negative fell fall fallen falling drop drops dropped decrease decreased decreases decline declined
    lower less below under loss losses lost deficit down cut reduced reduction shrank ago cooler colder colder south
    gesunken sank sinkt fiel gefallen weniger verlust verluste unter niedriger rückgang verringert kälter frost
    baisse baissé diminué perte moins bajó disminuyó pérdida bajo menos cayó снизился снизилась упал упала
    убыток 下降 减少 减 亏损 负 零下 低 減少 赤字 マイナス 氷点下 انخفض خسارة"""
_BARE_NOUNS = """angaben höhe prozent ordnung form folge gefahr wirklichkeit zukunft metern meter kilometern
    minuten stunden
    sekunden tagen jahren euro dollar summe millionen milliarden tausend grad gramm kilogramm tonnen litern
    beginn ende anfang hand kraft betrieb bezug richtung planung arbeit teilen gruppen stufen schritten
    worten zahlen ziffern stück personen menschen kindern frauen männern holz metall wasser gold silber glas
    stein papier haus hause tabelle liste datei spalte zeile zeilen spalten daten werten einheiten abzug
    ablauf abschluss eingang auskunft bedarf bauern spanien schnee regen wind sturm hitze frost nebel nacht
    tag licht luft land städten ländern januar februar märz april mai juni juli august september oktober
    november dezember anspruch kenntnis anlehnung übereinstimmung verbindung abhängigkeit klammern
    großbuchstaben kleinbuchstaben euros risiken rissen fehlern"""
HEDGE = lazy_pattern(
    r"(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|over|more than|less than|under|up to|close to"
    r"|ca\.?|circa|etwa|rund|ungefähr|knapp|fast|über|mehr als|gut|environ|près de|presque|plus de|quelque"
    r"|aproximadamente|alrededor de|casi|unos|unas|cerca de|más de|около|примерно|почти|более|約|约|大约|近|超过|およそ"
    r"|حوالي|نحو|تقريبا|[~≈]|\\approx|\\sim)\s?[$€£¥]?\s?$",
    re.IGNORECASE,
)

_FALLS = frozenset(_DECREASE.split())
_SIGNED = lazy_pattern(r"\b(?:minus|минус)\s?[$€£¥]?\s?\d")
"""Between two amounts (`debit minus credit`) the same word says what is done, and nothing of the sign of the result."""


def says_decrease(text: str) -> bool:
    """Whether words of `text` say what a minus says."""
    text = text.lower()
    return any(word in _FALLS for word in _WORD.findall(text)) or _SIGNED.search(text) is not None


@lru_cache(maxsize=1)
def ordinary() -> frozenset[str]:
    """Words in lower case that a sentence may begin with, or a heading hold, without naming anything."""
    return frozenset(" ".join([*FUNCTION.values(), _OPENING, _OTHERS, _VERDICTS]).split())


@lru_cache(maxsize=1)
def grammar() -> frozenset[str]:
    """Words of grammar of all languages, and judgements: neither is found in findings, nor need it be."""
    return frozenset(" ".join([*FUNCTION.values(), _VERDICTS]).split())


@lru_cache(maxsize=1)
def bare_nouns() -> frozenset[str]:
    """German nouns that stand without an article behind `in`, `aus`, `von`, where names stand as well."""
    return frozenset(_BARE_NOUNS.split())


@lru_cache(maxsize=1)
def verdicts() -> frozenset[str]:
    """Judgements such as yes, no, higher, equal, in lower case."""
    return frozenset(_VERDICTS.split())


_WORD = lazy_pattern(r"[^\W\d_]+")
SURE_WORDS = {"french": ("sept", "neuf", "cent"), "spanish": ("once", "dos", "mil"), "german": ("elf", "acht")}
"""Number words that are other words in another language, by the language in which they are numbers."""
_OWN_LETTERS = {"german": "äöüß", "french": "çèêœà", "spanish": "ñ¿¡", "portuguese": "ãõ"}
LOOKED_AT = 4_000
"""Characters of a text that tell its language."""


def language(*texts: str) -> str:
    """The language of the first of `texts` that tells it, by words of grammar and letters of its own; "" if none."""
    return next((found for text in texts if (found := _language(text[:LOOKED_AT]))), "")


@lru_cache(maxsize=256)
def _language(text: str) -> str:
    words = [word.lower() for word in _WORD.findall(text)]
    counted = {name: sum(word in _function(name) for word in words) for name in FUNCTION}
    for name, letters in _OWN_LETTERS.items():
        counted[name] += any(letter in text.lower() for letter in letters)
    best = max(counted, key=lambda name: counted[name])
    return best if counted[best] >= 2 else ""


@lru_cache(maxsize=len(FUNCTION))
def _function(name: str) -> frozenset[str]:
    return frozenset(FUNCTION[name].split())

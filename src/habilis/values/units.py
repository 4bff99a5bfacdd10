"""Units as people write them, each with its kind and what leads to the base unit of that kind.

Factors: the SI brochure (BIPM, 9th edition); for inch, foot, mile, pound and ounce the international yard and pound
agreement of 1959. Currencies are kinds of their own: no rate is known here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

TABLE: Mapping[str, Mapping[str, float]] = {
    "length": {
        **dict.fromkeys(("m", "meter", "meters", "metre", "metres"), 1.0),
        **dict.fromkeys(("km", "kilometer", "kilometers", "kilometre", "kilometres"), 1e3),
        **dict.fromkeys(("cm", "centimeter", "centimeters", "centimetre", "centimetres"), 1e-2),
        **dict.fromkeys(("mm", "millimeter", "millimeters", "millimetre", "millimetres"), 1e-3),
        **dict.fromkeys(("in", "inch", "inches"), 0.0254),
        **dict.fromkeys(("ft", "foot", "feet"), 0.3048),
        **dict.fromkeys(("mi", "mile", "miles"), 1609.344),
    },
    "mass": {
        **dict.fromkeys(("kg", "kilogram", "kilograms"), 1.0),
        **dict.fromkeys(("g", "gram", "grams"), 1e-3),
        **dict.fromkeys(("mg", "milligram", "milligrams"), 1e-6),
        **dict.fromkeys(("t", "tonne", "tonnes"), 1e3),
        **dict.fromkeys(("lb", "lbs", "pound", "pounds"), 0.45359237),
        **dict.fromkeys(("oz", "ounce", "ounces"), 0.028349523125),
    },
    "time": {
        **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
        **dict.fromkeys(("ms", "millisecond", "milliseconds"), 1e-3),
        **dict.fromkeys(("min", "mins", "minute", "minutes"), 60.0),
        **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600.0),
        **dict.fromkeys(("d", "day", "days"), 86_400.0),
        **dict.fromkeys(("week", "weeks"), 604_800.0),
    },
    "volume": {
        **dict.fromkeys(("l", "liter", "liters", "litre", "litres"), 1.0),
        **dict.fromkeys(("ml", "milliliter", "milliliters", "millilitre", "millilitres"), 1e-3),
    },
    "power": {"w": 1.0, "watt": 1.0, "watts": 1.0, "kw": 1e3, "gw": 1e9},
    "speed": {"m/s": 1.0, "km/h": 1 / 3.6, "kmh": 1 / 3.6, "kph": 1 / 3.6, "mph": 0.44704},
    "percent": dict.fromkeys(("%", "percent", "per cent", "pct"), 1.0),
    "celsius": dict.fromkeys(("°c", "celsius"), 1.0),
    "fahrenheit": dict.fromkeys(("°f", "fahrenheit"), 1.0),
    "dollar": dict.fromkeys(("$", "us$", "usd", "dollar", "dollars"), 1.0),
    "euro": dict.fromkeys(("€", "eur", "euro", "euros"), 1.0),
    "sterling": dict.fromkeys(("£", "gbp"), 1.0),
    "yen or yuan": dict.fromkeys(("¥", "jpy", "yen", "cny", "rmb", "yuan", "元"), 1.0),
    "rupee": dict.fromkeys(("₹", "inr", "rupee", "rupees"), 1.0),
}
"""Kind, unit in lower case, factor: what most texts use."""


@dataclass(frozen=True)
class Unit:
    """A unit: `value * factor + offset` is the value in the base unit of its `kind`."""

    kind: str
    factor: Decimal = Decimal(1)
    offset: Decimal = Decimal(0)


_CELSIUS = Unit("temperature", Decimal(1), Decimal("273.15"))
_FAHRENHEIT = Unit("temperature", Decimal(5) / 9, Decimal("459.67") * 5 / 9)
_PERCENT = Unit("percent", Decimal("0.01"))

_MORE: Mapping[str, Mapping[str, str]] = {
    "length": {
        "1": "mètre mètres metro metros метр метра метров 米 メートル متر",
        "1000": "kilomètre kilomètres kilómetro kilómetros км 公里 千米 キロメートル キロ كم",
        "0.01": "zentimeter centimètre centimètres centímetro centímetros см 厘米 センチ",
        "0.001": "millimètre millimètres milímetro milímetros мм 毫米 ミリ",
        "0.000001": "µm μm um micrometer micrometers micrometre micrometres micron microns",
        "0.000000001": "nm nanometer nanometers nanometre nanometres",
        "0.0254": "zoll",
        "0.9144": "yd yard yards",
        "1609.344": "meile meilen",
        "1852": "nmi seemeile seemeilen",
    },
    "area": {
        "1": "m^2 m2 sqm qm",
        "1000000": "km^2 km2 sqkm qkm",
        "0.0001": "cm^2 cm2",
        "10000": "ha hectare hectares hektar hectárea hectáreas",
        "4046.8564224": "acre acres",
        "0.09290304": "ft^2 ft2 sqft",
    },
    "mass": {
        "1": "kilo kilos kilogramm kilogramme kilogrammes kilogramo kilogramos кг 公斤 千克 キログラム",
        "0.001": "gramm gramme grammes gramo gramos г 克 グラム",
        "0.000001": "milligramm milligrammes miligramos",
        "0.000000001": "µg μg ug microgram micrograms",
        "1000": "tonnen tonelada toneladas ton tons т 吨 トン",
        "0.5": "pfund",
    },
    "time": {
        "1": "sek sekunde sekunden seconde secondes segundo segundos сек секунд секунды 秒 秒钟 ثانية",
        "0.001": "millisekunden millisecondes milisegundos мс 毫秒",
        "0.000001": "µs μs microsecond microseconds",
        "0.000000001": "ns nanosecond nanoseconds",
        "60": "minuten minuto minutos мин минут минуты 分钟 分間 دقيقة",
        "3600": "std stunde stunden heure heures hora horas ч час часа часов 小时 時間 ساعة",
        "86400": "tag tage tagen jour jours día días dia dias день дня дней 天 日間 يوم",
        "604800": "woche wochen semaine semaines semana semanas неделя недели недель 周 週間",
    },
    "months": {
        "1": "month months monat monate monaten mois mes meses месяц месяца месяцев 个月 か月 ヶ月",
        "12": "year years yr yrs jahr jahre jahren ans année années año años год года лет",
        "120": "decade decades jahrzehnt jahrzehnte décennie décennies década décadas",
        "1200": "century centuries jahrhundert jahrhunderte siècle siècles siglo siglos",
    },
    "volume": {
        "1": "litro litros литр литра литров 升 リットル",
        "0.01": "cl",
        "0.1": "dl",
        "0.001": "milliliter cm^3 cm3",
        "1000": "m^3 m3 cbm",
        "3.785411784": "gallon gallons gal",
    },
    "energy": {
        "1": "joule joules",
        "1000": "kj",
        "1000000": "mj",
        "3600": "wh",
        "3600000": "kwh",
        "4184": "kcal",
        "4.184": "cal",
    },
    "frequency": {"1": "hz", "1000": "khz", "1000000": "mhz", "1000000000": "ghz"},
    "pressure": {"1": "pa", "100": "hpa mbar", "1000": "kpa", "100000": "bar", "6894.757293168": "psi"},
    "voltage": {"1": "volt volts", "1000": "kv"},
    "speed": {"0.5144444444444444": "kn knots knot knoten"},
    "bytes": {
        "1": "byte bytes",
        "1000": "kb kilobyte kilobytes",
        "1000000": "mb megabyte megabytes",
        "1000000000": "gb gigabyte gigabytes",
        "1000000000000": "tb terabyte terabytes",
        "1024": "kib kb kilobyte kilobytes",
        "1048576": "mib mb megabyte megabytes",
        "1073741824": "gib gb gigabyte gigabytes",
        "1099511627776": "tib tb terabyte terabytes",
    },
    "points": {
        "1": "pp percentage-points prozentpunkt prozentpunkte prozentpunkten",
    },
    "dollar": {"1": "dólar dólares доллар доллара долларов 美元 ドル دولار"},
    "euro": {"1": "евро 欧元 ユーロ يورو"},
    "sterling": {"1": "quid pound pounds"},
    "resistance": {"1": "ohm ohms"},
    "current": {"1": "ampere amperes amp amps", "0.001": "milliamps milliamperes"},
    "capacitance": {"1": "farad farads", "0.000001": "microfarad microfarads"},
    "yen or yuan": {"1": "円 人民币 块 イェン"},
    "rupee": {"1": "rs rupien roupies rupias रुपये रुपया"},
    "rouble": {"1": "₽ rub rouble roubles ruble rubles rubel руб рубль рубля рублей"},
    "franc": {"1": "chf franken francs suisses"},
}
"""Kind, factor to its base unit, names in lower case."""
_WITH_SPACES = {
    "percentage points": Unit("points"),
    "percentage point": Unit("points"),
    "points de pourcentage": Unit("points"),
    "puntos porcentuales": Unit("points"),
    "per cent": _PERCENT,
    "pour cent": _PERCENT,
    "por ciento": _PERCENT,
    "square metres": Unit("area"),
    "square meters": Unit("area"),
    "square kilometres": Unit("area", Decimal(1_000_000)),
    "square kilometers": Unit("area", Decimal(1_000_000)),
    "degrees celsius": _CELSIUS,
    "degree celsius": _CELSIUS,
    "grad celsius": _CELSIUS,
    "degrees fahrenheit": _FAHRENHEIT,
    "grad fahrenheit": _FAHRENHEIT,
    "us dollars": Unit("dollar"),
    "百分点": Unit("points"),
}
_AS_WRITTEN = {
    "K": (Unit("temperature"),),
    "MW": (Unit("power", Decimal(1_000_000)),),
    "mW": (Unit("power", Decimal("0.001")),),
    "kW": (Unit("power", Decimal(1_000)),),
    "GW": (Unit("power", Decimal(10**9)),),
    "TW": (Unit("power", Decimal(10**12)),),
    "W": (Unit("power"),),
    "J": (Unit("energy"),),
    "V": (Unit("voltage"),),
    "MPa": (Unit("pressure", Decimal(1_000_000)),),
    "B": (Unit("bytes"),),
}
"""Units whose case tells."""


def _named() -> dict[str, tuple[Unit, ...]]:
    found: dict[str, tuple[Unit, ...]] = {}
    for kind, units in TABLE.items():
        if kind not in ("celsius", "fahrenheit", "percent"):
            for name, factor in units.items():
                found[name] = (*found.get(name, ()), Unit(kind, Decimal(repr(factor))))
    for kind, by_factor in _MORE.items():
        for factor_text, names in by_factor.items():
            for name in names.split():
                found[name] = (*found.get(name, ()), Unit(kind, Decimal(factor_text)))
    found |= dict.fromkeys(("°c", "celsius", "℃", "摄氏度", "度c"), (_CELSIUS,))
    found |= dict.fromkeys(("°f", "fahrenheit", "℉"), (_FAHRENHEIT,))
    found |= {"kelvin": (Unit("temperature"),), "‰": (Unit("percent", Decimal("0.001")),)}
    found |= dict.fromkeys(("%", "percent", "pct", "prozent", "процент", "процента", "процентов"), (_PERCENT,))
    found |= {name: (unit,) for name, unit in _WITH_SPACES.items()}
    found["km/h"] = found["kmh"] = found["kph"] = (Unit("speed", Decimal(10) / 36),)
    found["mwh"] = (Unit("energy", Decimal(3_600_000_000)),)
    found["gwh"] = (Unit("energy", Decimal(3_600_000_000_000)),)
    found["twh"] = (Unit("energy", Decimal(3_600_000_000_000_000)),)
    return found


UNITS: Mapping[str, tuple[Unit, ...]] = _named()
"""Each unit by its name in lower case; several where the name is that of several."""
NAMES = (*UNITS, *_AS_WRITTEN)
_KEYS = {"c": _CELSIUS, "f": _FAHRENHEIT, "pct": _PERCENT}
"""Units at the end of a key, such as `temp_c`."""


def units_of(name: str) -> tuple[Unit, ...]:
    """The units that `name` may mean; none where it is no unit."""
    return _AS_WRITTEN.get(name) or UNITS.get(name.lower(), ())


def unit_of_key(part: str) -> tuple[Unit, ...]:
    """The unit that the last part of a key names (`distance_km`, `temp_c`); none where it is no unit."""
    part = part.lower()
    return (_KEYS[part],) if part in _KEYS else UNITS.get(part, ())

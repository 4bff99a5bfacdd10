"""Words of questions that speak of a subject without naming it: who asks about a rash wants what knows of symptoms.

One way only, unlike the thesaurus: a tool for symptoms is no tool for rashes. One line, one subject: the words by which
tools name it, then those that speak of it.
"""

from __future__ import annotations

from functools import lru_cache

from habilis.library.retrieval.terms import stem

_SPEAK_OF = """
symptom disease medical health doctor: pain ache headache fever cough rash nausea dizzy breath sore itch swelling
symptom disease medical health doctor: vomit fatigue chest stomach
symptom disease medical health doctor: abdominal illness sick flu infection allergy injury bleed
medicine drug: pill tablet dose prescription antibiotic aspirin ibuprofen pharmacy vaccine
hospital doctor appointment: surgeon dentist clinic nurse patient specialist checkup
weather forecast: rain rainy snow sunny humidity humid wind windy storm cloud cloudy umbrella precipitation sunshine
stock finance market: dividend earnings portfolio nasdaq ticker shareholder bond drawdown volatility
stock finance market: broker invest investment investor etf
finance bank: saving deposit invest interest loan mortgage debt
exchange currency: forex usd gbp eur jpy pip dollar euro yen
restaurant food: dinner lunch breakfast brunch cuisine sushi pizza vegan menu chef
recipe food cook: ingredient bake cake cookie soup sauce pasta oven dessert chocolate
travel trip: hike hiking trail beach backpack itinerary sightseeing tourist attraction cruise landmark destination
hotel accommodation: room suite resort hostel airbnb checkin guest
flight travel: airfare layover airline fly departure
space nasa astronomy: planet mars moon rover astronaut galaxy telescope spacecraft asteroid satellite orbit
light lamp switch device: bulb dim turn brightness living bedroom
device appliance home: thermostat heater fan vacuum fridge oven tv
music song playlist: listen album melody concert band jazz rock pop lyric
movie film: watch actor actress director cinema trailer netflix
show television: series episode season netflix watch
book read: novel author chapter library literature
course learn education: study exam homework teach tutor beginner skill knowledge
news article: headline journalist latest update breaking
research paper study: scientific science journal experiment evidence hypothesis
product shopping price: brand smartwatch laptop printer headphone camera cheap store buy compatible
job career: resume hire salary interview recruit
house property estate: apartment rent tenant landlord neighborhood bedroom
event ticket: concert festival show exhibition theater
sport game: league football soccer basketball tennis player championship score
law legal: contract lawsuit sue divorce court copyright
king queen monarch: throne reign emperor royal
command execute shell: terminal cmd install powershell directory
repository code: github commit branch pull issue developer
website page: browser browse site blog online
email message: inbox reply attachment send
calendar schedule agenda: remind meeting tomorrow appointment
password account: login username reset forgot
bank transaction payment: pay bill invoice transfer paid rent refund
image picture: draw photograph illustration logo sketch
video: youtube film clip watch recording
document pdf: report page chapter file
translate language: french spanish german chinese japanese english
dictionary word: meaning mean define definition synonym connotation
map location: direction nearby route address coordinates latitude longitude
temperature weather: hot cold degrees warm
probability: odds chance likelihood deck dice coin card
car vehicle: drive engine mileage tesla toyota sedan
clothes fashion: wardrobe dress shirt shoe outfit wear
gift: birthday anniversary surprise present
fitness exercise: gym muscle workout run yoga weight
diet nutrition: calorie protein vitamin weight eat
climate environment: warming carbon emission pollution flood
carbon emission footprint: greenhouse climate
genetic gene biology: dna protein mutation genome species cell
chemistry molecule: molecular compound atom reaction solution
physics: velocity force acceleration gravity energy
art museum: painting sculpture gallery artist
history: ancient war century empire revolution
city: town municipality metropolitan
country: nation capital
alarm notification alert: remind wake
politics government: election vote president minister parliament senator congress party law
religion: bible quran prayer god church mosque temple verse
agriculture farm plant: crop soil harvest seed irrigation fertilizer
energy electricity: solar battery watt power bill
security: vulnerability scan attack hack malware virus firewall encryption threat
marketing advertisement: campaign brand audience slogan promotion
order delivery shipment: parcel package shipping courier track arrive
parking car: garage spot lot
train bus transport: railway metro subway station commute ticket
taxi ride: uber cab driver pickup
charity donation: donate nonprofit volunteer fund
wedding event: party celebrate invite venue guest
baby child: toddler newborn parent
pet: dog puppy cat kitten vet breed
animal species: bird fish mammal wildlife insect
game: player character weapon level quest minecraft chess
joke: funny laugh humor
quote: inspirational motivational saying
poem: rhyme haiku lyric
crime police: theft murder suspect arrest
tax: income deduction refund return irs
insurance: coverage premium claim
time: clock timezone now
earthquake disaster: magnitude tsunami flood hurricane volcano
table csv spreadsheet: excel sheet worksheet column row cell
statistics: mean median variance deviation regression correlation
geometry: circle triangle radius perimeter angle polygon
matrix vector: determinant eigenvalue transpose inverse
text string: sentence paragraph word letter
file: folder directory save rename
person contact: phone name address friend
meeting: conference agenda attendee minutes
review: star rating reputation opinion
employee: staff salary payroll manager department
"""


@lru_cache(maxsize=1)
def subjects() -> dict[str, frozenset[str]]:
    """For each stemmed word that speaks of a subject, the words by which tools name that."""
    found: dict[str, set[str]] = {}
    for line in _SPEAK_OF.strip().splitlines():
        names, words = (set(map(stem, part.split())) for part in line.split(":"))
        for word in words:
            found.setdefault(word, set()).update(names - {word})
    return {word: frozenset(names) for word, names in found.items()}

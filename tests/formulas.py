"""Questions that share few words with the formula that answers them, and tools among which it must be found.

Written by hand, from general knowledge. The questions at even places were looked at while the words of quantities were
chosen, those at odd places were set aside.
"""

# ruff: noqa: E501
from __future__ import annotations

from habilis.core.types import ToolCard

_PAIRS = """
How fast was a train that covered 240 km in 3 hours? | speed | Speed from distance and time | distance, time
How much room does a ball with a radius of 5 cm take up? | sphere_volume | Volume of a sphere | radius
How dense is a stone of 150 g that displaces 60 ml of water? | density | Density from mass and volume | mass, volume
How hard must I push a 20 kg sledge so that it gains 3 m/s every second? | force | Newton's second law | mass, acceleration
What do 36 grams of water come to in mol? | amount_of_substance | Moles from grams | mass, molar_mass
How far does a cyclist at 18 km/h get in 40 minutes? | travelled_distance | Distance from speed and time | speed, time
How much does a 2 kg book weigh on the Moon? | gravitational_force | Weight from mass and gravity | mass, gravity
How strong is a sugar solution with 0.5 mol in 2 litres? | molarity | Concentration from moles and volume | moles, volume
How long will it take to drive 300 miles at 60 mph? | travel_time | Time from distance and speed | distance, speed
How much current flows when 12 V lie across 4 ohms? | ohms_law_current | Ohm's law | voltage, resistance
How big is a round table that is 90 cm across? | circle_area | Area of a circle | diameter
How many watts does a heater draw at 230 V and 8 A? | electric_power | Power from voltage and current | voltage, current
How much energy does a car of 900 kg have at 20 m/s? | kinetic_energy | One half m v squared | mass, velocity
How much does 5000 euros grow to in 10 years at 4 %? | compound_interest | Final balance with compounding | principal, rate, years
How hard does 500 N press on a plate of 0.2 square metres? | pressure | Pressure from force and area | force, area
What do I pay each month for 200,000 over 25 years at 3.5 %? | loan_installment | Annuity of a loan | principal, rate, months
How quickly does a car gain speed if it goes from 0 to 27 m/s in 9 s? | acceleration | Acceleration from speeds and time | v0, v1, time
How long is the fence around a garden of 12 m by 8 m? | rectangle_perimeter | Perimeter of a rectangle | length, width
How much work is it to drag a box 6 m with 50 N? | mechanical_work | Work from force and distance | force, distance
How often per second does a wave of 2 m length at 340 m/s swing? | frequency_of_wave | Frequency from wavelength and speed | wavelength, speed
How high up is a drone with 1200 J of lift energy and 3 kg? | height_from_energy | Height from potential energy | energy, mass
How much heat does it take to warm 2 kg of water by 30 degrees? | heat_energy | Energy from heat capacity | mass, capacity, rise
How steep is the line through (1, 2) and (4, 11)? | slope | Gradient between two points | x1, y1, x2, y2
How much did I gain in percent when I bought at 80 and sold at 100? | return_on_investment | Rate of return | cost, revenue
How much do I save on a 60 dollar coat at 25 % off? | discount_amount | Price reduction | price, percent
How hot is 68 °F in Celsius? | celsius_from_fahrenheit | Temperature from one scale to the other | fahrenheit
How much tip do I leave on a bill of 48 dollars at 15 %? | gratuity | Gratuity from a bill | bill, percent
How sour is a liquid with 0.001 mol of hydrogen ions per litre? | ph_value | pH from the concentration of hydrogen ions | concentration
How far is it round a wheel of 70 cm? | circumference | Circumference from diameter | diameter
How far apart are (1, 2) and (4, 6)? | euclidean_distance | Distance between two points | x1, y1, x2, y2
How heavy is 3 litres of oil at 0.9 kg per litre? | mass_from_density | Mass from density and volume | density, volume
How much fuel do I burn on 100 km if 450 km took 36 litres? | fuel_consumption | Consumption per distance | litres, km
How long is the slanting side of a triangle with legs 3 and 4? | hypotenuse | Pythagoras | a, b
How much do I owe the state on 40,000 at 19 %? | income_tax | Tax from income and rate | income, rate
How fast is a stone after falling for 3 seconds? | free_fall_velocity | Velocity of a falling body | time, gravity
How old is a bone with a quarter of its carbon-14 left? | radioactive_decay_time | Time from half-life and remaining share | half_life, share
How long until half of the 80 mg of a drug is gone? | half_life | Half-life from a decay constant | constant
How much does a shop earn on a shirt bought at 12 and sold at 20? | profit_margin | Margin from cost and revenue | cost, revenue
How much can a box of 2 by 3 by 4 m hold? | cuboid_volume | Volume of a cuboid | length, width, height
How heavy am I for my size with 70 kg and 1.75 m? | body_mass_index | BMI from mass and height | mass, height
How bright is a lamp of 800 lumens over 4 square metres? | illuminance | Lux from luminous flux and area | lumens, area
How quick is my run if I do 10 km in 50 minutes? | running_pace | Pace from distance and time | distance, time
How loud is 0.02 pascals? | sound_level | Decibels from sound pressure | pressure
How much dearer has bread become, from 2.00 to 2.50? | inflation_rate | Relative change of a price | old, new
How much momentum has a ball of 0.4 kg at 25 m/s? | momentum | Impulse from mass and velocity | mass, velocity
How large is a field 120 m long and 80 m wide? | rectangle_area | Area of a rectangle | length, width
How much carpet covers a floor of 4 m by 5 m? | floor_surface | Surface from two sides | side1, side2
How many volts drive 2 A through 6 ohms? | voltage_drop | Voltage from current and resistance | current, resistance
"""

_MORE_FORMULAS = """
cone_volume | Volume of a cone | radius, height
cylinder_volume | Volume of a cylinder | radius, height
triangle_area | Area of a triangle | base, height
trapezoid_area | Area of a trapezoid | a, b, height
sphere_surface | Surface of a sphere | radius
simple_interest | Interest without compounding | principal, rate, years
present_value | Present value of a payment | amount, rate, years
break_even | Units until costs are met | fixed, price, variable
exchange_amount | Amount in another currency | amount, rate
potential_energy | Energy from mass, gravity and height | mass, gravity, height
series_resistance | Resistance of resistors in a row | resistances
capacitor_charge | Charge from capacitance and voltage | capacitance, voltage
ideal_gas_pressure | Pressure of an ideal gas | moles, temperature, volume
dilution_volume | Volume for a dilution | c1, c2, v2
molar_mass | Molar mass of a compound | formula
photon_energy | Energy of a photon from its wavelength | wavelength
spring_force | Hooke's law | constant, stretch
centripetal_force | Force on a circular path | mass, velocity, radius
torque | Moment from force and arm | force, arm
buoyancy | Force on a body in a liquid | density, volume
angle_of_refraction | Snell's law | n1, n2, angle
lens_focus | Focal length of a lens | object, image
orbital_period | Kepler's third law | axis, mass
escape_velocity | Velocity to leave a planet | mass, radius
mean_value | Average of numbers | numbers
median_value | Median of numbers | numbers
standard_deviation | Spread of numbers | numbers
greatest_common_divisor | Greatest common divisor | a, b
prime_factors | Prime factors of an integer | number
factorial | Factorial of an integer | number
binomial_coefficient | Ways to choose | n, k
quadratic_roots | Roots of a quadratic equation | a, b, c
"""

_DEEDS = ("read", "write", "sort", "merge", "count", "rename", "translate", "plot", "compress", "validate")
_THINGS = ("table", "invoice", "image", "calendar", "recipe", "playlist", "address", "message", "report", "photo")
_ADDED = ("weather", "flight", "hotel", "stock", "news", "song", "movie", "game", "doctor", "parcel", "route", "price")


def _card(name: str, description: str, parameters: str) -> ToolCard:
    return ToolCard(name=name, description=f"{description}.", parameters=tuple(parameters.split(", ")))


def _rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split(" | ")] for line in text.strip().splitlines()]


def _distractors() -> list[ToolCard]:
    everyday = [
        ToolCard(name=f"{deed}_{thing}", description=f"{deed.title()} a {thing}.", parameters=("path", thing))
        for deed in _DEEDS
        for thing in _THINGS
    ]
    looked_up = [
        ToolCard(name=f"{verb}_{thing}", description=f"{verb.title()} a {thing} by its {key}.", parameters=(key,))
        for thing in _ADDED
        for verb, key in (("find", "date"), ("book", "name"))
    ]
    return everyday + looked_up


PAIRS = [(question, _card(*card)) for question, *card in _rows(_PAIRS)]
TOOLS = [card for _, card in PAIRS] + [_card(*row) for row in _rows(_MORE_FORMULAS)] + _distractors()
SEEN, SET_ASIDE = PAIRS[::2], PAIRS[1::2]

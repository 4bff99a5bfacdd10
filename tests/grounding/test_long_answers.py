"""Answers of several sentences, as good models write them, in many languages: nothing in them is doubted."""

from __future__ import annotations

import pytest

from habilis.grounding import Known, unfounded

REPORT = (
    "Quarterly report 2023, Helvetia Bau AG, Bern. Revenue Q1 12.4 million CHF, Q2 14.1, Q3 13.9, Q4 15.2 "
    "(total 55.6). Employees: 312 (2022: 298). CEO: Dr. Andrea Keller since 2019. Largest project: "
    "Gotthard tunnel maintenance, 8.7 million CHF, until June 2026. Risks: rising steel prices (+11 %), "
    "shortage of skilled workers. Dividend 2.10 CHF per share, payable 15 May 2024. "
)
LIGHTHOUSE = (
    "Tool read_page returned: The Aurelia lighthouse stands on the island of Veles, 14 nautical miles off "
    "Port Carden. Built between 1871 and 1874 by engineer Tomas Ilic, it is 38.5 m high; its light "
    "reaches 21 nmi. Automated on 3 September 1986; last keeper Hanne Bruun. Visits: May–September, Wed "
    "and Sat 10:00–16:00, tickets 6.50 EUR (children 3 EUR). The keeper's log for 12 Jan 1903 says: \"Seas "
    'over the gallery, glass broken on the weather side." '
)
ABOUT_THE_REPORT = [
    (
        "Summarize the report.",
        "# Summary\n\n**Company:** Helvetia Bau AG (Bern)\n\n## Key Figures\n- **Total Revenue:** CHF 55"
        ".6 million\n- **Best Quarter:** Q4 with 15.2 million CHF\n- **Weakest Quarter:** Q1 (12.4 mi"
        "llion)\n- **Workforce:** 312 employees, up from 298 the year before\n\n## Outlook\nThe company"
        "'s largest project, maintenance of the Gotthard tunnel, is worth 8.7 million CHF and runs "
        "until mid-2026. Key risks include higher steel prices (up 11%) and a lack of skilled worke"
        "rs. Shareholders receive a dividend of CHF 2.10 per share on May 15, 2024. Dr. Keller has "
        "been CEO since 2019.",
    ),
    (
        "Fasse den Bericht zusammen.",
        "Die Helvetia Bau AG aus Bern erzielte im Geschäftsjahr 2023 einen Umsatz von 55,6 Millione"
        "n Franken. Am stärksten war das vierte Quartal mit 15,2 Millionen Franken. Die Zahl der Be"
        "schäftigten stieg von 298 auf 312. Größtes Vorhaben ist die Instandhaltung des Gotthardtun"
        "nels für 8,7 Mio. CHF bis Juni 2026. Als Risiken nennt der Bericht steigende Stahlpreise ("
        "plus 11 Prozent) und den Mangel an Fachkräften. Die Dividende von 2,10 Franken je Aktie wi"
        "rd am 15. Mai 2024 ausbezahlt. Geführt wird das Unternehmen seit 2019 von Andrea Keller.",
    ),
    (
        "Résume le rapport.",
        "En 2023, Helvetia Bau AG (Berne) a réalisé un chiffre d'affaires de 55,6 millions de franc"
        "s, dont 15,2 millions au quatrième trimestre. L'effectif est passé de 298 à 312 personnes."
        " Le plus grand projet, l'entretien du tunnel du Gothard, représente 8,7 millions de francs"
        " jusqu'en juin 2026. Le dividende de 2,10 francs par action sera versé le 15 mai 2024. Les"
        " principaux risques sont la hausse de 11 % du prix de l'acier et le manque de main-d'œuvre"
        " qualifiée. Directrice générale : Andrea Keller.",
    ),
    (
        "Resume el informe.",
        "En 2023, Helvetia Bau AG obtuvo unos ingresos de 55,6 millones de francos, con un máximo d"
        "e 15,2 millones en el cuarto trimestre. La plantilla creció de 298 a 312 empleados. El may"
        "or proyecto es el mantenimiento del túnel del Gotardo (8,7 millones, hasta junio de 2026)."
        " Andrea Keller dirige la empresa desde 2019.",
    ),
    (
        "请总结报告。",
        "2023年Helvetia Bau AG的总收入为5560万瑞士法郎，第四季度最高，为1520万。员工312人，比2022年的298人有所增加。最大的项目是圣哥达隧道维护，金额87"  # noqa: E501 — signs of double width
        "0万瑞士法郎，持续到2026年6月。股息每股2.10瑞郎，2024年5月15日支付。",
    ),
    (
        "Кратко изложи отчёт.",
        "В 2023 году выручка компании Helvetia Bau AG составила 55,6 млн франков, лучшим был четвёр"
        "тый квартал (15,2 млн). Число сотрудников выросло с 298 до 312. Крупнейший проект — обслуж"
        "ивание Готардского туннеля — стоит 8,7 млн франков. Генеральный директор — Андреа Келлер.",
    ),
    (
        "Who is the CEO and since when?",
        "The CEO is Dr. Andrea Keller, who has held the position since 2019.",
    ),
    (
        "What should investors know?",
        "Investors should know three things: revenue reached 55.6 million CHF, steel prices rose by"
        " 11 %, and the dividend is CHF 2.10 per share.",
    ),
    (
        "Revenue per quarter as a table?",
        "| Quarter | Revenue (million CHF) |\n|---|---|\n| Q1 | 12.4 |\n| Q2 | 14.1 |\n| Q3 | 13.9 |\n| Q4 | 15.2 |",
    ),
    (
        "As JSON?",
        '{"company": "Helvetia Bau AG", "total": 55.6, "employees": 312}',
    ),
    (
        "Did it grow?",
        "Yes. Headcount grew, and every quarter after Q1 was stronger than the first one. However, "
        "Q3 was slightly weaker than Q2.",
    ),
]
ABOUT_THE_LIGHTHOUSE = [
    (
        "Tell me about the lighthouse.",
        "The Aurelia Lighthouse is located on Veles Island, roughly 14 nautical miles (about 26 km)"
        " from Port Carden. It was designed by the engineer Tomas Ilic and constructed from 1871 to"
        " 1874. At 38.5 metres tall, its beam is visible for 21 nautical miles. The station was aut"
        "omated in September 1986, and Hanne Bruun served as its last keeper.\n\nVisitors can tour it"
        " on Wednesdays and Saturdays from 10 a.m. to 4 p.m., May through September. Tickets cost €"
        "6.50 for adults and €3 for children. A log entry from January 12, 1903 reads: “Seas over t"
        "he gallery, glass broken on the weather side.”",
    ),
    (
        "Erzähl mir vom Leuchtturm.",
        "Der Leuchtturm Aurelia steht auf der Insel Veles, 14 Seemeilen vor Port Carden. Ingenieur "
        "Tomas Ilic errichtete ihn zwischen 1871 und 1874. Der Turm misst 38,5 Meter, sein Licht re"
        "icht 21 Seemeilen weit. Seit dem 3. September 1986 läuft er automatisch; letzte Wärterin w"
        "ar Hanne Bruun. Besichtigungen sind von Mai bis September mittwochs und samstags von 10 bi"
        "s 16 Uhr möglich. Erwachsene zahlen 6,50 Euro, Kinder 3 Euro.",
    ),
    (
        "Parle-moi du phare.",
        "Le phare d'Aurelia se dresse sur l'île de Veles, à 14 milles nautiques de Port Carden. Con"
        "struit entre 1871 et 1874 par l'ingénieur Tomas Ilic, il mesure 38,5 mètres de haut. Il es"
        "t automatisé depuis le 3 septembre 1986. Les visites ont lieu le mercredi et le samedi de "
        "10 h à 16 h, de mai à septembre ; le billet coûte 6,50 €.",
    ),
    (
        "Háblame del faro.",
        "El faro de Aurelia se encuentra en la isla de Veles. Fue construido entre 1871 y 1874 por "
        "el ingeniero Tomas Ilic y mide 38,5 metros. Se automatizó el 3 de septiembre de 1986. Las "
        "entradas cuestan 6,50 euros y 3 euros para los niños.",
    ),
    (
        "Расскажи о маяке.",
        "Маяк Аурелия стоит на острове Велес в 14 морских милях от Порт-Кардена. Его построил в 187"
        "1–1874 годах инженер Томас Илич. Высота — 38,5 метра. Билеты стоят 6,50 евро.",
    ),
    (
        "灯台について教えて",
        "アウレリア灯台はヴェレス島にあり、高さは38.5メートルです。1871年から1874年にかけて建設され、1986年9月3日に自動化されました。料金は6.50ユーロです。",
    ),
    (
        "When can I visit?",
        "You can visit on Wednesdays and Saturdays, 10:00 to 16:00.",
    ),
    (
        "Who was the last keeper?",
        "Hanne Bruun was the lighthouse's last keeper, until its automation in 1986.",
    ),
    (
        "How old was it when automated?",
        "It opened in 1874 and was automated in 1986.",
    ),
    (
        "Who built it?",
        "Ilic",
    ),
    (
        "Which century?",
        "19th century",
    ),
    (
        "In which years was it built?",
        "1871–1874",
    ),
    (
        "When closed?",
        "The source doesn't mention closure; it only states that the light was automated on 3 September 1986.",
    ),
]
MADE_UP = [
    (
        "Summarize",
        "Helvetia Bau AG in Bern had revenue of 55.6 million CHF in 2023. Its CEO is Dr. Martin Frey. Employees: 312.",
    ),
    (
        "Summarize",
        "Helvetia Bau AG had revenue of 56.5 million CHF, with 312 employees.",
    ),
    (
        "Fasse zusammen",
        "Die Helvetia Bau AG erzielte 55,6 Millionen Franken. Geführt wird sie von Martin Frey seit 2019.",
    ),
    (
        "Fasse zusammen",
        "Die Helvetia Bau AG erzielte 55,6 Millionen Franken und zahlt 2,20 Franken je Aktie.",
    ),
    (
        "Résume",
        "Helvetia Bau AG a réalisé 55,6 millions de francs. Le siège est à Lausanne.",
    ),
    (
        "Summarize",
        "Helvetia Bau AG is headquartered in Zurich and has 312 employees.",
    ),
    (
        "Summarize",
        "Revenue rose by 9 % to 55.6 million CHF.",
    ),
    (
        "Summarize",
        "The dividend is payable on 25 May 2024.",
    ),
    (
        "Кратко",
        "Генеральный директор — Мартин Фрай.",
    ),
    (
        "Resume",
        "El director general es Martín Frei desde 2019.",
    ),
    (
        "Summarize",
        "Novartis is the largest customer.",
    ),
]


@pytest.mark.parametrize(("question", "answer"), ABOUT_THE_REPORT)
def test_a_summary_in_any_language_stands(question: str, answer: str) -> None:
    assert unfounded(answer, Known([REPORT], question)) == ()


@pytest.mark.parametrize(("question", "answer"), ABOUT_THE_LIGHTHOUSE)
def test_an_account_in_other_words_stands(question: str, answer: str) -> None:
    assert unfounded(answer, Known([LIGHTHOUSE], question)) == ()


@pytest.mark.parametrize(("question", "answer"), MADE_UP)
def test_one_made_up_value_among_right_ones_is_seen_and_nothing_else(question: str, answer: str) -> None:
    assert len(unfounded(answer, Known([REPORT], question))) == 1

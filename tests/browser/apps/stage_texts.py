"""Texts of many kinds for the stage, the same on every machine: seeded ones of any size, and sample corpora."""

from __future__ import annotations

import random

from bpe.samples import load_sample

SEEDS = {
    "english": (
        "All human beings are born free and equal in dignity and rights.",
        "They are endowed with reason and conscience and should act towards one another in a spirit of brotherhood.",
        "The quick brown fox doesn't jump over 1,234,567 lazy dogs; it walks around them.",
    ),
    "arabic": (
        "يولد جميع الناس أحراراً متساوين في الكرامة والحقوق. وقد وهبوا عقلاً وضميراً.",
        "في عام 2026 كان عدد الكلمات 12,345 كلمة، والسلام عليكم (GPT-4) لا إله إلا الله.",
        "בשנת 2026 היו 12,345 מילים; כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם.",
        "\tالجدول\tيبدأ\tهنا",
    ),
    "hindi": (
        "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।",
        "क्षेत्रीय विश्वविद्यालय में विद्यार्थियों की संख्या १२३४ है; क्‍ष और क्ष में अंतर देखिए।",
    ),
    "thai": (
        "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม",
        "และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ น้ำตกอยู่ที่นั่น ผู้ใหญ่บ้านซื้อข้าว ๑๒๓ กิโลกรัม",
    ),
    "chinese": (
        "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。",
        "分词器把句子切成片段；语言模型只看见编号，不看见文字。二〇二六年共有12345个词。",
    ),
    "emoji": (
        "👨‍👩‍👧‍👦 👩🏽‍🚀 🏳️‍🌈 🇺🇳🇩🇪🇯🇵 1️⃣2️⃣ 👍🏿 ❤️‍🔥 🧑🏻‍🤝‍🧑🏿",
        "hi 👋🏽 ok 🤦🏼‍♀️ z̸̗̾a̶l̷͔̈́g̵o é é ﷽ 👩‍👩‍👦 🐻‍❄️ done",
    ),
    "code": (
        "\tdef encode(self, text):",
        "\t\treturn [self.ranks[token] for token in self.split(text)]  ",
        "if (a<b && c>d) { x = `$y$`; }\t// </span><style>*{}",
        "\t\t\tfor i, (left, right) in enumerate(pairs):",
        "",
    ),
    "controls": (
        "nul \0 esc \x1b bel \x07 del \x7f nel \x85 rlo \u202e txet \u202c zwsp \u200b shy \xad nbsp \xa0 bom \ufeff",
        "ls \u2028 ps \u2029 cr \r crlf\r",
    ),
}


def make_text(kind: str, size: int) -> str:
    """Return a text of at most `size` bytes of UTF-8; `mixed` takes its lines from every kind.

    A kind that is none of the seeded ones is the name of a sample corpus.
    """
    if kind == "empty":
        return ""
    if kind == "spaces":
        return " " * size
    if kind == "one-line":
        return make_text("english", size).replace("\n", " ")
    if kind != "mixed" and kind not in SEEDS:
        return load_sample(kind).encode()[:size].decode(errors="ignore")
    random_source = random.Random(7)
    seeds = [line for lines in SEEDS.values() for line in lines] if kind == "mixed" else SEEDS[kind]
    lines: list[str] = []
    num_bytes = 0
    while num_bytes < size:
        line = seeds[len(lines) % len(seeds)] if len(lines) < len(seeds) else _vary(random_source, seeds)
        lines.append(line)
        num_bytes += len(line.encode()) + 1
    return "\n".join(lines).encode()[:size].decode(errors="ignore")


def _vary(random_source: random.Random, seeds: tuple[str, ...] | list[str]) -> str:
    """A line of words from the seeds, in another order, so that longer texts hold new pairs."""
    words = random_source.choice(seeds).split(" ")
    if random_source.random() < 0.5:
        random_source.shuffle(words)
    if random_source.random() < 0.3:
        words.insert(0, str(random_source.randrange(10**6)))
    return " ".join(words)

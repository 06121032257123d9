"""Texts that show where tokenizers part: each preset is one lesson."""

from __future__ import annotations

__all__ = ["PRESETS"]

PRESETS = {
    "First look": (
        "All human beings are born free and equal in dignity and rights.\n"
        "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.\n"
        "It's from 1948, and 48 states voted for it 👍🏽"
    ),
    "Digits": "7 77 777 7777 77777 777777\n1234567890 + 1 = 1234567891\n3.14159, 1,000,000, 2024-02-29, 0x1F600",
    "Indentation": (
        "def outer():\n    if True:\n        for i in range(3):\n            print(i)\n"
        "\tone_tab = 1\n\t\ttwo_tabs = 2\n"
    ),
    "Leading space": "hello hello  hello\nHello Hello HELLO\n(hello)hello,hello hello.\n hello",
    "Contractions": (
        "I'll, you've, he's, they'd, can't, we're, I'm\nI'LL YOU'VE HE'S CAN'T\nI’ll you’ve he’s — typographic"
    ),
    "Code": (
        "for (int i = 0; i < n; ++i) { sum += a[i] * b[i]; }  // dot product\n"
        "const getUserName = async (id) => (await db.users.find({ id })).name ?? 'n/a';\n"
        "SELECT COUNT(*) FROM snake_case_table WHERE camelCase != 'x';"
    ),
    "Emoji": "👍 👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇯🇵 1️⃣ ❤️‍🔥 ☕︎",
    "Korean": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    "Burmese": "လူတိုင်းသည် တူညီလွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့်လည်းကောင်း၊ တူညီလွတ်လပ်သော အခွင့်အရေးများဖြင့်လည်းကောင်း၊ မွေးဖွားလာသူများဖြစ်သည်။",
}
"""Name -> text. The page opens on the first."""

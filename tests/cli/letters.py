"""Ten e-mails as people write them, with what is personal in each: several languages and scripts, signatures, telephone
numbers, quoted replies, line ends of both kinds, and what only looks like a placeholder. All of it is invented."""

LETTERS = [
    (
        "From: Ada Kowalska <ada.kowalska@example.org>\r\nTo: support@example.com\r\nSubject: Re: [TICKET"
        "_2041] refund\r\n"
        "\r\nHello Mr. O'Neill,\r\n\r\nplease pay the $1,240.50 to IBAN DE89 3704 0044 0532 0130 00.\r\n\r\n"
        "Best,\r\nAda\r\n-- \r\nAda Kowalska | Kowalska & Sons Ltd.\r\nT +44 (0)20 7946 0958 x12\r\n",
        ["Ada Kowalska", "ada.kowalska@example.org", "O'Neill", "+44 (0)20 7946 0958"],
    ),
    (
        "Sehr geehrte Frau Dr. M\u00fcller-L\u00fcdenscheidt,\n\nam 3. M\u00e4rz 1981 in K\u00f6ln gebore"
        "n, wohne ich jetzt in der "
        "Stra\u00dfe des 17. Juni 135, 10623 Berlin.\nSie erreichen mich unter 030/901820 oder j.weiss@example.de.\n\n"
        "Mit freundlichen Gr\u00fc\u00dfen\nJ\u00fcrgen Wei\u00df\n\nVon meinem Telefon gesendet\n",
        ["M\u00fcller-L\u00fcdenscheidt", "030/901820", "j.weiss@example.de", "J\u00fcrgen Wei\u00df"],
    ),
    (
        "Salut Zo\u00e9 !\n\nLe n\u00b0 de s\u00e9cu est 1 85 12 75 108 042 77, et le mien aussi \u00ab1 "
        "85 12 75 108 042 77\u00bb.\n"
        "Rappelle-moi au 06.12.34.56.78\u2026\n\nFran\u00e7ois-Xavier\n\nLe 12 juin \u00e0 09:14, Zo"
        "\u00e9 Lef\u00e8vre a \u00e9crit :\n"
        "> Salut FX,\n> c'est quoi ton num\u00e9ro ?\n>> et celui d'Anne-Sophie ?\n",
        ["Zo\u00e9 Lef\u00e8vre", "1 85 12 75 108 042 77", "06.12.34.56.78", "Fran\u00e7ois-Xavier"],
    ),
    (
        "\u738b\u6559\u6388\uff1a\n\u60a8\u597d\uff01\u6211\u662f\u674e\u96f7\uff0c\u7535\u8bdd138-0013-8000\uff0c"
        "\u90ae\u7bb1li.lei@example.cn\u3002\n\u5317\u4eac\u5e02\u6d77\u6dc0\u533a\u4e2d\u5173\u6751"
        "\u5927\u88575\u53f7\n"
        "\u987a\u9882\u5546\u797a\n\u674e\u96f7\n",
        ["\u674e\u96f7", "138-0013-8000", "li.lei@example.cn"],
    ),
    (
        "\u0627\u0644\u0633\u064a\u062f \u0623\u062d\u0645\u062f \u0639\u0644\u064a \u0627\u0644\u0645"
        "\u062d\u062a\u0631\u0645\u060c\n"
        "\u0631\u0642\u0645\u064a \u0647\u0648 \u200e+966 50 123 4567\u200f \u0648\u0628\u0631\u064a"
        "\u062f\u064a sara@example.sa\u061b\n"
        "\u0634\u0643\u0631\u0627\u064b\u060c\n\u0633\u0627\u0631\u0629\n",
        ["\u0623\u062d\u0645\u062f \u0639\u0644\u064a", "+966 50 123 4567", "sara@example.sa"],
    ),
    (
        "\u0414\u043e\u0431\u0440\u044b\u0439 \u0434\u0435\u043d\u044c, \u041c\u0430\u0440\u0438\u044f "
        "\u0418\u0432\u0430\u043d\u043e\u0432\u043d\u0430!\n\n"
        "\u041f\u0430\u0441\u043f\u043e\u0440\u0442 4509 123456, \u0442\u0435\u043b. 8 (495) 123-45-67.\n\n"
        "\u0421 \u0443\u0432\u0430\u0436\u0435\u043d\u0438\u0435\u043c,\n\u041f\u0451\u0442\u0440 \u0428"
        "\u0443\u0439\u0441\u043a\u0438\u0439\n",
        [
            "\u041c\u0430\u0440\u0438\u044f \u0418\u0432\u0430\u043d\u043e\u0432\u043d\u0430",
            "4509 123456",
            "8 (495) 123-45-67",
        ],
    ),
    (
        "hey team \U0001f44b\U0001f3fd\n\nJose\u0301 (e\u0301 as two characters) and Jos\u00e9 (one) are "
        "the same guy \U0001f605 \u2014 "
        "ping him on @jose_g or jose+spam@mail.example.io\n\n\tuser:\tjose_g\n\tpw:\thunter2[PERSON_1]\n\n"
        "\U0001f469\u200d\U0001f4bb Kim\n",
        ["Jose\u0301", "Jos\u00e9", "jose+spam@mail.example.io", "hunter2", "Kim"],
    ),
    (
        "[PERSON_1] wrote:\n> [PERSON_1] met [EMAIL_ADDRESS_1] and [TEXT_1] at [[PERSON_2]]\n\n"
        "That is our template, Grace; fill in [PERSON_99999999999999999999] and [_1], [A_], [a_1], [A_1\n"
        "Grace Hopper, 1 Navy Way, Arlington, VA 22202\n",
        ["Grace Hopper", "1 Navy Way"],
    ),
    (
        "Caro Nicol\u00f2,\nil codice fiscale \u00e8 RSSMRA85T10A562S; carta 4111 1111 1111 1111 (scad. 0"
        "9/27, CVV 123).\n"
        "Ci vediamo a Citt\u00e0 di Castello gioved\u00ec 14.\nUn abbraccio,   \n\tMario Rossi\n\n\n",
        ["Nicol\u00f2", "RSSMRA85T10A562S", "4111 1111 1111 1111", "Mario Rossi"],
    ),
    (
        "\u7530\u4e2d\u69d8\n\u304a\u4e16\u8a71\u306b\u306a\u3063\u3066\u304a\u308a\u307e\u3059\u3002"
        "\u4f50\u85e4\u3067\u3059\u3002\n"
        "TEL\uff1a\uff10\uff13\uff0d\uff11\uff12\uff13\uff14\uff0d\uff15\uff16\uff17\uff18 / 192.0.2.17 / "
        "https://example.jp/u/%E4%BD%90?id=7#a\n--\n\u682a\u5f0f\u4f1a\u793e\u30b5\u30f3\u30d7\u30eb "
        "\u4f50\u85e4\u3000\u82b1\u5b50\n",
        ["\u7530\u4e2d", "192.0.2.17", "\u4f50\u85e4\u3000\u82b1\u5b50"],
    ),
]

//! Vocabularies of the languages of posts. Frequent words come first because words are drawn with decreasing
//! probability.

/// English words, most frequent first.
#[rustfmt::skip]
pub(crate) static ENGLISH: [&str; 574] = [
    "the", "to", "and", "a", "of", "i", "is", "in", "it", "you", "that", "for", "this", "on", "my", "be",
    "with", "was", "have", "but", "are", "so", "not", "just", "at", "all", "me", "like", "they", "what",
    "your", "we", "if", "do", "about", "as", "can", "an", "or", "from", "up", "out", "one", "people", "no",
    "more", "when", "get", "know", "how", "there", "who", "will", "time", "has", "would", "think", "it's",
    "good", "their", "i'm", "don't", "now", "really", "new", "see", "some", "love", "by", "day", "he",
    "been", "them", "her", "had", "his", "than", "because", "only", "why", "make", "right", "well", "want",
    "our", "even", "too", "she", "way", "got", "these", "here", "much", "did", "back", "us", "still",
    "need", "going", "go", "over", "could", "then", "never", "any", "those", "also", "into", "first",
    "being", "today", "where", "other", "most", "after", "him", "can't", "very", "work", "should", "man",
    "always", "something", "which", "every", "thing", "were", "thank", "year", "last", "feel", "happy",
    "actually", "that's", "oh", "say", "lot", "great", "you're", "best", "off", "made", "big", "sure",
    "thanks", "yes", "game", "little", "someone", "again", "find", "down", "life", "things", "hope", "lol",
    "look", "two", "better", "follow", "world", "many", "long", "night", "trying", "before", "everyone",
    "years", "may", "let", "keep", "said", "posting", "around", "same", "please", "getting", "doing",
    "come", "take", "ever", "guys", "bad", "through", "twitter", "everything", "anyone", "since", "morning",
    "next", "show", "while", "done", "probably", "pretty", "art", "post", "maybe", "working", "nice",
    "mean", "place", "start", "bluesky", "watch", "week", "already", "friends", "old", "read", "tell",
    "another", "give", "help", "end", "though", "literally", "stop", "without", "believe", "cat", "its",
    "real", "book", "watching", "fun", "using", "yeah", "used", "support", "free", "kind", "live", "talk",
    "anything", "play", "thought", "story", "music", "person", "put", "nothing", "wrong", "skeet", "media",
    "looking", "ok", "call", "playing", "making", "dog", "women", "money", "news", "idea", "saw", "found",
    "part", "enough", "tonight", "beautiful", "coming", "white", "black", "house", "left", "wait", "bit",
    "until", "hard", "family", "weird", "times", "soon", "social", "against", "power", "true", "kids",
    "called", "account", "high", "point", "seen", "full", "exactly", "remember", "finally", "stuff", "came",
    "cute", "wish", "question", "wonder", "word", "talking", "amazing", "country", "law", "both", "phone",
    "reading", "city", "guess", "song", "food", "change", "sorry", "away", "vote", "welcome", "under",
    "own", "room", "fact", "video", "head", "cool", "ago", "saying", "school", "everybody", "home", "movie",
    "series", "super", "fan", "season", "team", "winter", "snow", "coffee", "tea", "cold", "rain",
    "weather", "sleep", "dream", "garden", "tree", "bird", "birds", "light", "dark", "blue", "sky", "red",
    "green", "water", "fire", "sun", "moon", "train", "street", "photo", "photography", "camera", "picture",
    "drawing", "sketch", "commission", "commissions", "open", "paint", "pixel", "style", "character",
    "design", "comic", "page", "chapter", "writing", "writer", "writers", "novel", "author", "published",
    "poem", "poetry", "history", "science", "research", "study", "paper", "data", "climate", "energy",
    "space", "doctor", "health", "hospital", "care", "medical", "insurance", "company", "business",
    "market", "tax", "budget", "government", "election", "party", "senate", "congress", "court", "judge",
    "president", "nominee", "cabinet", "policy", "rights", "trans", "gay", "community", "church", "god",
    "faith", "journalism", "newspaper", "press", "report", "article", "interview", "podcast", "episode",
    "stream", "streaming", "twitch", "youtube", "discord", "server", "update", "patch", "release",
    "version", "bug", "code", "software", "developer", "engineer", "computer", "linux", "app", "feature",
    "setting", "list", "lists", "starter", "pack", "packs", "block", "blocked", "mute", "moderation",
    "label", "feed", "feeds", "algorithm", "timeline", "follower", "followers", "following", "mutuals",
    "hashtag", "verified", "handle", "domain", "network", "protocol", "user", "users", "million", "join",
    "joined", "migrate", "migration", "here's", "there's", "he's", "she's", "we're", "they're", "doesn't",
    "didn't", "isn't", "wasn't", "won't", "couldn't", "wouldn't", "i've", "i'll", "you'll", "let's",
    "gonna", "wanna", "gotta", "kinda", "sorta", "honestly", "basically", "apparently", "obviously",
    "absolutely", "definitely", "especially", "completely", "immediately", "unfortunately", "eventually",
    "somebody", "somewhere", "sometimes", "yesterday", "tomorrow", "weekend", "monday", "tuesday",
    "wednesday", "thursday", "friday", "saturday", "sunday", "november", "december", "thanksgiving",
    "christmas", "holiday", "birthday", "anniversary", "vacation", "travel", "airport", "flight", "hotel",
    "beach", "mountain", "river", "forest", "island", "ocean", "kitchen", "dinner", "lunch", "breakfast",
    "cookie", "cake", "bread", "cheese", "pizza", "chicken", "soup", "wine", "beer", "whiskey", "football",
    "basketball", "baseball", "hockey", "soccer", "league", "player", "coach", "playoff", "championship",
    "score", "goal", "win", "lose", "losing", "winning", "career", "contract", "trade", "injury",
];

/// Portuguese words, most frequent first.
#[rustfmt::skip]
pub(super) static PORTUGUESE: [&str; 138] = [
    "que", "de", "eu", "a", "o", "e", "não", "é", "um", "pra", "com", "uma", "do", "da", "no", "na", "se",
    "mas", "me", "mais", "isso", "por", "tem", "muito", "já", "para", "como", "foi", "ele", "ela", "tá",
    "só", "vou", "aqui", "meu", "minha", "você", "esse", "essa", "quando", "todo", "mundo", "bem", "gente",
    "ser", "ter", "porque", "sobre", "agora", "hoje", "dia", "nada", "tudo", "sim", "ainda", "até", "fazer",
    "vai", "quem", "boa", "noite", "tarde", "amanhã", "bom", "assim", "também", "depois", "sem", "mesmo",
    "coisa", "vida", "tempo", "ano", "anos", "amor", "amigo", "amiga", "casa", "trabalho", "brasil", "jogo",
    "time", "música", "filme", "série", "livro", "foto", "saudade", "obrigado", "obrigada", "nunca",
    "sempre", "acho", "quero", "queria", "posso", "preciso", "falar", "falando", "ficar", "ficou", "estou",
    "estava", "nossa", "demais", "pessoal", "pessoas", "cara", "aí", "lá", "né", "rede", "azul", "céu",
    "passarinho", "seguir", "sigo", "segue", "volta", "voltar", "dormir", "acordar", "café", "comida",
    "almoço", "chuva", "calor", "frio", "verão", "praia", "cidade", "rua", "governo", "presidente", "golpe",
    "prisão", "polícia", "justiça",
];

/// Spanish words, most frequent first.
#[rustfmt::skip]
pub(super) static SPANISH: [&str; 101] = [
    "de", "que", "la", "el", "en", "y", "a", "los", "no", "un", "se", "por", "con", "una", "lo", "es",
    "para", "me", "las", "del", "al", "mi", "su", "como", "más", "pero", "si", "ya", "muy", "todo", "esta",
    "este", "eso", "qué", "hay", "yo", "cuando", "bien", "hoy", "gracias", "aquí", "porque", "día", "ser",
    "hola", "buenos", "días", "gente", "nada", "vida", "siempre", "ahora", "solo", "también", "mucho",
    "hacer", "mundo", "años", "casa", "tiempo", "amigos", "amor", "trabajo", "libro", "música", "película",
    "foto", "noche", "mañana", "semana", "nuevo", "nueva", "gobierno", "país", "ciudad", "agua", "sol",
    "cielo", "azul", "perro", "gato", "feliz", "mejor", "después", "sobre", "entre", "hasta", "donde",
    "nunca", "algo", "alguien", "tengo", "quiero", "puedo", "estoy", "estamos", "vamos", "seguir", "cuenta",
    "red", "social",
];

/// German words, most frequent first.
#[rustfmt::skip]
pub(super) static GERMAN: [&str; 101] = [
    "ich", "und", "die", "der", "das", "nicht", "ist", "es", "in", "zu", "ein", "auf", "mit", "sich", "für",
    "von", "auch", "den", "dem", "eine", "so", "wie", "aber", "wir", "noch", "nur", "mal", "hier", "schon",
    "wenn", "man", "was", "war", "sind", "bei", "als", "aus", "oder", "ja", "mehr", "habe", "hat", "nach",
    "heute", "alle", "wird", "dann", "kann", "immer", "jetzt", "sehr", "gut", "gibt", "wieder", "mich",
    "mir", "haben", "werden", "über", "einen", "einfach", "ganz", "doch", "da", "guten", "morgen", "leute",
    "menschen", "zeit", "jahr", "tag", "woche", "leben", "arbeit", "bild", "buch", "garten", "katze",
    "hund", "schnee", "wetter", "kaffee", "danke", "schön", "willkommen", "blauer", "himmel", "regierung",
    "partei", "wahl", "bundestag", "energie", "klima", "bahn", "zug", "stadt", "geschichte", "wissenschaft",
    "forschung", "nachrichten", "zeitung",
];

/// French words, most frequent first.
#[rustfmt::skip]
pub(super) static FRENCH: [&str; 75] = [
    "de", "la", "le", "et", "les", "des", "est", "un", "une", "pas", "à", "que", "pour", "en", "je", "qui",
    "dans", "ce", "il", "sur", "plus", "ne", "au", "avec", "tout", "se", "mais", "ça", "on", "par", "vous",
    "nous", "bien", "fait", "comme", "si", "sont", "très", "cette", "bonjour", "merci", "aujourd'hui",
    "jour", "vie", "monde", "temps", "gens", "même", "aussi", "être", "avoir", "faire", "encore",
    "toujours", "jamais", "rien", "quand", "sans", "ici", "bon", "belle", "journée", "soir", "demain",
    "année", "travail", "livre", "film", "musique", "photo", "chat", "chien", "ville", "pays", "politique",
];

/// Japanese words and endings, which are written without spaces.
#[rustfmt::skip]
pub(super) static JAPANESE: [&str; 93] = [
    "おはよう", "ございます", "今日は", "お疲れ様", "です。", "ました。", "ありがとう", "よろしく", "お願い", "します。", "ブルースカイ", "の", "は", "が",
    "を", "に", "で", "と", "も", "から", "まで", "青空", "ツイッター", "移住", "フォロー", "新しい", "アカウント", "絵を", "描きました", "イラスト",
    "写真", "猫", "犬", "ごはん", "ラーメン", "仕事", "終わった", "眠い", "寝る", "おやすみなさい", "楽しい", "嬉しい", "好き", "すごい", "かわいい",
    "可愛い", "最高", "本当に", "ちょっと", "明日", "昨日", "今週", "来週", "東京", "大阪", "電車", "天気", "雨", "寒い", "暑い", "ゲーム",
    "アニメ", "漫画", "映画", "音楽", "推し", "配信", "感想", "通販", "新刊", "進捗", "作業", "サークル", "イベント", "参加", "創作", "小説",
    "物語", "キャラ", "うちの子", "！", "。", "、", "…", "笑", "www", "わかる", "それな", "思います", "思った", "なんか", "やっぱり", "とても",
];

/// Korean words, most frequent first.
#[rustfmt::skip]
pub(super) static KOREAN: [&str; 46] = [
    "안녕하세요", "오늘", "진짜", "너무", "좋아", "감사합니다", "블루스카이", "트위터", "그림", "사진", "고양이", "강아지", "내일", "어제", "많이",
    "정말", "그리고", "하지만", "이제", "먹고", "싶다", "자고", "일어나", "출근", "퇴근", "커피", "점심", "저녁", "노래", "영화", "드라마",
    "게임", "팬아트", "커미션", "귀여워", "ㅋㅋㅋ", "ㅠㅠ", "그냥", "아니", "우리", "나는", "내가", "사람", "생각", "시간", "하루",
];

/// Dutch words, most frequent first.
#[rustfmt::skip]
pub(super) static DUTCH: [&str; 51] = [
    "de", "het", "een", "en", "van", "ik", "is", "niet", "in", "dat", "op", "te", "voor", "met", "zijn",
    "er", "maar", "om", "ook", "als", "aan", "die", "we", "nog", "wel", "naar", "dan", "zo", "bij", "heb",
    "je", "wat", "was", "goed", "mooi", "mensen", "hallo", "iedereen", "vandaag", "morgen", "dag", "weer",
    "jaar", "foto", "boek", "huis", "kat", "hond", "fiets", "koffie", "nieuws",
];

/// Turkish words, most frequent first.
#[rustfmt::skip]
pub(super) static TURKISH: [&str; 40] = [
    "bir", "ve", "bu", "da", "de", "için", "çok", "ne", "ben", "sen", "o", "ama", "gibi", "daha", "var",
    "yok", "bugün", "güzel", "teşekkürler", "günaydın", "arkadaşlar", "hayat", "kadar", "herkese",
    "merhaba", "iyi", "akşam", "gece", "sabah", "insan", "zaman", "kitap", "film", "müzik", "kedi", "deniz",
    "hava", "mavi", "gökyüzü", "twitter",
];

/// Russian words, most frequent first.
#[rustfmt::skip]
pub(super) static RUSSIAN: [&str; 47] = [
    "и", "в", "не", "на", "я", "что", "с", "это", "как", "а", "по", "но", "он", "она", "мы", "у", "к", "из",
    "за", "так", "все", "уже", "если", "или", "вот", "только", "когда", "очень", "сегодня", "привет",
    "хорошо", "день", "утро", "ночь", "работа", "кот", "новый", "мир", "спасибо", "погода", "снег", "книга",
    "музыка", "фото", "тоже", "потом", "снова",
];

/// Ukrainian words, most frequent first.
#[rustfmt::skip]
pub(super) static UKRAINIAN: [&str; 47] = [
    "і", "в", "не", "на", "я", "що", "з", "це", "як", "а", "по", "але", "він", "вона", "ми", "у", "до",
    "із", "за", "так", "усе", "вже", "якщо", "або", "тільки", "коли", "дуже", "сьогодні", "привіт", "добре",
    "день", "ранок", "ніч", "робота", "кіт", "новий", "світ", "дякую", "погода", "сніг", "книга", "музика",
    "фото", "Україна", "війна", "люди", "життя",
];

/// Thai words, which are written without spaces.
#[rustfmt::skip]
pub(super) static THAI: [&str; 26] = [
    "สวัสดี", "วันนี้", "ดีมาก", "รัก", "แมว", "กิน", "ข้าว", "นอน", "ไม่", "มาก", "จริง", "สนุก", "เพลง",
    "อยาก", "ไป", "แล้ว", "ก็", "ที่", "นี่", "เลย", "คน", "เรา", "มี", "ได้", "งาน", "น่ารัก",
];

/// Chinese words, which are written without spaces.
#[rustfmt::skip]
pub(super) static CHINESE: [&str; 40] = [
    "你好", "今天", "很", "好", "我們", "中文", "天空", "早安", "大家", "喜歡", "謝謝", "貓", "的", "了", "是", "在", "不", "我", "有",
    "這", "個", "人", "也", "都", "就", "說", "去", "會", "看", "吃", "想", "真的", "可以", "時候", "世界", "生活", "工作", "，",
    "。", "！",
];

/// Italian words, most frequent first.
#[rustfmt::skip]
pub(super) static ITALIAN: [&str; 45] = [
    "di", "che", "è", "e", "la", "il", "un", "a", "per", "in", "una", "non", "sono", "ho", "mi", "ma", "lo",
    "ha", "le", "si", "con", "come", "io", "ci", "questo", "se", "cosa", "bene", "oggi", "molto", "grazie",
    "ciao", "tutti", "bello", "foto", "giornata", "buona", "buongiorno", "vita", "anni", "sempre", "casa",
    "libro", "musica", "gatto",
];

/// Polish words, most frequent first.
#[rustfmt::skip]
pub(super) static POLISH: [&str; 42] = [
    "nie", "to", "się", "w", "i", "na", "że", "z", "jest", "do", "a", "co", "jak", "ja", "ale", "tak", "po",
    "mnie", "o", "tym", "już", "tylko", "za", "czy", "mi", "od", "może", "dzień", "dobry", "dzisiaj",
    "bardzo", "ludzie", "kot", "praca", "dziękuję", "miłego", "wszystkim", "książka", "zdjęcie", "pogoda",
    "śnieg", "kawa",
];

/// Emoji, some of which are sequences of several code points.
#[rustfmt::skip]
pub(super) static EMOJI: [&str; 55] = [
    "😂", "😭", "❤️", "🥰", "😊", "🤣", "😍", "🔥", "💙", "✨", "🙏", "👀", "💀", "🦋", "🎉", "👏", "🥺", "😅", "🙃", "🤔",
    "💜", "😁", "👍", "🎨", "🌙", "☕", "🐈", "🐶", "🌈", "🏳️‍⚧️", "🏳️‍🌈", "💕", "🫶", "🤍", "📸", "🎮", "📚", "🌟", "⭐",
    "🚨", "🇺🇸", "🇧🇷", "🇺🇦", "👇", "➡️", "✅", "❄️", "🍂", "🦃", "🧵", "🫡", "😤", "🤷‍♀️", "💪", "🌹",
];

/// Hashtags without the leading `#`.
#[rustfmt::skip]
pub(super) static TAGS: [&str; 58] = [
    "art", "furry", "photography", "bluesky", "gamedev", "furryart", "cats", "dogs", "writing", "books",
    "nature", "birds", "nsfw", "vtuber", "music", "fanart", "oc", "digitalart", "illustration", "wip",
    "booksky", "horror", "scifi", "indiedev", "pixelart", "blender3d", "comics", "dnd", "ttrpg", "knitting",
    "gardening", "astronomy", "science", "climate", "politics", "uspol", "nfl", "nba", "football", "f1",
    "anime", "manga", "genshin", "ffxiv", "pokemon", "caturday", "booktok", "poetry", "history", "ukraine",
    "news", "hiring", "cosplay", "イラスト", "創作", "青空写真部", "一次創作", "おはよう",
];

/// Hosts with the first parts of their paths, which posts link to.
#[rustfmt::skip]
pub(super) static HOSTS: [&str; 35] = [
    "www.youtube.com/watch?v=", "youtu.be/", "www.nytimes.com/2024/11/21/us/politics/",
    "www.theguardian.com/us-news/2024/nov/21/", "open.spotify.com/track/", "www.twitch.tv/",
    "www.washingtonpost.com/politics/2024/11/21/", "media.tenor.com/", "www.bbc.com/news/articles/",
    "github.com/", "www.cnn.com/2024/11/21/politics/", "substack.com/p/", "www.patreon.com/posts/",
    "apnews.com/article/", "www.reuters.com/world/", "www.instagram.com/p/", "ko-fi.com/",
    "www.rollingstone.com/politics/", "arstechnica.com/", "www.theverge.com/2024/11/21/", "medium.com/@",
    "www.etsy.com/listing/", "www.amazon.com/dp/", "archive.org/details/", "docs.google.com/",
    "www.wired.com/story/", "fansly.com/", "bsky.app/profile/", "store.steampowered.com/app/",
    "www.lemonde.fr/", "www.spiegel.de/", "g1.globo.com/", "www.nhk.or.jp/news/", "www.pixiv.net/artworks/",
    "note.com/",
];

/// First names, used in handles and display names.
#[rustfmt::skip]
pub(super) static NAMES: [&str; 64] = [
    "alex", "sam", "jordan", "taylor", "casey", "maria", "anna", "luna", "kai", "leo", "max", "emma",
    "olivia", "noah", "liam", "sarah", "mike", "john", "chris", "dave", "jen", "katie", "laura", "nick",
    "ben", "tom", "dan", "matt", "rachel", "lisa", "amy", "kate", "jess", "ana", "julia", "lucas", "pedro",
    "bruno", "carla", "yuki", "hana", "sora", "ren", "mika", "ken", "nao", "tomo", "lena", "paul", "felix",
    "jonas", "marie", "claire", "hugo", "zoe", "theo", "nina", "ivan", "olga", "kim", "lee", "park", "chen",
    "wei",
];

//! Kinds of typical user data: web server logs, orders with their items, sensor readings, tagged events.

use std::fmt::Write as _;

/// Deterministic pseudo-random numbers (xorshift) for the documents.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        let place = self.below(all.len() as u64) as usize;
        all.get(place).copied().unwrap_or_default()
    }
}

/// Generates lines by `one`, which gets the line number and the random numbers.
fn lines(count: u64, mut one: impl FnMut(u64, &mut Numbers) -> serde_json::Value) -> String {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    (0..count).fold(String::new(), |mut text, n| {
        writeln!(text, "{}", one(n, &mut numbers)).unwrap();
        text
    })
}

/// Requests: nested objects, a key with a space, numeric sizes, a referrer that is often null.
pub(crate) fn weblogs(count: u64) -> String {
    lines(count, |n, numbers| {
        let referrer = (numbers.below(3) == 0).then(|| format!("https://example.org/{}", numbers.below(9)));
        serde_json::json!({
            "time": format!("2026-02-03T04:{:02}:{:02}Z", n / 60 % 60, n % 60),
            "remote": format!("10.0.{}.{}", numbers.below(4), numbers.below(200)),
            "request": {
                "method": numbers.of(&["GET", "GET", "GET", "POST", "HEAD"]),
                "path": format!("/{}/{}", numbers.of(&["shop", "Shop", "blog", "ünï"]), numbers.below(30)),
            },
            "status": numbers.of(&["200", "200", "200", "404", "500"]).parse::<u16>().unwrap(),
            "bytes": numbers.below(1 << 20),
            "user agent": numbers.of(&["curl/8", "Mozilla/5.0 (X11; \"Linux\")", "bot's own"]),
            "referrer": referrer,
        })
    })
}

/// Orders: items in an array, fractional amounts, and keys that are not valid identifiers.
pub(crate) fn orders(count: u64) -> String {
    lines(count, |n, numbers| {
        let items: Vec<serde_json::Value> = (0..=numbers.below(4))
            .map(|_| {
                serde_json::json!({
                    "sku": format!("sku-{}", numbers.below(50)),
                    "quantity": numbers.below(5) + 1,
                    "price": numbers.below(10_000) as f64 / 100.0,
                })
            })
            .collect();
        serde_json::json!({
            "order": format!("o-{n}"),
            "customer": { "a b.c\"d'e": numbers.of(&["de", "fr", "DE", "it ", "it"]), "vip": numbers.below(10) == 0 },
            "items": items,
            "total; --": numbers.below(1_000_000) as f64 / 100.0,
            "🎁": numbers.of(&["ja", "né", "'; DROP TABLE documents; --", "back\\slash", "{x}"]),
        })
    })
}

/// Readings: missing members, and members that sometimes have another type.
pub(crate) fn sensors(count: u64) -> String {
    lines(count, |n, numbers| {
        let mut reading = serde_json::Map::new();
        if numbers.below(4) > 0 {
            reading.insert("temperature".into(), serde_json::json!(numbers.below(400) as f64 / 10.0 - 5.0));
        }
        let state = match numbers.below(40) {
            0 => serde_json::json!(7),
            1 => serde_json::json!(null),
            _ => serde_json::json!(numbers.of(&["ok", "ok", "ok", "low", "OK"])),
        };
        let value = match numbers.below(50) {
            0 => serde_json::json!("n/a"),
            1 => serde_json::json!(true),
            _ => serde_json::json!(numbers.below(1 << 40)),
        };
        // The first document has the most frequent type of every member.
        let (state, value) =
            if n == 0 { (serde_json::json!("ok"), serde_json::json!(1)) } else { (state, value) };
        serde_json::json!({ "device": format!("d-{}", numbers.below(12)), "reading": reading, "state": state, "value": value })
    })
}

/// Events: arrays of texts and of objects with odd elements among them, days as texts, and milliseconds.
pub(crate) fn tagged(count: u64) -> String {
    lines(count, |n, numbers| {
        let mut labels: Vec<serde_json::Value> = (0..numbers.below(5))
            .map(|_| serde_json::json!(numbers.of(&["red", "blue", "it's", "ünï", "a\"b"])))
            .collect();
        if n % 40 == 39 {
            labels.push(serde_json::json!(7));
        }
        let actors: Vec<serde_json::Value> = (0..numbers.below(3))
            .map(|_| serde_json::json!({ "role": numbers.of(&["owner", "guest", "a.b"]), "n": numbers.below(9) }))
            .collect();
        let day = if n % 50 == 49 {
            "soon".to_owned()
        } else {
            format!("2026-{:02}-{:02}", n % 12 + 1, n % 28 + 1)
        };
        serde_json::json!({
            "kind": numbers.of(&["push", "pull", "fork"]),
            "place": numbers.of(&["de", "fr", "DE"]),
            "labels": labels,
            "actors": actors,
            "day": day,
            "created ms": 1_769_990_400_000 + numbers.below(5_000_000_000),
        })
    })
}

use std::io::BufRead;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let clock = std::sync::Arc::new(jsonathlon_measure::clock::MonotonicClock::new());
    let host = jsonathlon_drivers::Host { clock, output: None };
    let mut settings = std::collections::BTreeMap::new();
    for kv in std::env::var("SET").unwrap_or_default().split(',').filter(|s| !s.is_empty()) {
        let (k, v) = kv.split_once('=').unwrap();
        settings.insert(k.to_string(), v.to_string());
    }
    let open = jsonathlon_drivers::Open {
        protocol: a[1].clone(),
        library: Some(a[2].clone().into()),
        folder: a[3].clone().into(),
        settings,
        ..Default::default()
    };
    let t = std::time::Instant::now();
    let mut d = match jsonathlon_drivers::connect(&open, &host) {
        Ok(d) => d,
        Err(e) => {
            println!("OPEN ERR {e:?}");
            return;
        }
    };
    println!("open {:?} version {:?}", t.elapsed(), d.version());
    for l in std::io::stdin().lock().lines() {
        let l = l.unwrap().replace("\\n", "\n");
        if let Some(q) = l.strip_prefix("#bench ") {
            let mut diffs = vec![];
            let mut tot = vec![];
            for _ in 0..30 {
                let t = std::time::Instant::now();
                let o = d.execute(q).unwrap();
                let e = t.elapsed().as_secs_f64();
                tot.push(e);
                if let Some(s) = o.server_seconds {
                    diffs.push(e - s)
                }
            }
            tot.sort_by(f64::total_cmp);
            diffs.sort_by(f64::total_cmp);
            println!(
                "bench {q}: median {:.3} ms diff median {:?} ms max {:?}",
                tot[15] * 1e3,
                diffs.get(15).map(|x| x * 1e3),
                diffs.last().map(|x| x * 1e3)
            );
            continue;
        }
        let t = std::time::Instant::now();
        match d.execute(&l) {
            Ok(o) => {
                println!(
                    "> {l}\n  [{:?}] server {:?} read {:?} {:?} mem {:?} cols {:?} rows {}",
                    t.elapsed(),
                    o.server_seconds,
                    o.rows_read,
                    o.bytes_read,
                    o.memory_bytes,
                    o.columns,
                    o.rows.len()
                );
                for r in o.rows.iter().take(12) {
                    println!("  {r:?}")
                }
            }
            Err(e) => println!("> {l}\n  ERR {e:?}"),
        }
    }
    let t = std::time::Instant::now();
    println!("close {:?} {:?}", d.close(), t.elapsed());
}

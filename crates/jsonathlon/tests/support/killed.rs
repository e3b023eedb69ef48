//! Kills a run repeatedly and resumes it each time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jsonathlon_results::summary::Summary;

use super::process::Running;
use super::{LIMIT, World};

/// Number of kinds of kills of analytics runs, which share the number that `JSONATHLON_KILLS` asks for. Each test of
/// another workload takes the share of one kind.
pub(crate) const KINDS: u32 = 3;

/// Number of kills of one kind; `usual` is the default and the minimum.
pub(crate) fn kills(usual: u32) -> u32 {
    let asked = std::env::var("JSONATHLON_KILLS").map(|text| {
        text.parse::<u32>().unwrap_or_else(|_| panic!("JSONATHLON_KILLS is no number: {text:?}"))
    });
    asked.map_or(usual, |asked| usual.max(asked.div_ceil(KINDS)))
}

/// Pseudo-random kill moments by Marsaglia's xorshift, other ones in each test run.
pub(crate) struct Moments(u64);

impl Moments {
    /// Prints the seed, with which `JSONATHLON_KILL_SEED` repeats the moments.
    pub(crate) fn new() -> Self {
        let given = std::env::var("JSONATHLON_KILL_SEED").ok().map(|text| text.parse::<u64>().unwrap());
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
        let seed = given.unwrap_or_else(now) | 1;
        println!("the same moments again: JSONATHLON_KILL_SEED={seed}");
        Self(seed)
    }

    pub(crate) fn next(&mut self, latest_ms: u64) -> Duration {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        Duration::from_millis(self.0 % latest_ms)
    }
}

/// Deterministic kill moments below `latest_ms` (Marsaglia's xorshift); any distribution will do.
pub(crate) fn moments(seed: u64, latest_ms: u64) -> impl FnMut() -> Duration {
    let mut moments = Moments(seed);
    move || moments.next(latest_ms)
}

/// Kills the run in the folder `out` at least once, as [`killed_until_it_ends`] does.
pub(crate) fn killed_to_its_end(
    world: &World,
    kills: u32,
    pause: impl FnMut() -> Duration,
    begin: impl Fn() -> Running,
    look: impl Fn(),
) -> Summary {
    let anew = || {
        // A folder without a plan cannot be resumed, so it is removed.
        std::fs::remove_dir_all(world.path("out")).ok();
        begin()
    };
    let (killed, summary) = killed_until_it_ends(world, "out", kills, pause, anew, look);
    assert!(killed > 0, "it was never killed");
    summary
}

/// Kills the run in a folder up to `kills` times, each after the next `pause`, and resumes it to its end.
/// `begin` starts it, `look` is called after each kill. No record may be lost and no process left. Returns
/// the number of kills, and the summary, which must be complete and without failures.
pub(crate) fn killed_until_it_ends(
    world: &World,
    out: &str,
    kills: u32,
    mut pause: impl FnMut() -> Duration,
    begin: impl Fn() -> Running,
    look: impl Fn(),
) -> (u32, Summary) {
    let kept = world.kept(out);
    let mut killed = 0;
    loop {
        let mut running = match world.path(out).join("manifest.json").exists() {
            true => world.start_resuming(out),
            false => begin(),
        };
        if killed >= kills {
            running.end(LIMIT).expect(0);
            break;
        }
        std::thread::sleep(pause());
        if running.has_ended() {
            running.end(LIMIT).expect(0);
            break;
        }
        let before = kept.whole_lines();
        running.kill();
        killed += 1;
        assert!(kept.journal().starts_with(&before), "records are gone");
        world.nothing_left();
        look();
    }
    let exported = world.run(&["export", "-f", "json", &world.text(out)]).expect(0);
    let summary: Summary = serde_json::from_str(&exported.stdout).unwrap();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    kept.is_complete();
    assert!(kept.work().is_empty());
    (killed, summary)
}

/// Cuts the journal of the run in the folder `out` after the first `kept` records of a unit, as if the program had
/// ended while it wrote them, and resumes the run to its end. The whole unit must be measured again, since its results
/// would otherwise be of two runs, and nothing else that was recorded before. `is_of_unit` decides by a line of the
/// journal.
pub(crate) fn resumed_amid_a_unit(world: &World, kept: usize, is_of_unit: impl Fn(&str) -> bool) -> Summary {
    let path = world.path("out").join("journal.ndjson");
    let journal = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = journal.split_inclusive('\n').collect();
    let of_unit: Vec<usize> = (0..lines.len()).filter(|line| is_of_unit(lines[*line])).collect();
    assert!((1..of_unit.len()).contains(&kept), "{kept} of {} records", of_unit.len());
    let before = &lines[..=of_unit[kept - 1]];
    std::fs::write(&path, before.concat()).unwrap();
    let summary = world.resume("out").expect(0).summary();
    let resumed = std::fs::read_to_string(&path).unwrap();
    for line in before {
        let is_there = resumed.contains(line);
        assert_eq!(is_there, !is_of_unit(line), "was it measured again? {line}");
    }
    world.kept("out").is_complete();
    summary
}

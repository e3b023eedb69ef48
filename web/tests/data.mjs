// Deterministic sample figures and evidence as defined in src/model.ts, for tests of the page.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const HOSTILE = '<img src=x onerror=alert(1)>';
export const SCRIPT = '<script>alert(1)</script>';
const QUESTIONS = ['q1', 'q2', 'q3', 'q4', 'q5', 'q6'];

/** Pseudo-random numbers between 0 and 1, the same for the same seed. */
export function numbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** The published results, in the form in which the program passes them to the page. */
export function published() {
  const folder = join(root, 'crates', 'results', 'published');
  const lines = (name) => readFileSync(join(folder, name), 'utf8').split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const suspected = lines('suspected.tsv').slice(1).map((line) => line.split('\t'));
  const head = lines('suspected.tsv')[0].split('\t');
  return ['2025-02', '2025-11'].flatMap((snapshot) => {
    const [titles, ...rows] = lines(`${snapshot}.tsv`).map((line) => line.split('\t'));
    return rows.map((row) => {
      const of = (name) => row[titles.indexOf(name)] ?? '';
      const number = (name) => (of(name) === '' ? null : Number(of(name)));
      const seconds = JSON.parse(of('seconds'));
      const hot = (runs) => (runs.length === 2 ? runs[1] : runs[1] === null || runs[2] === null ? null : Math.min(runs[1], runs[2]));
      return {
        snapshot, system: of('system'), version: of('version'), date: of('date') || null, machine: 'm6i.8xlarge',
        retains_structure: of('retains_structure') === '' ? null : of('retains_structure') === 'yes',
        tags: of('tags') === '' ? [] : of('tags').split(','), scale: number('scale'), loaded_documents: number('loaded'),
        total_bytes: number('total_bytes'), data_bytes: number('data_bytes'), index_bytes: number('index_bytes'),
        cold: seconds.map((runs) => runs[0]), hot: seconds.map(hot), source: of('source'),
        suspected_errors: suspected.filter((one) => one[head.indexOf('snapshot')] === snapshot && one[head.indexOf('source')] === of('source'))
          .map((one) => ({ field: one[head.indexOf('field')], reason: one[head.indexOf('reason')] })),
      };
    });
  });
}

export function configuration(system, title, more = {}) {
  return {
    system, title, version: '1.0', variant: 'indexed', variant_title: 'One JSON column and one index', storage: 'default',
    embedded: false, transport: 'tcp', end_of_life: false, outdated: null, preparation: 'prepared', profile: 'sized', memory_bytes: 12_616_466_432,
    ranks_with: '', ranking: 'prepared', ranked: true, reference: false, parallel_unit: null, durability: null, not_made_for: null, other_questions: {},
    settings: [{ name: 'buffers', value: '3008MB', stock: '128MB', source: 'Its documentation, 19.4.1: 25 % of memory' }],
    configuration_digest: `blake3:${system}`, artifact_digest: `sha256:${system}`,
    exceptions: [{ what: 'query_cache=0', why: 'no results are kept across trials' }],
    structure: { retains: 'bytes', compared: 1000, equal_bytes: 1000, equal_value: 1000, changes: {} }, rejects: [], ...more,
  };
}

const CHANGED = { retains: 'changed', compared: 1000, equal_bytes: 0, equal_value: 830, changes: { 'members added': 120, 'null dropped': 50 } };
const VALUE = { retains: 'value', compared: 1000, equal_bytes: 3, equal_value: 1000, changes: {} };

const AS_IS = { preparation: 'as-is', ranking: 'as-is' };
const EXTRACTED = { preparation: 'extracted', ranking: 'extracted' };
const STOCK = { profile: 'stock', memory_bytes: null, ranking: 'prepared, stock', settings: [] };

export function yardstick() {
  const one = (variant) => configuration('yardstick', 'yardstick', {
    variant, variant_title: 'A columnar program', reference: true, embedded: true, transport: null, structure: null, memory_bytes: null, settings: [], ranks_with: 'none', ...EXTRACTED, ranking: 'extracted, none', exceptions: [],
  });
  return [one('one-core'), one('parallel')];
}

/** A few systems that cover every special case the page has words for. */
export function fewSystems() {
  return [
    configuration('clickhouse', 'ClickHouse', { version: '26.7', variant: 'challenge', embedded: true, transport: null, structure: CHANGED }),
    configuration('postgresql', 'PostgreSQL', { version: '18.6', variant: 'json-only', structure: VALUE, rejects: [{ reason: `refused: ${SCRIPT}`, documents: 9 }] }),
    configuration('mock', HOSTILE, { variant_title: SCRIPT }),
    configuration('elasticsearch', 'Elasticsearch', { version: '8.19.8', variant: 'source' }),
    configuration('mongodb', 'MongoDB', { version: '6.0.5', end_of_life: true, structure: VALUE }),
    configuration('sqlite', 'SQLite', { version: '3.54.1', embedded: true, transport: null }),
    configuration('duckdb', 'DuckDB', { version: '2.0.0', variant: 'json', embedded: true, transport: null }),
    configuration('dolt', 'Dolt', { version: '2.2.0', outdated: '2026-07-15', variant: 'generated', ...EXTRACTED, structure: VALUE }),
    configuration('mysql', 'MySQL', { version: '9.7.4', variant: 'generated', ...EXTRACTED, structure: VALUE }),
    configuration('clickhouse', 'ClickHouse', { version: '26.7', variant: 'json', variant_title: 'One JSON column, nothing declared', embedded: true, transport: null, ...AS_IS, structure: CHANGED }),
    configuration('duckdb', 'DuckDB', { version: '2.0.0', variant: 'variant', variant_title: 'One VARIANT column', embedded: true, transport: null, ...AS_IS, parallel_unit: 1_000_000 }),
    configuration('sqlite', 'SQLite', { version: '3.54.1', variant: 'jsonb', variant_title: 'One JSONB column', embedded: true, transport: null, ...AS_IS }),
    configuration('mysql', 'MySQL', { version: '9.7.4', variant: 'virtual', ...STOCK, structure: VALUE }),
    configuration('clickhouse', 'ClickHouse', {
      version: '26.7', variant: 'as-published', variant_title: 'Published statements, word for word', embedded: true, transport: null,
      ranking: 'prepared, not ranked', ranked: false, structure: CHANGED, other_questions: { q4: 'It counts every kind of post, replies too.' },
    }),
    ...yardstick(),
  ];
}

/** Some of the same systems, all prepared, in two rankings that a further rule separates. */
export function fewApart() {
  return fewSystems().filter((one) => one.preparation !== 'as-is' && one.profile !== 'stock' && one.ranked).map((one) => {
    const rule = one.reference ? 'none' : one.preparation === 'extracted' ? 'generated' : 'json-only';
    return { ...one, preparation: 'prepared', ranks_with: rule, ranking: `prepared, ${rule}` };
  });
}

/** Fifty configurations of systems with invented names. */
export function manySystems() {
  return [
    ...Array.from({ length: 50 }, (_, index) => configuration(`system-${index}`, `System ${index}`, {
      version: `${1 + (index % 9)}.${index % 5}`, variant: index % 3 === 0 ? 'no-index' : 'indexed', embedded: index % 7 === 0,
      ...(index % 10 === 9 ? EXTRACTED : index % 2 === 0 ? AS_IS : {}), structure: index % 4 === 0 ? VALUE : index % 5 === 0 ? CHANGED : { retains: 'bytes', compared: 1000, equal_bytes: 1000, equal_value: 1000, changes: {} },
    })),
    ...yardstick(),
  ];
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length === 0 ? null : sorted[Math.floor(sorted.length / 2)];
}

/** Builds one run with its evidence. */
export function makeRun({ name, configurations, documents, seed, rounds = 3, loads = rounds, hot = 3, oddities = true, samples = 600 }) {
  const random = numbers(seed);
  const spread = () => Math.exp((random() - 0.5) * 0.25);
  const texts = ['SELECT kind, count(*) FROM events GROUP BY 1', 'Scan events\n  Aggregate', `commit ${SCRIPT} 42`];
  const [cells, evidence, failures] = [[], [], []];
  const start = Date.parse('2026-11-22T02:27:41Z');
  let clock = start;

  const put = (index, step, phase, state, base, count, more = {}) => {
    const verdict = more.verdict ?? 'exact';
    const timed = ['exact', 'approximate', 'unverified', 'partial'].includes(verdict);
    const trials = { round: [], order: [], at_ms: [], seconds: [], server_s: [], verdict: [], bound_by: [], failure: [], metrics: { peak_pss_bytes: [], server_cpu_s: [], machine_steal_s: [] } };
    const perRound = [];
    for (let round = 1; round <= rounds && count > 0; round += 1) {
      if (more.in?.(round) === false) continue;
      const level = spread();
      const own = [];
      for (let order = 0; order < count; order += 1) {
        const time = Number((base * level * spread()).toPrecision(6));
        clock += time * 1000 + 20;
        own.push(time);
        trials.round.push(round);
        trials.order.push(order);
        trials.at_ms.push(Math.round(clock));
        trials.seconds.push(timed ? time : null);
        trials.server_s.push(timed ? Number((time * 0.9).toPrecision(4)) : null);
        trials.verdict.push(verdict);
        trials.bound_by.push(timed ? 'one core' : null);
        trials.failure.push(timed ? null : { kind: verdict, error: `it ended with ${SCRIPT}` });
        trials.metrics.peak_pss_bytes.push(Math.round(2e8 * (1 + random())));
        trials.metrics.machine_steal_s.push(oddities && random() < 0.02 ? time * 0.2 : 0);
        trials.metrics.server_cpu_s.push(Number((time * 1.4).toPrecision(4)));
      }
      perRound.push(median(own));
    }
    const all = trials.seconds.filter((time) => time !== null);
    const middle = timed && all.length > 0 ? median(all) : null;
    const several = middle !== null && perRound.length > 1;
    cells.push({
      configuration: index, workload: 'analytics', step, phase, state, parameters: {}, trials: all.length, median_s: middle,
      low_s: several ? Math.min(...perRound) * 0.97 : null, high_s: several ? Math.max(...perRound) * 1.03 : null, verdict,
      bound_by: middle === null ? null : ['one core', 'cpu', 'cpu, part', 'disk', 'waiting'][Math.floor(random() * 5)],
      metrics: more.metrics ?? (middle === null ? {} : { peak_pss_bytes: Math.round(2e8 * (1 + random())), server_cpu_s: Number((middle * 1.4).toPrecision(4)), server_s: middle * 0.9 }),
      intervals: {}, ratio_to_best: null, ratio_to_yardstick: null,
    });
    evidence.push({
      key: `analytics/${configurations[index].system}@${configurations[index].version}/${configurations[index].variant}/${step}/${phase}${state === null ? '' : `/${state}`}`,
      trials, statement: step.startsWith('q') ? 0 : null,
      plan: step.startsWith('q') ? { text: 1, file: `plans/${step}.txt`, violations: oddities && index === 1 && step === 'q6' ? ['a scan where an index was promised'] : [] } : null,
      answers: step.startsWith('q') ? [{ digest: 'blake3:0011', text: 2, trials: all.length }] : [],
    });
    if (!timed) failures.push({ configuration: index, step, phase, round: 1, kind: verdict, error: `it ended with ${SCRIPT}` });
    const broken = evidence.at(-1).plan?.violations ?? [];
    if (broken.length > 0 && phase === 'hot') failures.push({ configuration: index, step, phase, round: 0, kind: 'plan', error: `${broken.join('; ')} (plans/${step}.txt)` });
  };

  configurations.forEach((one, index) => {
    const pace = one.reference ? 2e-9 * (1 + index % 2) : 1e-8 * Math.exp(((index * 7) % configurations.length) / configurations.length * 5);
    const rejected = oddities && one.system === 'postgresql' ? 9 : oddities && one.system === 'mysql' && one.preparation === 'extracted' ? Math.round(documents * 0.02) : 0;
    const partial = rejected > documents / 1000;
    put(index, 'load', 'load', null, documents * pace * 800, 1, {
      verdict: partial ? 'partial' : 'exact',
      metrics: { documents_offered: documents, documents_loaded: documents - rejected, documents_rejected: rejected, documents_per_s: 1 / (pace * 800), bytes_per_s: 480 / (pace * 800), peak_pss_bytes: Math.round(3e8 * (1 + random())), server_cpu_s: documents * pace * 900, written_bytes: documents * 700 },
    });
    for (const state of ['drained', 'compacted']) {
      const total = Math.round(documents * 480 * (one.reference ? 0.08 : 0.3 + ((index * 13) % 10) / 8) * (state === 'drained' ? 1 : 0.9));
      put(index, 'size', 'steady', state, 0, 0, { metrics: { total_bytes: total, data_bytes: Math.round(total * 0.85), index_bytes: Math.round(total * 0.15), files_bytes: total + 4096, log_bytes: 1e6, [`${state}_s`]: 0.01 + random(), ...(oddities && one.system === 'mongodb' && state === 'drained' ? { background_work_left: 3 } : {}) } });
      cells.at(-1).verdict = partial ? 'partial' : 'exact';
      const sizes = sizeTrials(evidence.at(-1).trials, total, one.reference ? 1 : loads, random);
      if (sizes.length > 1) {
        Object.assign(cells.at(-1).metrics, { least_total_bytes: Math.min(...sizes), most_total_bytes: Math.max(...sizes) });
        cells.at(-1).intervals.total_bytes = [total * 0.97, total * 1.03];
      }
    }
    QUESTIONS.forEach((step, question) => {
      const base = documents * pace * (0.4 + question * 0.35);
      const odd = !oddities || one.preparation === 'as-is' ? 'exact' : one.other_questions[step] !== undefined ? 'unverified' : one.system === 'elasticsearch' && step === 'q2' ? 'approximate' : one.system === 'duckdb' && step === 'q5' ? 'wrong'
        : one.system === 'mongodb' && step === 'q4' ? 'timeout' : partial ? 'partial' : 'exact';
      const fromDisk = one.profile === 'stock' && question > 0;
      put(index, step, fromDisk ? 'hot-not-in-memory' : 'hot', 'drained', base, hot, { verdict: odd });
      if (fromDisk) cells.at(-1).metrics.read_bytes = 529e6;
      const cold = (phase, more = {}) => put(index, step, phase, 'drained', base * 3 + 0.02, 1, { verdict: odd, ...more });
      if (one.reference) return;
      if (oddities && one.system === 'sqlite' && one.preparation === 'prepared' && step === 'q3') {
        cold('cold', { in: (round) => round > 1 });
        cold('cold-unverified', { in: (round) => round === 1 });
      } else cold(oddities && one.system === 'elasticsearch' ? 'cold-unverified' : 'cold');
    });
  });
  beside(configurations, cells);
  const scores = oddities ? [] : publishedScores(configurations, cells, evidence);
  return { run: runOf({ name, configurations, documents, rounds, cells, scores, failures, oddities }), evidence: { texts: [...texts, ...what(configurations)], cells: evidence, series: series(configurations, samples, texts.length, random) } };
}

/** Trials of the size step with slightly different sizes per load. */
function sizeTrials(trials, total, loads, random) {
  Object.assign(trials.metrics, { peak_pss_bytes: [], server_cpu_s: [], machine_steal_s: [], total_bytes: [] });
  for (let round = 1; round <= loads; round += 1) {
    trials.round.push(round);
    trials.order.push(0);
    trials.at_ms.push(Date.parse('2026-11-22T02:20:00Z') + round);
    for (const column of [trials.seconds, trials.server_s, trials.bound_by, trials.failure]) column.push(null);
    trials.verdict.push('exact');
    for (const name of ['peak_pss_bytes', 'server_cpu_s', 'machine_steal_s']) trials.metrics[name].push(null);
    trials.metrics.total_bytes.push(round === 2 ? total : Math.round(total * (1 + (random() - 0.5) * 0.04)));
  }
  return trials.metrics.total_bytes;
}

/** Published scores of a complete run, computed as docs/published.md states, to verify those of the page. */
export function publishedScores(configurations, cells, evidence) {
  const own = (index, step, phases) => cells.flatMap((cell, place) =>
    (cell.configuration === index && cell.step === step && phases.includes(cell.phase) && (cell.state ?? 'drained') === 'drained' ? [place] : []));
  const time = (index, step, run) => {
    let found = null;
    for (const place of own(index, step, run === 0 ? ['cold', 'cold-unverified'] : ['hot'])) {
      const { trials } = evidence[place];
      if (trials.verdict.some((verdict) => !['exact', 'approximate', 'partial'].includes(verdict))) return null;
      const at = trials.round.findIndex((round, trial) => round === 1 && trials.order[trial] === Math.max(0, run - 1));
      if (at >= 0) found = trials.seconds[at];
    }
    return found;
  };
  const entrants = configurations.flatMap((one, index) => {
    const [load] = own(index, 'load', ['load']);
    const [size] = own(index, 'size', ['steady']);
    if (one.reference || !one.ranked || load === undefined || size === undefined || cells[load].verdict !== 'exact') return [];
    const times = (of) => QUESTIONS.slice(0, 5).map((step) => of(step));
    return [{
      index, ranking: one.ranking, bytes: cells[size].metrics.total_bytes ?? cells[size].metrics.files_bytes,
      cold: times((step) => time(index, step, 0)),
      hot: times((step) => {
        const both = [time(index, step, 1), time(index, step, 2)];
        return both.includes(null) ? null : Math.min(...both);
      }),
    }];
  });
  return entrants.map((one) => {
    const fellows = entrants.filter((other) => other.ranking === one.ranking);
    const mean = (kind) => {
      let product = 1;
      let questions = 0;
      for (let question = 0; question < 5; question += 1) {
        const there = fellows.map((fellow) => fellow[kind][question]).filter((seconds) => seconds !== null);
        if (there.length === 0) continue;
        const mine = one[kind][question] ?? 2 * Math.max(3600, ...there);
        product *= (0.01 + mine) / (0.01 + Math.min(...there));
        questions += 1;
      }
      return questions === 0 ? null : product ** (1 / questions);
    };
    return { configuration: one.index, state: 'drained', cold: mean('cold'), hot: mean('hot'), size: one.bytes / Math.min(...fellows.map((fellow) => fellow.bytes)) };
  });
}

function beside(configurations, cells) {
  const groups = new Map();
  const comparable = (cell) => ['hot', 'cold'].includes(cell.phase) && cell.median_s !== null && (cell.verdict === 'exact' || cell.verdict === 'approximate');
  for (const cell of cells) {
    if (!comparable(cell)) continue;
    const one = configurations[cell.configuration];
    for (const key of [one.reference || !one.ranked ? null : `${cell.step} ${cell.phase} ${one.ranking}`, one.reference && one.variant === 'one-core' ? `${cell.step} ${cell.phase} yardstick` : null]) {
      if (key === null) continue;
      const before = groups.get(key);
      if (before === undefined || cell.median_s < before.median_s) groups.set(key, cell);
    }
  }
  const ratio = (cell, other) => {
    if (other === undefined || other === cell) return other === undefined ? null : { ratio: 1, low: 1, high: 1, difference: 'no difference shown', other: other.configuration };
    const value = cell.median_s / other.median_s;
    const wide = cell.low_s === null || other.low_s === null ? null : Math.exp(0.1);
    const [low, high] = [wide === null ? null : value / wide, wide === null ? null : value * wide];
    return { ratio: value, low, high, difference: low === null || (low <= 1 && high >= 1) ? 'no difference shown' : value < 1 ? 'faster' : 'slower', other: other.configuration };
  };
  for (const cell of cells) {
    if (!comparable(cell)) continue;
    const one = configurations[cell.configuration];
    if (!one.reference && one.ranked) cell.ratio_to_best = ratio(cell, groups.get(`${cell.step} ${cell.phase} ${one.ranking}`));
    cell.ratio_to_yardstick = ratio(cell, groups.get(`${cell.step} ${cell.phase} yardstick`));
  }
}

export function runOf({ name, configurations, documents, rounds, cells, scores, failures, oddities }) {
  return {
    name, complete: !oddities, open_trials: oddities ? 3 : 0, started: '2026-11-22T02:27:41Z', program: '0.2.0',
    machine: { cores: 2, processor: 'Mock Processor', memory_bytes: 25.3e9, kernel_release: '6.18', os: 'Debian GNU/Linux 12', architecture: 'x86_64', file_system: 'ext4' },
    disk_bytes_per_s: 1.83e9, rounds,
    data: { documents, bytes: documents * 480, digest: `blake3:${documents}`, source: `${documents} generated events, seed 1`, malformed: 0, staging_s: 1.2, reference_sizes: { raw: documents * 480, 'gzip-6': documents * 133, lz4: documents * 211, 'zstd-1': documents * 123 } },
    configurations, cells, answers: answersOf('analytics', configurations), peaks: [], crossovers: [], scores, failures,
  };
}

/** Words of the caveats of invented answers. */
const CAVEAT_LABELS = { end_of_life: 'MongoDB 6.0.5: end of life', embedded: 'ClickHouse: in-process' };
const CAVEAT_TEXTS = { end_of_life: 'MongoDB 6.0.5 is no longer supported by its vendor', embedded: 'ClickHouse runs inside its client, PostgreSQL is a server' };

/** Invented answers of a run: a leader, a tie and a count for each ranking with at least two configurations. */
export function answersOf(workload, configurations) {
  const rankings = [...new Set(configurations.filter((one) => one.ranked && !one.reference).map((one) => one.ranking))];
  return rankings.flatMap((ranking) => {
    const members = configurations.flatMap((one, index) => (one.ranking === ranking && one.ranked && !one.reference ? [index] : []));
    const [first, second] = members;
    if (second === undefined) return [];
    const [a, b] = [configurations[first].title, configurations[second].title];
    const answer = (subject, outcome, sentence, caveats = []) => ({ workload, ranking, subject, conditions: '', outcome, caveats, caveat_texts: caveats.map((one) => CAVEAT_TEXTS[one]), caveat_labels: caveats.map((one) => CAVEAT_LABELS[one]), sentence, severity: 'good' });
    return [
      answer(workload === 'serving' ? 'throughput' : 'hot', { kind: 'leader', first, runner_up: second, ratio: 1.5, low: 1.3, high: 1.7 }, `${a} was 1.50 × faster than ${b} (1.30 … 1.70).`, configurations[second].end_of_life ? ['end_of_life'] : ['embedded']),
      answer('load', { kind: 'no_difference_shown', tied: [first, second], interval: [0.9, 1.4] }, `Load: no difference shown between ${a} and ${b} (0.9 … 1.4).`),
      answer('size', { kind: 'counted', first: [first], value: '1.00 MB' }, `${a} is the smallest: 1.00 MB.`),
    ];
  });
}

function what(configurations) {
  return configurations.map((one) => `loading ${one.system}@${one.version}-${one.variant}-${one.storage}`);
}

function series(configurations, samples, firstText, random) {
  const each = Math.ceil(samples / configurations.length);
  const values = { busy_cores: [], subject_busy_cores: [], stolen_cores: [], subject_pss_bytes: [], disk_read_bytes_per_s: [], disk_written_bytes_per_s: [], disk_busy_share: [], runnable: [] };
  const at = Array.from({ length: samples }, (_, index) => index);
  for (const index of at) {
    values.busy_cores.push(Number((1 + random()).toFixed(2)));
    values.subject_busy_cores.push(Number((0.8 + random()).toFixed(2)));
    values.stolen_cores.push(Number((random() * 0.1).toFixed(2)));
    values.subject_pss_bytes.push(Math.round(2e8 + 1e6 * (index % each)));
    values.disk_read_bytes_per_s.push(Math.round(random() * 1e8));
    values.disk_written_bytes_per_s.push(Math.round(random() * 5e7));
    values.disk_busy_share.push(Number(random().toFixed(2)));
    values.runnable.push(Math.round(random() * 4));
  }
  return { samples_per_point: 1, elapsed_s: at, activity: at.map((index) => (index % each === 0 ? null : firstText + Math.floor(index / each))), values };
}

/** Combines several runs with their evidence. */
export function pack(made) {
  return {
    figures: { format: 2, program: '0.2.0', created: '2026-11-22T09:00:00Z', runs: made.map((one) => one.run), published: published(), published_documents: [] },
    evidence: { runs: made.map((one) => one.evidence) },
  };
}

export function small() {
  return pack([makeRun({ name: 'small', configurations: fewSystems(), documents: 1_000_000, seed: 1 })]);
}

export function two() {
  const of = (name, seed) => makeRun({ name, configurations: fewApart(), documents: 100_000, seed, loads: 1, oddities: false });
  return pack([of('before', 2), of('after', 3)]);
}

/** A run without any finished trial. */
export function empty() {
  const { figures, evidence } = pack([makeRun({ name: 'empty', configurations: fewSystems(), documents: 1000, seed: 4 })]);
  Object.assign(figures.runs[0], { cells: [], answers: [], peaks: [], failures: [], scores: [], rounds: null });
  Object.assign(evidence.runs[0], { cells: [], series: null });
  return { figures, evidence };
}

/**
 * A run of a workload without parts on the page: rates and counts but no times. One of its cells broke a
 * durability promise, which the page shows first.
 */
export function other() {
  const { figures, evidence } = pack([makeRun({ name: 'other', configurations: fewSystems(), documents: 1000, seed: 6 })]);
  const [run, behind] = [figures.runs[0], evidence.runs[0]];
  const kept = run.cells.flatMap((cell, place) => (cell.step === 'load' ? [place] : []));
  behind.cells = kept.map((place) => behind.cells[place]);
  run.cells = kept.map((place, index) => ({
    ...run.cells[place], workload: 'append', step: 'insert', phase: 'batch', state: null, parameters: { clients: 4 }, verdict: 'exact',
    median_s: null, low_s: null, high_s: null, metrics: { records_per_s: 1000 * (index + 1), documents_per_s: 500, lost: 0 }, intervals: { documents_per_s: [450, 550] },
  }));
  run.cells[1].severity = 'failed';
  Object.assign(run.cells[2], { severity: 'warning', metrics: { ...run.cells[2].metrics, wal_bytes_per_op: 1306 }, groups: { wal_bytes_per_op: [[3, 282], [3, 2480]] } });
  const headline = [
    { severity: 'failed', text: '✖ MongoDB 6.0.5, window tier, power loss: promise broken in 2 of 3 crashes, 11,872 of 14,718 acknowledged writes lost' },
    { severity: 'good', text: 'The disk was busy: the disk stood still for at most 1.02 s, the machine stood still for at most 4.00 ms.' },
  ];
  Object.assign(run, { headline, scores: [], failures: [], answers: [] });
  return { figures, evidence };
}

/** Serving systems: throughput of one client in mixes a and c, and how throughput grows with clients. */
const SERVES = [
  ['postgresql', 'PostgreSQL', 1400, 11000, 6], ['mongodb', 'MongoDB', 1100, 6500, 8], ['sqlite', 'SQLite', 900, 42000, 0.4], ['mock', HOSTILE, 700, 800, 3],
  ['duckdb', 'DuckDB', 60, 900, 1],
];

/**
 * A serving run: two closed-loop mixes, one of them also in an open loop, with a wrong and an unverified
 * cell.
 */
export function serving() {
  const random = numbers(8);
  const rounds = 4;
  const configurations = SERVES.map(([system, title]) => configuration(system, title, {
    variant: 'key', embedded: ['sqlite', 'duckdb'].includes(system), ...AS_IS,
    durability: { tier: 'synced', process_crash: 'nothing', power_loss: 'nothing' },
    ...(system === 'duckdb' ? { ranked: false, ranking: 'as-is, not ranked', not_made_for: 'analytical' } : {}),
  }));
  const [cells, evidence, peaks] = [[], [], []];
  const shares = [0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1];
  const times = (typical) => shares.map((share) => [share, Math.round(typical * (share === 1 ? 9 : 0.5 + 0.9 * -Math.log10(1 - share)))]);
  const put = (index, step, phase, parameters, metrics, more = {}) => {
    const count = phase === 'steady' ? 1 : rounds;
    const column = (of) => Array.from({ length: count }, (_, round) => of(round));
    const verdict = more.verdict ?? 'exact';
    const wrong = verdict === 'wrong';
    const shown = wrong ? Object.fromEntries(Object.entries(metrics).filter(([name]) => !/^(throughput|service|response)_/.test(name))) : metrics;
    cells.push({
      configuration: index, workload: 'serving', step, phase, state: phase === 'load' ? null : 'drained', parameters: { documents: 'flat', durability: 'synced', values: 'text', ...parameters },
      trials: wrong ? 0 : count, median_s: more.seconds ?? null, low_s: more.seconds ? more.seconds * 0.95 : null, high_s: more.seconds ? more.seconds * 1.05 : null, verdict, bound_by: null,
      metrics: shown, intervals: Object.fromEntries(Object.entries(shown).filter(([name]) => /^throughput|_p(50|90|99)_us$/.test(name)).map(([name, value]) => [name, [value * 0.95, value * 1.05]])),
      ratio_to_best: null, ratio_to_yardstick: null, ...(more.distributions && !wrong ? { distributions: more.distributions } : {}),
    });
    evidence.push({
      key: `serving/${configurations[index].system}/${step}/${phase}/${JSON.stringify(parameters)}`, statement: null, plan: null, answers: [],
      trials: {
        round: column((round) => round + 1), order: column(() => 0), at_ms: column((round) => Date.parse('2026-11-22T02:30:00Z') + round * 5000), seconds: column(() => more.seconds ?? null), server_s: column(() => null),
        verdict: column(() => verdict), bound_by: column(() => null), failure: column(() => (wrong ? { kind: 'wrong', error: `another document: ${SCRIPT}` } : null)),
        metrics: Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, column(() => value)])),
      },
      ...(phase === 'measured' && parameters.operation === undefined ? { seconds: column((round) => ({
        round: round + 1, order: 0, operations: Array.from({ length: 4 }, (_, at) => Math.round((metrics.throughput_ops_per_s ?? 0) * (at === 0 ? 0.6 : 0.95 + 0.1 * random()))),
        errors: [0, 0, 0, 0], longest_us: [900, 800, 700, 2500], backlog: [0, 0, 0, 0], ramp: 1, checkpoints: configurations[index].embedded ? null : round === 1 && index === 0 ? [3] : [], disk_queue: [0.1, 0.4, 0.2, 1.5],
      })) } : {}),
    });
  };
  SERVES.forEach(([system, , alone, reads, helps], index) => {
    put(index, 'load', 'load', {}, { documents_loaded: 1e5, documents_offered: 1e5 }, { seconds: 1.2 + index * 0.3 });
    put(index, 'size', 'steady', {}, { total_bytes: 1.4e8 + index * 1e7 });
    for (const [mix, one] of [['a', alone], ['c', reads]]) {
      let best = null;
      const capacity = (clients) => one * clients * (1 + helps) / (clients + helps);
      const common = { errors: 0, wrong_answers: 0, lost_updates: 0, server_cpu_us_per_op: 60, client_cpu_us_per_op: mix === 'c' ? 80 : 9, client_cpu_share: mix === 'c' ? 0.57 : 0.13, wal_bytes_per_op: mix === 'c' ? 0 : 900 };
      const percentiles = (name, typical) => Object.fromEntries([['p50', 0.9], ['p90', 1.5], ['p99', 2.3], ['p999', 3.2], ['max', 9]].map(([word, times]) => [`${name}_${word}_us`, Math.round(typical * times)]));
      for (const clients of [1, 8, 32]) {
        const throughput = Number((capacity(clients) * (0.98 + 0.04 * random())).toPrecision(6));
        const typical = 1e6 * clients / throughput;
        const verdict = system === 'mock' && mix === 'a' ? 'wrong' : system === 'mock' ? 'unverified' : 'exact';
        put(index, mix, 'measured', { arrival: 'closed', clients }, { throughput_ops_per_s: throughput, operations: Math.round(throughput * 8), clients, ...percentiles('service', typical), ...common, ...(verdict === 'wrong' ? { wrong_answers: 3 } : {}) },
          { verdict, distributions: { service: times(typical) } });
        if (verdict === 'exact' && (best === null || throughput > best.value)) best = { cell: cells.length - 1, value: throughput, clients };
        if (mix === 'a') {
          for (const operation of ['read', 'update']) put(index, mix, 'measured', { arrival: 'closed', clients, operation }, { throughput_ops_per_s: throughput / 2, operations: throughput * 4, errors: 0, ...percentiles('service', typical) }, { verdict, distributions: { service: times(typical) } });
        }
      }
      if (mix === 'a' && system !== 'mock') {
        for (const share of [0.3, 0.6, 0.9]) {
          const rate = Math.round(capacity(32) * share);
          const typical = 32e6 / capacity(32) * (1 + share / (1.05 - share));
          put(index, mix, 'measured', { arrival: 'poisson', clients: 32, rate_per_s: rate }, { throughput_ops_per_s: rate, clients: 32, ...percentiles('service', typical / 2), ...percentiles('response', typical), ...common, missed_arrivals: share > 0.8 ? 4 : 0, lateness_p99_us: 40 }, { distributions: { service: times(typical / 2), response: times(typical) } });
        }
      }
      if (best !== null && system !== 'duckdb') peaks.push({ mix, index, ...best });
    }
  });
  const made = peaks.map(({ mix, index, cell, value }) => {
    const best = peaks.filter((one) => one.mix === mix).reduce((a, b) => (b.value > a.value ? b : a));
    const ratio = value / best.value;
    const itself = best.index === index;
    const leads = itself && peaks.every((one) => one.mix !== mix || one.index === index || (one.value / best.value) * 1.07 <= 1);
    return { cell, throughput_ops_per_s: value, other_clients: best.clients, leads, ratio_to_best: { ratio, low: itself ? 1 : ratio * 0.93, high: itself ? 1 : ratio * 1.07, difference: itself || ratio * 1.07 > 1 ? 'no difference shown' : 'slower', other: best.index } };
  });
  const run = { ...runOf({ name: 'serving', configurations, documents: 100_000, rounds, cells, scores: [], failures: [], oddities: false }), peaks: made, answers: answersOf('serving', configurations) };
  return pack([{ run, evidence: { texts: [], cells: evidence, series: null } }]);
}

/** The published results on large documents. */
export function publishedDocuments() {
  const folder = join(root, 'crates', 'results', 'published');
  const rows = (name) => readFileSync(join(folder, name), 'utf8').split('\n').filter((line) => line !== '' && !line.startsWith('#')).slice(1).map((line) => line.split('\t'));
  const number = (text) => (text === '' ? null : Number(text));
  const suspected = rows('documents-suspected.tsv');
  return rows('documents-2024.tsv').map(([test, system, variant, index, n, documents, mean, sd, disk]) => ({
    test, system, variant, index: index === '' ? null : index, n: Number(n), documents: Number(documents), mean_s: number(mean), sd_s: number(sd), disk: number(disk),
    suspected_errors: suspected.filter((one) => [test, system, variant, index, n].every((word, place) => one[place] === '' || one[place] === word)).map((one) => one[5]),
  }));
}

/**
 * A documents run: three systems over three sizes, one of which rejects the largest size and has no copies.
 */
export function documents() {
  const rounds = 3;
  const configurations = [
    configuration('postgresql', 'PostgreSQL', { variant: 'jsonb', ...AS_IS }), configuration('sqlite', 'SQLite', { variant: 'jsonb', embedded: true, ...AS_IS }),
    configuration('mock', HOSTILE, { variant: 'json', variant_title: SCRIPT, ...AS_IS }),
  ];
  const [cells, evidence] = [[], []];
  const put = (index, step, phase, parameters, metrics, more = {}) => {
    const { verdict = 'exact', seconds = null } = more;
    const count = phase === 'steady' ? 1 : rounds;
    const column = (of) => Array.from({ length: count }, (_, round) => of(round));
    cells.push({
      configuration: index, workload: 'documents', step, phase, state: phase === 'load' ? null : 'drained', parameters, trials: seconds === null ? 0 : count,
      median_s: seconds, low_s: seconds === null ? null : seconds * 0.95, high_s: seconds === null ? null : seconds * 1.05, verdict, bound_by: null, metrics, intervals: {}, ratio_to_best: null, ratio_to_yardstick: null,
    });
    evidence.push({
      key: `documents/${configurations[index].system}/${step}/${phase}/${JSON.stringify(parameters)}`, statement: null, plan: null, answers: [],
      trials: {
        round: column((round) => round + 1), order: column(() => 0), at_ms: column((round) => Date.parse('2026-11-22T02:30:00Z') + round * 5000), seconds: column(() => seconds), server_s: column(() => null), verdict: column(() => verdict),
        bound_by: column(() => null), failure: column(() => (verdict === 'exact' ? null : { kind: 'refused', error: `too large: ${SCRIPT}` })), metrics: Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, column(() => value)])),
      },
    });
  };
  for (const data of ['identical', 'distinct']) {
    for (const [place, [size, n]] of [['64KiB', 12], ['1MiB', 16], ['16MiB', 20]].entries()) {
      const source = 2 ** 23;
      configurations.forEach(({ system }, index) => {
        const of = (more = {}) => ({ size, n: system === 'mock' && n === 20 ? 19 : n, data, ...more });
        const pace = (1 + index) * (index === 1 ? 0.5 + place : 1);
        for (const [step, base] of [['export', 0.02], ['import', 0.09], ['extract', 0.004], ['filter', 0.003], ['order', 0.004]]) {
          put(index, step, step === 'import' ? 'load' : 'hot', of(), { source_bytes: source, documents: source / 2 ** (n + 4), bytes_per_s: source / base }, { seconds: base * pace });
        }
        if (system === 'mock') put(index, 'copy', 'load', of(), {}, { verdict: 'not_applicable' });
        else put(index, 'copy', 'load', of(), { source_bytes: source }, { seconds: 0.2 * pace });
        const added = source * (data === 'identical' ? 0.1 : 0.9) * (1 + index);
        put(index, 'disk', 'steady', of(), { source_bytes: source, files_bytes: 6e6, ...(system === 'mock' ? {} : { files_with_copy_bytes: 6e6 + added, added_bytes: added, added_share: added / source }) });
        put(index, 'index', 'load', of({ index: 'stored' }), { source_bytes: source, index_bytes: 16384 }, { seconds: 0.05 * pace });
        put(index, 'filter', 'hot', of({ index: 'stored' }), { source_bytes: source }, { seconds: 0.0002 });
        for (const [query, form, use] of [['filter', 'column by name', n === 12 ? 3 : 2], ['contains', '@>', data === 'identical' ? 1 : 3], ['exists', HOSTILE, 0]]) {
          put(index, 'use', 'steady', of({ index: 'stored', query, form }), { index_use: use });
        }
      });
    }
  }
  for (const [size, n] of [['32MiB', 21], ['64MiB', 22]]) {
    put(0, 'limit', 'load', { size, n, data: 'identical' }, { source_bytes: 2 ** (n + 4) }, { seconds: 0.4 });
    put(2, 'limit', 'load', { size, n, data: 'identical' }, {}, { verdict: 'not_applicable' });
  }
  const crossovers = [{ test: 'export', data: 'identical', faster_below: 1, faster_above: 0, bytes: 700_000, low: 400_000, high: null }];
  const run = { ...runOf({ name: 'documents', configurations, documents: 200, rounds, cells, scores: [], failures: [], oddities: false }), crossovers, answers: answersOf('documents', configurations) };
  const made = pack([{ run, evidence: { texts: [], cells: evidence, series: null } }]);
  made.figures.published_documents = publishedDocuments();
  return made;
}

/** Two workloads on one page, one of which has a failure that is told first. */
export function several() {
  const [asked, served] = [two(), serving()];
  const [run] = served.figures.runs;
  const failure = { ...run.answers[0], subject: 'correctness', outcome: { kind: 'counted', first: [3], value: '3 wrong answers' }, caveats: [], caveat_texts: [], caveat_labels: [], sentence: 'A system gave 3 wrong answers.', severity: 'failed' };
  run.answers = [failure, ...run.answers];
  return {
    figures: { ...asked.figures, runs: [asked.figures.runs[0], run] }, evidence: { runs: [asked.evidence.runs[0], served.evidence.runs[0]] },
  };
}

/** A run with a single round. */
export function once() {
  return pack([makeRun({ name: 'once', configurations: fewSystems(), documents: 1000, seed: 5, rounds: 1, oddities: false })]);
}

/** Four runs with 50 systems and 10,000 trials. */
export function large() {
  const scales = [['100k', 1e5], ['1m', 1e6], ['10m', 1e7], ['100m', 1e8]];
  return pack(scales.map(([name, documents], index) =>
    makeRun({ name: `large-${name}`, configurations: manySystems(), documents, seed: 10 + index, rounds: 3, hot: 2, oddities: false, samples: 2000 })));
}

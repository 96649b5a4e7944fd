import { describe, expect, it } from 'vitest';
import {
  equalRanks,
  fleetJob,
  fleetSummary,
  grown,
  growthAt,
  largestSite,
  pipelineRanks,
  raised,
  withRank,
  withSite,
} from '../../testing/ranks.ts';
import type { RankSummary, SummarySite } from '../summary-file/types.ts';
import { analyseJob } from './analyse-job.ts';
import { parseLayout } from './number-files.ts';

const MIB = 2 ** 20;
const codes = (problems: readonly { readonly code: string }[]) => problems.map(({ code }) => code);

const site = (key: string, peakBytes: number, peakCount: number): SummarySite => ({
  key,
  line: `line-of-${key}`,
  frame: { file: '/workspace/train.py', line: 88, name: 'main' },
  label: 'main',
  class: 'parameters',
  allocations: peakCount,
  peakCount,
  peakBytes,
  endBytes: peakBytes,
});

describe('ranks that do the same work', () => {
  it('are one role without an outlier', () => {
    const job = analyseJob(equalRanks(8));
    expect(job.roles).toEqual([
      { name: 'A', ranks: [0, 1, 2, 3, 4, 5, 6, 7], about: 'all ranks do the same' },
    ]);
    expect(job).toMatchObject({ outliers: [], problems: [], notes: [] });
    expect(job.verdict).toMatch(/^No outlier: 8 ranks peak at 517\.98 MiB allocated/);
  });

  it('may differ as much as they all do', () => {
    const noisy = equalRanks(8).map(({ path, summary }, i) => ({
      path,
      summary: raised(summary, [0, 90, 30, 120, 60, 100, 20, 140][i] * MIB),
    }));
    expect(analyseJob(noisy).outliers).toEqual([]);
  });

  it('cannot be compared if there is only one', () => {
    const files = withRank(equalRanks(1), 0, (summary) => raised(summary, 400 * MIB));
    expect(analyseJob(files)).toMatchObject({
      outliers: [],
      verdict: expect.stringMatching(/nothing to compare/),
    });
  });
});

describe('two ranks', () => {
  const pair = (bytes: number, of = site('x', bytes, 24)) =>
    analyseJob(withRank(equalRanks(2), 1, (summary) => withSite(summary, of)));

  it('are alike if they differ by less than 5%', () => {
    expect(pair(20 * MIB)).toMatchObject({
      outliers: [],
      verdict: expect.stringMatching(/^No outlier: 2 ranks peak at .* all within 4%\.$/),
    });
  });

  it('are compared: which holds more, how much, of which class and where', () => {
    const { outliers, verdict, ranks } = pair(300 * MIB);
    expect(outliers).toMatchObject([
      { rank: 1, comparedWith: 0, cause: 'only-here', class: 'parameters', frame: { line: 88 } },
    ]);
    expect(verdict).toBe(
      'Rank 1 holds 300.00 MiB (58%) more than rank 0 at its peak. It holds 300.00 MiB in 24 tensors ' +
        '(parameters and buffers) of train.py:88 (main) at its peak, where rank 0 holds none.',
    );
    expect(ranks.map(({ aboveRoleBytes }) => aboveRoleBytes)).toEqual([-300 * MIB, 300 * MIB]);
  });

  it('of a healthy job are not outliers, and a difference in reserved memory is mentioned', () => {
    const { outliers, verdict } = analyseJob(fleetJob('healthy_ddp.python').slice(0, 2));
    expect(outliers).toEqual([]);
    expect(verdict).toMatch(
      /^No outlier: 2 ranks .*\. Rank 1 reserved 2\d\d\.\d\d MiB \(\d+%\) more\.$/,
    );
  });

  it('that run different code are reported if one of them grows', () => {
    const files = pipelineRanks().slice(0, 2);
    const leak = site('x', 600 * MIB, 10);
    const { outliers, difference } = analyseJob(
      withRank(files, 1, (summary) => ({
        ...withSite(summary, leak),
        findings: [growthAt(leak, 600 * MIB)],
      })),
    );
    expect(difference).toBeNull();
    expect(outliers).toMatchObject([{ rank: 1, cause: 'growth', frame: { line: 88 } }]);
  });

  it('that do different work are also compared, and neither is called an outlier', () => {
    const [first, , , last] = pipelineRanks();
    const job = analyseJob([first, { ...last, summary: { ...last.summary, rank: 1 } }]);
    expect(job.roles).toHaveLength(2);
    expect(job).toMatchObject({ outliers: [], difference: { comparedWith: expect.any(Number) } });
    expect(job.verdict).toMatch(/^Rank 0 holds .* activations\..* run different code/);
    expect(job.verdict).not.toMatch(/can't tell|No outlier/);
  });
});

it('a single rank with different code is compared with the largest role', () => {
  const program = { count: 9, keys: [...'abcdefghi'], allocations: Array(9).fill(50) };
  const files = withRank(equalRanks(4), 0, (summary) =>
    withSite({ ...summary, program }, site('x', 300 * MIB, 24)),
  );
  const { roles, outliers, difference, verdict } = analyseJob(files);
  expect(roles.map(({ ranks }) => ranks)).toEqual([[0], [1, 2, 3]]);
  expect(outliers).toEqual([]);
  expect(difference).toMatchObject({ rank: 0, aboveRoleBytes: 300 * MIB, comparedWith: null });
  expect(verdict).toMatch(
    /^Rank 0 holds 300\.00 MiB .* where the others hold none\. It runs other code/,
  );
});

describe('a DDP job whose rank 0 alone does more', () => {
  // Validation runs the training lines again, and lines of its own.
  it.each([
    ['a validation batch', 2, 12],
    ['a copy for checkpoints', 1, 1],
  ])('%s: rank 0 is the outlier of one role', (_, times, lines) => {
    const files = withRank(fleetJob('healthy_ddp.python'), 0, (summary) => {
      const { program } = summary;
      const often = { ...program, allocations: program.allocations.map((count) => times * count) };
      const extra = Array.from({ length: lines }, (_, i) => site(`x${i}`, (600 / lines) * MIB, 24));
      return extra.reduce(withSite, { ...summary, program: often });
    });
    const { roles, outliers } = analyseJob(files);
    expect(roles).toHaveLength(1);
    expect(outliers).toMatchObject([{ rank: 0, cause: 'only-here', frame: { line: 88 } }]);
  });
});

describe('an outlier', () => {
  const job = (change: (summary: RankSummary) => RankSummary) =>
    analyseJob(withRank(equalRanks(8), 5, change));

  it('holds more of the same: more', () => {
    const { outliers, roles } = job((summary) => {
      const { key, peakBytes, peakCount } = largestSite(summary);
      return grown(summary, key, { peakBytes: 4 * peakBytes, peakCount: 4 * peakCount });
    });
    expect(outliers).toMatchObject([{ rank: 5, cause: 'more', counter: 'allocatedBytes' }]);
    expect(roles).toHaveLength(1);
  });

  it('holds as many that are larger: larger', () => {
    const own = largestSite(fleetSummary('fsdp2_rank0'));
    const { outliers } = job((summary) =>
      grown(summary, own.key, { peakBytes: 3 * own.peakBytes }),
    );
    expect(outliers).toMatchObject([
      { rank: 5, cause: 'larger', frame: own.frame, aboveRoleBytes: 2 * own.peakBytes },
    ]);
    expect(outliers[0].claim).toContain('2.0 times the size');
  });

  it('holds memory at a line that no other has: only-here', () => {
    const { outliers, roles } = job((summary) => withSite(summary, site('x', 300 * MIB, 24)));
    expect(roles).toHaveLength(1);
    expect(outliers).toMatchObject([
      { rank: 5, cause: 'only-here', aboveRoleBytes: 300 * MIB, frame: { line: 88 } },
    ]);
  });

  it('keeps more every step: growth, even if the difference is still small', () => {
    for (const bytes of [300 * MIB, 12 * MIB]) {
      const { outliers } = job((summary) => {
        const leak = site('x', bytes, 10);
        return { ...withSite(summary, leak), findings: [growthAt(leak, bytes)] };
      });
      expect(outliers).toMatchObject([{ rank: 5, cause: 'growth', frame: { line: 88 } }]);
    }
  });

  it('reserved more for the same tensors: fragmentation', () => {
    const { outliers } = job((summary) => {
      const { reservedBytes } = summary.peak;
      const higher = { ...reservedBytes, bytes: (reservedBytes.bytes ?? 0) + 400 * MIB };
      return { ...summary, peak: { ...summary.peak, reservedBytes: higher } };
    });
    expect(outliers).toMatchObject([
      { rank: 5, cause: 'fragmentation', counter: 'reservedBytes', aboveRoleBytes: 400 * MIB },
    ]);
  });

  it('is not reported if most ranks grow: then all are mentioned', () => {
    const all = equalRanks(8).map(({ path, summary }) => {
      const leak = site('x', 80 * MIB, 10);
      return {
        path,
        summary: { ...withSite(summary, leak), findings: [growthAt(leak, 80 * MIB)] },
      };
    });
    const { outliers, verdict } = analyseJob(all);
    expect(outliers).toEqual([]);
    expect(verdict).toContain('8 ranks of 8 keep 8.00 MiB every step at train.py:88 (main).');
  });
});

describe('a pipeline', () => {
  it('has roles for its first, middle and last stages, and no outlier', () => {
    const job = analyseJob(pipelineRanks());
    expect(job.roles.map(({ ranks }) => ranks)).toEqual([[0], [1, 2], [3]]);
    expect(job.roles.map(({ about }) => about.split(':')[0])).toEqual([
      'first stage',
      'middle stages',
      'last stage',
    ]);
    expect(job.outliers).toEqual([]);
    expect(job.verdict).toContain('Activations fall with the stage');
    // Each stage has 162 MiB less than the one before: without that, the two middle stages are alike.
    const [, a, b] = job.ranks;
    expect(Math.abs((a.aboveRoleBytes ?? 0) - (b.aboveRoleBytes ?? 0))).toBeLessThan(8 * MIB);
  });

  it('with two ranks per stage distinguishes an unusual rank from its twin', () => {
    // Four replicas of the middle stages' ranks: 0 is first, 1 to 4 stage 1, 5 to 8 stage 2, 9 last.
    const [first, second, third, last] = pipelineRanks();
    const stages = [first, second, second, second, second, third, third, third, third, last];
    const files = stages.map(({ summary }, rank) => ({
      path: `rank${rank}.pickle`,
      summary: { ...summary, rank, file: { ...summary.file, name: `rank${rank}.pickle` } },
    }));
    expect(analyseJob(files).outliers).toEqual([]);
    const changed = withRank(files, 3, (summary) => withSite(summary, site('x', 300 * MIB, 4)));
    expect(analyseJob(changed).outliers).toMatchObject([{ rank: 3, cause: 'only-here' }]);
  });
});

describe('jobs on four GPUs, recorded with Python stacks and with all stacks', () => {
  // Names and lines as in fixtures/fleet/README.md.
  it.each([
    ['healthy_fsdp2.python', undefined, undefined, []],
    ['healthy_ddp.python', undefined, undefined, []],
    ['tensor_parallel.python', undefined, undefined, []],
    ['tensor_parallel.all', undefined, undefined, []],
    ['skewed_experts.python', 3, 'larger', [71, 72]],
    ['skewed_experts.all', 3, 'larger', [71, 72]],
    ['extra_copy.python', 1, 'only-here', [100]],
    ['extra_copy.all', 1, 'only-here', [100]],
    ['oom_one_rank.python', 2, 'larger', [46]],
  ])('%s: outlier %s, %s', (name, rank, cause, lines) => {
    const { outliers, roles, problems, failure } = analyseJob(fleetJob(name));
    expect(roles.map(({ ranks }) => ranks)).toEqual([[0, 1, 2, 3]]);
    expect(problems).toEqual([]);
    expect(outliers.map((outlier) => [outlier.rank, outlier.cause])).toEqual(
      rank === undefined ? [] : [[rank, cause]],
    );
    for (const { frame } of outliers) expect(lines).toContain(frame?.line);
    expect(failure.first).toEqual(name.startsWith('oom') ? [2] : []);
  });

  it('names the rank that failed alone, and when', () => {
    const { failure } = analyseJob(fleetJob('oom_one_rank.python'));
    expect(failure.text).toBe('Only rank 2 ran out of memory after 4 whole steps.');
  });
});

describe('a layout', () => {
  it('decides which ranks are one stage, whatever they do', () => {
    const { roles } = analyseJob(pipelineRanks(), { layout: parseLayout('pp2,tp2') });
    expect(roles.map(({ name, ranks }) => [name, ranks])).toEqual([
      ['stage 0', [0, 1]],
      ['stage 1', [2, 3]],
    ]);
  });

  it('may be a list of roles', () => {
    const text =
      '{"roles": [{"name": "trainer", "ranks": [0, 2, 3]}, {"name": "rollout", "ranks": [1]}]}';
    const { roles } = analyseJob(pipelineRanks(), { layout: parseLayout(text) });
    expect(roles.map(({ name, ranks }) => [name, ranks])).toEqual([
      ['trainer', [0, 2, 3]],
      ['rollout', [1]],
    ]);
  });

  it.each([
    '',
    'pp',
    'pp0',
    '4,2',
    '{}',
    '{"roles": [1]}',
    '{"roles": [{"name": "a", "ranks": ["0"]}]}',
  ])('is refused if invalid: %j', (text) => {
    expect(() => parseLayout(text)).toThrow(RangeError);
  });
});

describe('who failed first', () => {
  const failing = (steps: Readonly<Record<number, number>>, recording = 'complete') =>
    equalRanks(8).map(({ path, summary }, rank) => {
      const step = steps[rank];
      const oom = {
        event: 9,
        timeUs: 9,
        requestedBytes: 1,
        deviceFreeBytes: null,
        wasRetried: false,
      };
      const ooms = step === undefined ? [] : [{ ...oom, step }];
      return {
        path,
        summary: { ...summary, ooms, oomCount: ooms.length, recording } as RankSummary,
      };
    });

  it('is the rank with the earliest step', () => {
    const { failure } = analyseJob(failing({ 2: 11, 6: 7, 7: 11 }));
    expect(failure.first).toEqual([6]);
    expect(failure.text).toBe(
      'Rank 6 ran out of memory first after 7 whole steps; 2 ranks followed in later steps.',
    );
  });

  it('is unknown within a step, and if a recording does not reach back', () => {
    const { failure } = analyseJob(failing({ 2: 7, 6: 7 }));
    expect(failure.first).toEqual([2, 6]);
    expect(failure.text).toContain("We can't tell the order within a step");
    const late = analyseJob(failing({ 2: 7, 6: 9 }, 'truncated')).failure;
    expect(late.first).toEqual([]);
    expect(late.text).toContain('does not reach back to the start');
  });

  it('is nobody if nothing failed', () => {
    expect(analyseJob(equalRanks(3)).failure).toEqual({ failed: [], first: [], text: '' });
  });
});

/** A call site that holds more when the snapshot is taken, and the counter with it. */
function withEnd(summary: RankSummary, key: string, endBytes: number): RankSummary {
  const own = summary.callSites.find((site) => site.key === key);
  const more = endBytes - (own?.endBytes ?? 0);
  const allocatedBytes = (summary.end.allocatedBytes ?? 0) + more;
  return {
    ...summary,
    end: { ...summary.end, allocatedBytes },
    callSites: summary.callSites.map((site) => (site === own ? { ...site, endBytes } : site)),
  };
}

describe('files', () => {
  it('that are missing are named in a note', () => {
    const files = equalRanks(12).filter((_, rank) => ![3, 4, 5, 9].includes(rank));
    const { problems, ranks } = analyseJob(files);
    expect(problems).toMatchObject([{ code: 'missing-ranks' }]);
    expect(problems[0].message).toContain('Ranks 3–5, 9 are missing');
    expect(ranks).toHaveLength(8);
  });

  it('of one rank are named, and the first is shown', () => {
    const [first, second, third] = equalRanks(3);
    const other = {
      path: 'second/rank1.pickle',
      summary: raised({ ...second.summary, events: 7 }, 1),
    };
    const { problems, ranks } = analyseJob([first, second, third, other]);
    expect(problems).toMatchObject([
      { code: 'two-files-of-one-rank', files: [second.path, other.path] },
    ]);
    expect(ranks.map(({ path }) => path)).toEqual([first.path, second.path, third.path]);
  });

  it('that are a snapshot and its own summary are one rank', () => {
    const files = equalRanks(3);
    const twice = [...files, ...files.map((file) => ({ ...file, path: `${file.path}.gz` }))];
    expect(analyseJob(twice)).toMatchObject({ problems: [], ranks: [{}, {}, {}] });
  });

  it('that could not be read are named, and all others are shown', () => {
    const unread = [
      { path: 'rank3.pickle', failure: { code: 'truncated', message: 'The file ends too early.' } },
      { path: 'rank4.vramscope.json', failure: { code: 'newer-summary', message: 'Newer.' } },
    ];
    const { problems, ranks } = analyseJob([...equalRanks(3), ...unread]);
    expect(codes(problems)).toEqual(['unreadable', 'newer-summary']);
    expect(ranks).toHaveLength(3);
  });

  it('of two jobs are named, by the code that they ran or by the time', () => {
    const other = pipelineRanks().map(({ path, summary }, i) => ({
      path,
      summary: {
        ...summary,
        rank: 3 + i,
        program: { count: 9, keys: [...'abcdefghi'], allocations: Array(9).fill(50) },
      },
    }));
    const mixed = [
      ...equalRanks(3),
      ...other.map(({ summary }, i) => ({ path: `rank${3 + i}.pickle`, summary })),
    ];
    // Four do the same work, so the other three are the odd ones.
    expect(analyseJob(mixed).problems).toMatchObject([
      { code: 'several-jobs', message: expect.stringMatching(/^Ranks 0–2 share hardly a line/) },
    ]);
    const later = equalRanks(8).map((file, rank) => {
      const startUs = (file.summary.startUs ?? 0) + (rank === 6 ? 86400e6 : rank * 1e6);
      return { ...file, summary: { ...file.summary, startUs } };
    });
    expect(analyseJob(later).problems).toMatchObject([
      { code: 'several-jobs', message: expect.stringMatching(/^Rank 6 ran 24 h 00 min later/) },
    ]);
  });

  it('without a rank in the name are numbered in natural order', () => {
    const names = ['host10.pickle', 'host2.pickle', 'host1.pickle'];
    const files = equalRanks(3).map(({ summary }, i) => ({
      path: names[i],
      summary: { ...summary, rank: null },
    }));
    const { ranks, problems } = analyseJob(files);
    expect(ranks.map(({ path, isCounted }) => [path, isCounted])).toEqual([
      ['host1.pickle', true],
      ['host2.pickle', true],
      ['host10.pickle', true],
    ]);
    expect(problems).toEqual([]);
    const pattern = /host(\d+)/;
    expect(analyseJob(files, { pattern }).ranks.map(({ rank }) => rank)).toEqual([1, 2, 10]);
  });

  it('of other moments are not duplicates: the moment with most memory is compared', () => {
    const files = ['EXTEND', 'DECODE'].flatMap((moment, i) =>
      equalRanks(2).map(({ summary }, rank) => ({
        path: `17180${i}.5-TP-${rank}-memory-${moment}.pickle`,
        summary: { ...raised(summary, i * MIB), events: i, rank: null },
      })),
    );
    const { ranks, problems, verdict } = analyseJob(files);
    expect(problems).toEqual([]);
    expect(ranks).toMatchObject([
      { rank: 0, isCounted: false, moment: 'DECODE', others: [files[0].path] },
      { rank: 1, isCounted: false, moment: 'DECODE', others: [files[1].path] },
    ]);
    expect(verdict).toContain('shown: DECODE');
  });

  it('of one process are a series of dumps: what grew between them, line by line', () => {
    const [{ summary }] = equalRanks(1);
    const site = largestSite(summary);
    const files = [1, 2, 3].map((dump) => ({
      path: `step${dump}00.pickle`,
      summary: {
        ...withEnd(summary, site.key, site.endBytes + dump * MIB),
        rank: null,
        startUs: dump,
      },
    }));
    const { ranks, moments, verdict, problems } = analyseJob(files.toReversed());
    expect(ranks).toHaveLength(1);
    expect(problems).toEqual([]);
    expect(moments?.dumps.map(({ moment }) => moment)).toEqual([
      'step 100',
      'step 200',
      'step 300',
    ]);
    const [first, ...rest] = moments?.lines ?? [];
    expect(first.bytes.map((bytes) => bytes - first.bytes[0])).toEqual([0, MIB, 2 * MIB]);
    expect(first.grows).toBe(true);
    expect(rest.every(({ grows }) => !grows)).toBe(true);
    moments?.dumps.forEach(({ allocatedBytes }, i) => {
      const sum = moments.lines.reduce((all, { bytes }) => all + bytes[i], 0);
      expect(sum).toBe(allocatedBytes);
    });
    expect(verdict).toMatch(/^3 dumps of one process: .* In every dump there is more from /);
  });

  it('of several ranks, or a single dump, are no series', () => {
    expect(analyseJob(equalRanks(2)).moments).toBeNull();
    expect(analyseJob(equalRanks(1)).moments).toBeNull();
  });

  it('of a mesh are numbered by it, and stages of a pipeline are roles', () => {
    const files = [0, 1].flatMap((pp) =>
      [0, 1].map((tp) => ({
        path: `tp${tp}_pp${pp}.pickle`,
        summary: { ...fleetSummary('fsdp2_rank0'), rank: null },
      })),
    );
    const { ranks, roles } = analyseJob(files);
    expect(ranks.map(({ rank, path }) => [rank, path])).toEqual([
      [0, 'tp0_pp0.pickle'],
      [1, 'tp1_pp0.pickle'],
      [2, 'tp0_pp1.pickle'],
      [3, 'tp1_pp1.pickle'],
    ]);
    expect(roles.map((role) => [role.name, role.ranks])).toEqual([
      ['stage 0', [0, 1]],
      ['stage 1', [2, 3]],
    ]);
  });

  it('in a folder named after the size of the mesh are numbered', () => {
    const files = equalRanks(2).map(({ summary }, i) => ({
      path: `llama_tp8/host${i}.pickle`,
      summary: { ...summary, rank: 8 },
    }));
    expect(analyseJob(files)).toMatchObject({
      problems: [],
      ranks: [
        { rank: 0, isCounted: true },
        { rank: 1, isCounted: true },
      ],
    });
  });

  it('none at all', () => {
    expect(analyseJob([]).verdict).toBe('No rank could be read.');
  });
});

it('1,024 ranks are judged quickly', () => {
  const files = withRank(equalRanks(1024), 700, (summary) =>
    withSite(summary, site('x', 300 * MIB, 24)),
  );
  const before = performance.now();
  const { outliers } = analyseJob(files);
  expect(outliers.map(({ rank }) => rank)).toEqual([700]);
  expect(performance.now() - before).toBeLessThan(4000);
});

/**
 * What to check when looking for where the memory went, in that order, with what the detectors say to
 * each point. The points are the detectors' own.
 */
import type { Analysis } from './analyse.ts';
import { DETECTORS, type DetectorId, type Finding } from './detectors.ts';
import type { ChecklistAnswer, ChecklistFacts, ChecklistPoint } from './types.ts';

export interface ChecklistItem extends ChecklistAnswer<Finding> {
  readonly label: string;
  readonly savedBytes: number | undefined;
}

interface OwnedPoint extends ChecklistPoint {
  readonly detector: DetectorId;
}

export function checklist(analysis: Analysis, facts: ChecklistFacts): ChecklistItem[] {
  const points = DETECTORS.flatMap(({ id, checklist: own }): OwnedPoint[] =>
    own.map((point) => ({ ...point, detector: id })),
  );
  return points
    .sort((a, b) => a.order - b.order)
    .map(({ label, detector, answer }) => {
      const own = detectorAnswer(analysis, detector);
      return { label, savedBytes: undefined, ...(answer?.(own, facts) ?? own) };
    });
}

function detectorAnswer(
  { findings, checks }: Analysis,
  detector: DetectorId,
): ChecklistAnswer<Finding> {
  const check = checks.find((one) => one.detector === detector);
  if (check === undefined) return { status: 'waiting', text: '', findings: [] };
  const own = findings.filter((finding) => finding.detector === detector);
  return { status: check.status, text: check.reason, findings: own };
}

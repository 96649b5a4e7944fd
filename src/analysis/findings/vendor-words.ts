/** Findings and verdicts in the words of the device's vendor. CUDA's stay as they are. */
import { helpsOn, inWordsOf } from '../../device/model/vendors.ts';
import type { DeviceTrace } from '../../format/snapshot/tables.ts';
import type { Judgement } from '../verdict/verdict.ts';
import type { Check, Finding } from './detectors.ts';

type Device = Pick<DeviceTrace, 'accelerator'>;

const UNTESTED = 'vramscope knows no allocator setting of this device that would show it.';

export function findingOn(device: Device, finding: Finding): Finding {
  if (device.accelerator === undefined) return finding;
  const told = (text: string) => inWordsOf(device, text);
  return {
    ...finding,
    claim: told(finding.claim),
    advice: finding.advice.filter((text) => helpsOn(device, text)).map(told),
    disproof: helpsOn(device, finding.disproof) ? told(finding.disproof) : UNTESTED,
    facts: finding.facts.map((fact) => ({
      ...fact,
      label: told(fact.label),
      ...('text' in fact && { text: told(fact.text) }),
    })),
  };
}

export const checkOn = (device: Device, check: Check): Check => ({
  ...check,
  reason: inWordsOf(device, check.reason),
});

export function judgementOn(device: Device, { verdict, ...rest }: Judgement): Judgement {
  if (device.accelerator === undefined) return { verdict, ...rest };
  const told = (text: string) => inWordsOf(device, text);
  const advice = verdict.advice
    .filter(({ text }) => helpsOn(device, text))
    .map((remedy) => ({ ...remedy, text: told(remedy.text) }));
  return {
    ...rest,
    verdict: {
      ...verdict,
      text: told(verdict.text),
      brief: told(verdict.brief),
      also: verdict.also.map(told),
      advice,
    },
  };
}

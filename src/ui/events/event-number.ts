/** '1,234' is event 1234; undefined for what is no event of the trace. */
export function eventNumber(text: string, events: number): number | undefined {
  const digits = text.trim().replace(/(?<=\d)[,_ ](?=\d{3})/g, '');
  if (!/^\d{1,10}$/.test(digits)) return undefined;
  return Number(digits) < events ? Number(digits) : undefined;
}

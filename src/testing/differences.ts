type Column = ArrayLike<unknown>;

const isColumn = (value: object): value is Column =>
  Array.isArray(value) || (ArrayBuffer.isView(value) && 'length' in value);

/**
 * Where two values differ in the sense of toEqual, with only the first row of each column:
 * 'devices.0.events.sizeBytes.17: 512, not 1024'. For tables of 100,000 rows: toEqual creates a key for each row,
 * which takes seconds per file, and prints an endless list of differences.
 */
export function differences(actual: unknown, expected: unknown, path = ''): readonly string[] {
  if (Object.is(actual, expected)) return [];
  const isOfParts = isObject(actual) && isObject(expected);
  if (!isOfParts || actual.constructor !== expected.constructor) {
    return [`${path}: ${brief(actual)}, not ${brief(expected)}`];
  }
  if (isColumn(actual) && isColumn(expected)) return differentRow(actual, expected, path);
  const [ours, theirs] = [new Map(Object.entries(actual)), new Map(Object.entries(expected))];
  const keys = new Set([...ours.keys(), ...theirs.keys()]);
  return [...keys].flatMap((key) =>
    differences(ours.get(key), theirs.get(key), path === '' ? key : `${path}.${key}`),
  );
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function differentRow(actual: Column, expected: Column, path: string): readonly string[] {
  if (actual.length !== expected.length) {
    return [`${path}.length: ${actual.length}, not ${expected.length}`];
  }
  for (let row = 0; row < actual.length; row++) {
    if (Object.is(actual[row], expected[row])) continue;
    const found = differences(actual[row], expected[row], `${path}.${row}`);
    if (found.length > 0) return found;
  }
  return [];
}

function brief(value: unknown): string {
  if (isObject(value)) return value.constructor.name;
  return Object.is(value, -0) ? '-0' : String(value).slice(0, 200);
}

/**
 * Roles as the user says them: `pp4,tp2`, the sizes of a device mesh from the outermost to the innermost, as
 * torch.distributed.init_device_mesh has them; or JSON with the ranks of each role.
 *
 *   pp2,tp2      ranks 0, 1 are stage 0, ranks 2, 3 stage 1
 *   {"roles": [{"name": "trainer", "ranks": [0, 1, 2]}, {"name": "rollout", "ranks": [3]}]}
 */
import { isRecord } from '../base/json.ts';

export interface Layout {
  /** Name of the role of a rank; undefined for a rank that the layout does not have. */
  roleOf(rank: number): string | undefined;
}

/** Dimensions whose places do different work; all others hold parts of the same. */
const STAGES = /^(pp|stage|pipeline)$/;
const DIMENSION = /^([a-z_]+)[=:]?(\d{1,6})$/i;

/** @throws RangeError that says what is wrong */
export function parseLayout(text: string): Layout {
  return text.trimStart().startsWith('{') ? fromJson(text) : fromSizes(text);
}

function fromSizes(text: string): Layout {
  const dimensions = text.split(',').map((part) => {
    const match = DIMENSION.exec(part.trim());
    const size = Number(match?.[2]);
    if (match === null || size < 1) {
      throw new RangeError(
        `'${part.trim()}' is not a dimension of a layout: write names and sizes such as pp4,tp2`,
      );
    }
    return { name: match[1].toLowerCase(), size };
  });
  const at = dimensions.findIndex(({ name }) => STAGES.test(name));
  const inner = dimensions.slice(at + 1).reduce((product, { size }) => product * size, 1);
  const all = dimensions.reduce((product, { size }) => product * size, 1);
  return {
    roleOf: (rank) => {
      if (rank >= all) return undefined;
      return at < 0 ? 'all' : `stage ${Math.floor(rank / inner) % dimensions[at].size}`;
    },
  };
}

function fromJson(text: string): Layout {
  const wrong = (): RangeError =>
    new RangeError(
      'a layout file looks like {"roles": [{"name": "trainer", "ranks": [0, 1]}, {"name": "rollout", "ranks": [2]}]}',
    );
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrong();
  }
  const roles = isRecord(value) ? value.roles : undefined;
  if (!Array.isArray(roles)) throw wrong();
  const names = new Map<number, string>();
  for (const role of roles) {
    if (!isRecord(role) || typeof role.name !== 'string' || !Array.isArray(role.ranks))
      throw wrong();
    for (const rank of role.ranks) {
      if (typeof rank !== 'number' || !Number.isInteger(rank)) throw wrong();
      names.set(rank, role.name);
    }
  }
  return { roleOf: (rank) => names.get(rank) };
}

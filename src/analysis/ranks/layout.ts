/**
 * Roles as the user says them: `pp4,tp2`, the sizes of a device mesh from the outermost to the innermost, as
 * torch.distributed.init_device_mesh has them; or JSON with the ranks of each role.
 *
 *   pp2,tp2      ranks 0, 1 are stage 0, ranks 2, 3 stage 1
 *   {"roles": [{"name": "trainer", "ranks": [0, 1, 2]}, {"name": "rollout", "ranks": [3]}]}
 */

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
    const [, name, digits] = DIMENSION.exec(part.trim()) ?? [];
    if (name !== undefined && Number(digits) > 0) {
      return { name: name.toLowerCase(), size: Number(digits) };
    }
    throw new RangeError(
      `'${part.trim()}' is not a dimension of a layout: write names and sizes such as pp4,tp2`,
    );
  });
  const product = (of: typeof dimensions) => of.reduce((all, { size }) => all * size, 1);
  const at = dimensions.findIndex(({ name }) => STAGES.test(name));
  const inner = product(dimensions.slice(at + 1));
  return {
    roleOf: (rank) => {
      if (rank >= product(dimensions)) return undefined;
      return at < 0 ? 'all' : `stage ${Math.floor(rank / inner) % dimensions[at].size}`;
    },
  };
}

function fromJson(text: string): Layout {
  const names = new Map<number, string>();
  try {
    for (const { name, ranks } of JSON.parse(text).roles) {
      if (typeof name !== 'string') throw new TypeError('no name');
      for (const rank of ranks) {
        if (!Number.isInteger(rank)) throw new TypeError('no rank');
        names.set(rank, name);
      }
    }
  } catch {
    throw new RangeError(
      'a layout file looks like {"roles": [{"name": "trainer", "ranks": [0, 1]}, {"name": "rollout", "ranks": [2]}]}',
    );
  }
  return { roleOf: (rank) => names.get(rank) };
}

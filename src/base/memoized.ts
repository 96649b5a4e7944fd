/** The function, asked once for each key: what it gave is kept as long as the result is. */
export function memoized<K, V>(make: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined || known.has(key)) return found as V;
    const made = make(key);
    known.set(key, made);
    return made;
  };
}

/** The value of a key, which is made where there is none. Not for inner loops: `make` is a closure a call. */
export function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

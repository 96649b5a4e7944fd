/**
 * An object whose other methods are questions, told apart by their names alone: nobody keeps a list.
 * `then` is none of them: what has it would be taken for a promise, and awaited for ever.
 */
export function createRpcProxy<Api extends object>(
  own: Partial<Api>,
  question: (name: string) => unknown,
): Api {
  const proxy = new Proxy(own, {
    get(target, name) {
      if (name in target || typeof name === 'symbol') return Reflect.get(target, name);
      return name === 'then' ? undefined : question(name);
    },
  });
  // The names that are missing in `own` are those of questions.
  return proxy as Api;
}

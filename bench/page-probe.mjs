/**
 * How long the page takes from an input to the last pixel that answers it, and what its main thread
 * and its worker do meanwhile.
 */

/**
 * Runs in the page before anything else, and keeps what is to be seen from outside: long tasks,
 * frames of the plots, inputs, the worker's answers, and when the last change was on screen.
 *
 *   key ──► call ──────────► answer ──► DOM, canvas ──► frame
 *   inputMs  calls[0].sentMs  +ms        a change        shownMs
 */
export function installProbe() {
  const frames = [];
  const longtask = [];
  const probe = {
    ...{ frames, longtask, calls: [] },
    ...{ inputMs: undefined, shownMs: undefined, firstFrameMs: undefined },
  };
  window.bench = probe;

  new PerformanceObserver((list) => {
    for (const { name, entryType, startTime, duration } of list.getEntries()) {
      if (entryType === 'longtask') longtask.push(duration);
      else if (name === 'vramscope:frame') {
        frames.push(duration);
        // Since the navigation.
        probe.firstFrameMs ??= startTime + duration;
      }
    }
  }).observe({ entryTypes: ['longtask', 'measure'] });

  for (const type of ['keydown', 'click', 'input', 'change', 'popstate']) {
    const note = ({ timeStamp }) => {
      probe.inputMs ??= timeStamp;
    };
    window.addEventListener(type, note, { capture: true });
  }

  // A message is handled after the frame that follows a requestAnimationFrame.
  const afterFrame = new MessageChannel();
  let isAwaited = false;
  afterFrame.port1.onmessage = () => {
    isAwaited = false;
    probe.shownMs = performance.now();
  };
  function changed() {
    if (isAwaited) return;
    isAwaited = true;
    requestAnimationFrame(() => afterFrame.port2.postMessage(undefined));
  }
  const everything = { subtree: true, childList: true, characterData: true, attributes: true };
  new MutationObserver(changed).observe(document, everything);

  /** Calls that wait for their answer, by port and id (src/worker/rpc.ts). */
  const waiting = new Map();
  const { postMessage } = MessagePort.prototype;
  MessagePort.prototype.postMessage = function (message, ...rest) {
    if (message?.type === 'call') {
      if (!waiting.has(this)) {
        waiting.set(this, new Map());
        this.addEventListener('message', answered);
      }
      const call = { method: message.method, sentMs: performance.now(), ms: undefined };
      waiting.get(this).set(message.id, call);
      probe.calls.push(call);
    }
    return postMessage.call(this, message, ...rest);
  };
  /** The event's own time is from before the page took the answer. */
  function answered({ currentTarget, timeStamp, data: { type, id } }) {
    const call = type === 'progress' ? undefined : waiting.get(currentTarget).get(id);
    if (call === undefined) return;
    call.ms = timeStamp - call.sentMs;
    waiting.get(currentTarget).delete(id);
    changed();
  }
}

/**
 * @typedef {object} Step
 * @property {number} ms from the input to the last frame that it changed
 * @property {number} askedMs the same from the first question to the worker: without a wait for the
 *   typing to end, where there is one
 * @property {number} longestTaskMs of the main thread, of those over 50 ms; 0 without any
 * @property {readonly {method: string, atMs: number, ms: number | undefined}[]} calls to the workers:
 *   when after the input, and how long until the answer was there
 */

/**
 * Does something to the page, and waits until it has settled.
 * @param {import('@playwright/test').Page} page with the probe
 * @param {() => Promise<unknown>} act one input
 * @param {number} pauseMs how long the page may wait before it does anything about the input
 * @returns {Promise<Step>}
 */
export async function timed(page, act, pauseMs = 0) {
  await page.evaluate(() => {
    Object.assign(window.bench, { inputMs: undefined, shownMs: undefined, calls: [] });
    window.bench.longtask.length = 0;
  });
  await act();
  if (pauseMs > 0) await page.waitForTimeout(pauseMs);
  await page.evaluate(() => window.vramscope.whenIdle());
  return await page.evaluate(() => {
    const { inputMs, shownMs, calls, longtask } = window.bench;
    if (inputMs === undefined || shownMs === undefined) throw new Error('The input did nothing');
    const asked = calls.find(({ sentMs }) => sentMs >= inputMs)?.sentMs ?? inputMs;
    return {
      ms: shownMs - inputMs,
      askedMs: shownMs - asked,
      longestTaskMs: Math.max(0, ...longtask),
      calls: calls.map(({ method, sentMs, ms }) => ({ method, atMs: sentMs - inputMs, ms })),
    };
  });
}

/** The long tasks since the last call of it, in milliseconds. */
export function takeLongTasks(page) {
  return page.evaluate(() => window.bench.longtask.splice(0));
}

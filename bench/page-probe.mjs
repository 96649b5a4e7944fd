/** Measures the time from an input to the last pixel that answers it, and what the main thread does meanwhile. */

/**
 * Runs in the page before anything else and records what is visible from outside: long tasks, frames of the plots,
 * inputs, and the time of the last change on screen.
 */
export function installProbe() {
  const frames = [];
  const longtask = [];
  const probe = {
    ...{ frames, longtask },
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

  // A message posted in requestAnimationFrame is handled after that frame.
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
}

/**
 * @typedef {object} Step
 * @property {number} ms from the input to the last frame that it changed
 * @property {number} longestTaskMs of the main thread, of those over 50 ms; 0 without any
 */

/**
 * Performs an action on the page and waits until the page has settled.
 * @param {import('@playwright/test').Page} page with the probe
 * @param {() => Promise<unknown>} act one input
 * @param {number} pauseMs how long the page may wait before it reacts to the input
 * @returns {Promise<Step>}
 */
export async function timed(page, act, pauseMs = 0) {
  await page.evaluate(() => {
    Object.assign(window.bench, { inputMs: undefined, shownMs: undefined });
    window.bench.longtask.length = 0;
  });
  await act();
  if (pauseMs > 0) await page.waitForTimeout(pauseMs);
  await page.evaluate(() => window.vramscope.whenIdle());
  return await page.evaluate(() => {
    const { inputMs, shownMs, longtask } = window.bench;
    if (inputMs === undefined || shownMs === undefined) throw new Error('The input did nothing');
    return {
      ms: shownMs - inputMs,
      longestTaskMs: Math.max(0, ...longtask),
    };
  });
}

/** Milliseconds of the long tasks since the last call. */
export function takeLongTasks(page) {
  return page.evaluate(() => window.bench.longtask.splice(0));
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LoadError } from '../base/load-error.ts';
import { sessionInfoOf } from '../testing/device-info.ts';
import {
  createPreferencesStore,
  createSessionStore,
  DEFAULT_PREFERENCES,
  type PreferenceStorage,
  parsePreferences,
} from './stores.ts';
import { createViewStore, DEFAULT_VIEW } from './view-store.ts';

const failure = new LoadError({ code: 'png', message: 'A PNG image.' }).failure;

describe('the session store', () => {
  it('reports once that a query about the open snapshot failed, but not for an earlier one', () => {
    const store = createSessionStore();
    const [before, info] = [sessionInfoOf('a'), sessionInfoOf('b')];
    store.setState({ phase: 'ready', info }, true);
    store.broke(before, failure);
    expect(store.getState()).toEqual({ phase: 'ready', info });
    store.broke(info, failure);
    store.broke(info, { ...failure, message: 'Another one.' });
    expect(store.getState()).toEqual({ phase: 'failed', name: 'b', failure, previous: info });
    store.dismissFailure();
    expect(store.getState()).toEqual({ phase: 'ready', info });
  });
});

describe('the view store', () => {
  it('counts commits, and only those', () => {
    const store = createViewStore();
    store.move({ x: { from: 1, to: 2 } });
    store.commit({ selection: 'b7f_0' });
    store.restore({ ...store.getState().view, deviceIndex: 1 });
    expect(store.getState().commits).toBe(1);
    expect(store.getState()).toMatchObject({ moves: 1, restores: 1, view: { deviceIndex: 1 } });
  });

  it('undoes what the last clicks on a kind of thing set, and keeps later changes', () => {
    const store = createViewStore({ ...DEFAULT_VIEW, cursor: 7 });
    const view = () => store.getState().view;
    store.click('legend', { search: 'file:a.py' });
    store.click('allocation', { selection: 'b1_0', cursor: 3 });
    store.click('allocation', { selection: 'b2_0', cursor: 4 });
    store.move({ cursor: 5 });
    expect(store.undoClick()).toBe(true);
    expect(view()).toEqual({ ...DEFAULT_VIEW, cursor: 5, search: 'file:a.py' });
    expect(store.undoClick()).toBe(true);
    expect(view()).toEqual({ ...DEFAULT_VIEW, cursor: 5 });
    expect(store.undoClick()).toBe(false);
  });

  it('undoes nothing that Back or a new file has replaced', () => {
    const store = createViewStore();
    store.click('allocation', { selection: 'b1_0', cursor: 3 });
    store.restore({ ...DEFAULT_VIEW, selection: 'b1_0', cursor: 3 });
    expect(store.undoClick()).toBe(false);
  });
});

describe('preferences', () => {
  const storage = (items: Map<string, string>): PreferenceStorage => ({
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
  });

  it('are stored for the next time', () => {
    const items = new Map<string, string>();
    createPreferencesStore(() => storage(items)).set({ theme: 'dark' });
    expect(createPreferencesStore(() => storage(items)).getState()).toEqual({
      ...DEFAULT_PREFERENCES,
      theme: 'dark',
    });
  });

  it('follow another tab: what is switched off there stays off', () => {
    const items = new Map<string, string>();
    const [here, there] = [storage(items), storage(items)].map((own) =>
      createPreferencesStore(() => own),
    );
    here?.set({ remembersFiles: true });
    there?.refresh();
    expect(there?.getState().remembersFiles).toBe(true);
    here?.set({ remembersFiles: false });
    there?.refresh();
    there?.set({ theme: 'dark' });
    here?.refresh();
    expect(here?.getState()).toEqual({ ...DEFAULT_PREFERENCES, theme: 'dark' });
  });

  it('last as long as the page is open if storage is blocked', () => {
    const store = createPreferencesStore(() => {
      throw new DOMException('Denied', 'SecurityError');
    });
    store.set({ theme: 'light' });
    expect(store.getState()).toEqual({ ...DEFAULT_PREFERENCES, theme: 'light' });
  });

  it('are valid, whatever is stored', () => {
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc.json().map((json) => `{"theme":${json}}`),
    );
    fc.assert(
      fc.property(text, (stored) => {
        const { theme, detailsPercent } = parsePreferences(stored);
        expect(['system', 'light', 'dark']).toContain(theme);
        expect(detailsPercent >= 10 && detailsPercent <= 70).toBe(true);
      }),
    );
    expect(parsePreferences('{"theme":"neon","detailsPercent":40}')).toEqual({
      ...DEFAULT_PREFERENCES,
      detailsPercent: 40,
    });
    // Nothing but the user's own yes.
    expect(parsePreferences('{"remembersFiles":"yes"}').remembersFiles).toBe(false);
    expect(parsePreferences('{"remembersFiles":true}').remembersFiles).toBe(true);
  });
});

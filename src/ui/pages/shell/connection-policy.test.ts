import { describe, expect, it } from 'vitest';
import { connectionPolicy } from './connection-policy.ts';

const PAGE = 'https://host.org/app/index.html';

describe('the hosts that the page may contact', () => {
  it('are only its own if no snapshot is named, or one of its own', () => {
    expect(connectionPolicy(PAGE, undefined)).toBe("connect-src 'self'");
    expect(connectionPolicy(PAGE, 'samples/a.pickle.gz')).toBe("connect-src 'self'");
    expect(connectionPolicy(PAGE, 'https://host.org/b.pickle')).toBe("connect-src 'self'");
  });

  it('include the host that the link names, and nobody else', () => {
    expect(connectionPolicy(PAGE, 'https://data.org:8443/a.pickle?key=1#x')).toBe(
      "connect-src 'self' https://data.org:8443",
    );
    expect(connectionPolicy(PAGE, '//data.org/a')).toBe("connect-src 'self' https://data.org");
  });

  it('cannot be widened by a link', () => {
    for (const url of ['javascript:alert(1)', 'data:,a', 'https://', '*', "a'; script-src *"]) {
      expect(connectionPolicy(PAGE, url)).toBe("connect-src 'self'");
    }
    expect(connectionPolicy(PAGE, 'https://a.org;script-src *')).not.toContain('script-src *');
  });

  it('are none for a file on disk', () => {
    expect(connectionPolicy('file:///tmp/vramscope.html', undefined)).toBe('connect-src blob:');
  });
});

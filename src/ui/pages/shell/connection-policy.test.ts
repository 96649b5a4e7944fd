import { describe, expect, it } from 'vitest';
import { connectionPolicy } from './connection-policy.ts';

const PAGE = 'https://host.org/app/index.html';

describe('whom the page may talk to', () => {
  it('is itself alone when no snapshot is named, or one of its own', () => {
    expect(connectionPolicy(PAGE, undefined)).toBe("connect-src 'self'");
    expect(connectionPolicy(PAGE, 'samples/a.pickle.gz')).toBe("connect-src 'self'");
    expect(connectionPolicy(PAGE, 'https://host.org/b.pickle')).toBe("connect-src 'self'");
  });

  it('is the host that the link names as well, and nobody else', () => {
    expect(connectionPolicy(PAGE, 'https://data.org:8443/a.pickle?key=1#x')).toBe(
      "connect-src 'self' https://data.org:8443",
    );
    expect(connectionPolicy(PAGE, '//data.org/a')).toBe("connect-src 'self' https://data.org");
  });

  it('cannot be widened by what a link says', () => {
    for (const url of ['javascript:alert(1)', 'data:,a', 'https://', '*', "a'; script-src *"]) {
      expect(connectionPolicy(PAGE, url)).toBe("connect-src 'self'");
    }
    expect(connectionPolicy(PAGE, 'https://a.org;script-src *')).not.toContain('script-src *');
  });

  it('is nobody for a file on disk', () => {
    expect(connectionPolicy('file:///tmp/vramscope.html', undefined)).toBe('connect-src blob:');
  });
});

import { expect } from 'chai';
import { certificatesIn, certificateWarnings } from '../../src/core/certificates.ts';
import { createAuthority, writePem } from '../support/certificates.ts';
import { parseConfig } from '../support/limits.ts';
import { newFolder } from '../support/process/process.ts';

const AUTHORITY = await createAuthority();

/** Settings with an upstream that has a client certificate, one that trusts an authority, and one that serves no list. */
async function settingsWith(days: readonly [from: number, to: number]) {
  const { cert: certFile, key: keyFile } = writePem(await newFolder(), await AUTHORITY.issue({ days }));
  const { ca: caFile } = writePem(await newFolder(), { ca: AUTHORITY.ca });
  const baseUrl = 'https://127.0.0.1:9';
  return {
    http: { tls: { certFile, keyFile } },
    admin: { enabled: false, tls: { certFile, keyFile } },
    upstreams: {
      tools: { baseUrl, tls: { certFile, keyFile } },
      // The name of a block, too.
      tls: { baseUrl, tls: { caFile } },
      workflows: { baseUrl, tls: { caFile } },
    },
    resources: { projects: { upstream: 'tls' }, workflows: { enabled: false } },
  };
}

describe('the certificates in use', () => {
  it('are those of listeners and of upstreams whose lists are offered', async () => {
    const config = parseConfig(await settingsWith([-1, 20]));
    const names = certificatesIn(config).map(({ block, file }) => [...block, file].join('.'));
    expect(names).to.deep.equal(['http.tls.certFile', 'upstreams.tools.tls.certFile', 'upstreams.tls.tls.caFile']);
  });
});

describe('the warnings of certificates', () => {
  const warned = async (days: readonly [number, number]) =>
    certificateWarnings(parseConfig(await settingsWith(days)), Date.now).map(({ path, message }) => [
      path.join('.'),
      message.replace(/\d{4}-\S+Z/, 'TIME'),
    ]);

  it('are of those that expire within 14 days', async () => {
    expect(await warned([-1, 14.01])).to.deep.equal([]);
    const message = 'expires in less than 14 days, at TIME';
    expect(await warned([-1, 13.99])).to.deep.equal([
      ['http.tls.certFile', message],
      ['upstreams.tools.tls.certFile', message],
    ]);
  });

  it('are of client certificates that are not valid: those of listeners are errors', async () => {
    expect(await warned([-2, -1])).to.deep.equal([['upstreams.tools.tls.certFile', 'expired at TIME']]);
    expect(await warned([1, 20])).to.deep.equal([['upstreams.tools.tls.certFile', 'is not valid before TIME']]);
  });
});

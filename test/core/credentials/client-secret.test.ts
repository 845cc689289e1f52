import { expect } from 'chai';
import fc from 'fast-check';
import { openClientSecret } from '../../../src/core/credentials/client-secret.ts';

const OPTIONS = { now: Date.now, onChange: () => {} };

async function authorizationOf(clientId: string, secret: string): Promise<string> {
  const opened = openClientSecret({ clientId, secret }, OPTIONS);
  if ('issue' in opened) throw new Error(opened.issue);
  return opened.authorization(new AbortController().signal);
}

/** What an authorization server reads (RFC 6749, section 2.3.1). */
function read(authorization: string): string[] {
  const pair = Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString();
  return pair.split(':').map((part) => decodeURIComponent(part.replaceAll('+', ' ')));
}

describe("Portico's own credential at an authorization server", () => {
  it('is Basic, as RFC 6749 has it', async () => {
    expect(await authorizationOf('portico', 'hush')).to.equal(`Basic ${btoa('portico:hush')}`);
    expect(await authorizationOf('a b', 'c:d%')).to.equal(`Basic ${btoa('a+b:c%3Ad%25')}`);
  });

  it('is what the server reads, whatever is in it', async () => {
    const text = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) });
    await fc.assert(
      fc.asyncProperty(text, text, async (clientId, secret) => {
        expect(read(await authorizationOf(clientId, secret))).to.deep.equal([clientId, secret]);
      }),
    );
  });
});

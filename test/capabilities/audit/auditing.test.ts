import { expect } from 'chai';
import { createAuditing } from '../../../src/capabilities/audit/auditing.ts';
import type { Identity } from '../../../src/core/credentials/authenticate.ts';
import type { Exchange } from '../../../src/core/http/exchange.ts';
import { callerWith } from '../../support/authorization/caller.ts';

/** What of an exchange has a say in where it came from. */
function arriving(remoteAddress: string | undefined, forwardedFor?: string): Exchange {
  return { req: { socket: { remoteAddress } }, fields: { forwardedFor } } as unknown as Exchange;
}

describe('the account of an exchange', () => {
  const auditing = createAuditing(() => 'a name', ['10.0.0.0/8']);

  it('has the whole address that it came from, as far as proxies are believed', () => {
    const from = (...at: Parameters<typeof arriving>) => {
      const exchange = arriving(...at);
      auditing.begin(exchange);
      return exchange.auditee?.from;
    };
    expect(from('192.0.2.1', '203.0.113.7')).to.equal('192.0.2.1');
    expect(from('10.0.0.1', '198.51.100.1, 2001:db8::1:2')).to.equal('2001:db8::1:2');
    expect(from('::ffff:192.0.2.1')).to.equal('192.0.2.1');
    expect(from(undefined)).to.equal('unix');
  });

  it('names the token, and the subject where that was verified', () => {
    const scopes = new Set<string>();
    const plain: Identity = callerWith();
    const verified: Identity = { ...plain, verified: { subject: 'alice', subjectKey: 'key of alice', scopes } };
    for (const [identity, subject] of [
      [plain, undefined],
      [verified, 'alice'],
    ] as const) {
      const exchange = arriving('192.0.2.1');
      auditing.begin(exchange);
      auditing.name(exchange, identity);
      expect(exchange.auditee).to.deep.equal({ from: '192.0.2.1', subject, token: 'a name' });
    }
  });

  it('is not begun for what reads nothing', () => {
    const exchange = arriving('192.0.2.1');
    auditing.name(exchange, callerWith());
    expect(exchange.auditee).to.equal(undefined);
  });
});

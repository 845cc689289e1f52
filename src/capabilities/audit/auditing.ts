import type { Identity } from '../../core/credentials/authenticate.ts';
import type { Exchange } from '../../core/http/exchange.ts';
import { createClientAddress } from '../../core/http/request/client-address.ts';
import type { NameToken } from './audit-names.ts';

/** Keeps account of who reads what, from where. */
export interface Auditing {
  /** Notes where an exchange came from that may read items. */
  begin(exchange: Exchange): void;
  /** Notes who it was. */
  name(exchange: Exchange, identity: Identity): void;
}

export function createAuditing(nameToken: NameToken, trustedProxies: readonly string[]): Auditing {
  const addressOf = createClientAddress(trustedProxies, { whole: true });
  return {
    begin(exchange) {
      exchange.auditee = { from: addressOf(exchange) };
    },
    name({ auditee }, identity) {
      if (auditee === undefined) return;
      auditee.subject = identity.verified?.subject;
      auditee.token = nameToken(identity);
    },
  };
}

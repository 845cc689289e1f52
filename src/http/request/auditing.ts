import type { NameToken } from '../../credentials/audit-names.ts';
import type { Identity } from '../../credentials/authenticate.ts';
import type { Exchange } from '../exchange.ts';
import { createClientAddress } from '../limits/client-address.ts';

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

import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import { CURRENT, EARLIER, noEnvelope, type Revision, readClaim, versionUnsupported } from '../revisions.ts';

/**
 * Returns the revision of each request on one connection. The first request other than `server/discover` decides for
 * all that follow. Throws for a request of another or an unsupported revision.
 */
export function createAgreement(): (request: JSONRPCRequest) => Revision {
  let agreed: Revision | undefined;
  return (request) => {
    if (agreed === EARLIER) return agreed;
    const { method } = request;
    const claim = readClaim(request);
    if (claim === undefined) {
      if (agreed === CURRENT) throw method === 'initialize' ? versionUnsupported() : noEnvelope();
      agreed = EARLIER;
      return agreed;
    }
    if (claim !== CURRENT) throw versionUnsupported();
    if (method !== 'server/discover') agreed = CURRENT;
    return CURRENT;
  };
}

import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import { CURRENT, EARLIER, noEnvelope, type Revision, readClaim, versionUnsupported } from '../revisions.ts';

/**
 * Tells of what revision each request on one connection is. The first request decides on all that follow, unless it only
 * asks what there is (`server/discover`). Throws for a request that is of another one, or of none that is spoken here.
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

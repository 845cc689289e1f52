import type { ProtectedResource } from '../../../capabilities/verification/protected-resource.ts';
import type { GatewayError } from '../../kernel/errors.ts';

/** `WWW-Authenticate` of the response to an error; `undefined` where it has none. */
export type Challenge = (error: GatewayError) => string | undefined;

/** What may not stand in an `error_description` (RFC 6750, section 3). */
const UNQUOTABLE = /[^\x20\x21\x23-\x5b\x5d-\x7e]/g;

/**
 * Challenges of RFC 6750, section 3: no `error` where nothing was brought. `resource` is there where clients can obtain
 * tokens for it: then each 401, and each 403 that another token would mend, says where and with which scopes.
 */
export function createChallenge(resource?: ProtectedResource): Challenge {
  const told = (scopes: readonly string[] = []) => [
    ...(scopes.length === 0 ? [] : [parameter('scope', scopes.join(' '))]),
    ...(resource === undefined ? [] : [parameter('resource_metadata', resource.metadataUrl)]),
  ];

  return ({ code, detail, scopes }) => {
    switch (code) {
      case 'credential_missing':
        return bearer(told(resource?.scopes));
      case 'credential_malformed':
      case 'credential_rejected': {
        const description = parameter('error_description', detail.replace(UNQUOTABLE, "'"));
        return bearer([parameter('error', 'invalid_token'), description, ...told(resource?.scopes)]);
      }
      case 'access_denied': {
        const error = parameter('error', 'insufficient_scope');
        // Which scopes a platform would like, nobody knows: a client would sign in again for nothing.
        return bearer([error, ...(scopes === undefined ? [] : told(scopes))]);
      }
      default:
        return undefined;
    }
  };
}

function bearer(parameters: readonly string[]): string {
  return parameters.length === 0 ? 'Bearer' : `Bearer ${parameters.join(', ')}`;
}

function parameter(name: string, value: string): string {
  return `${name}="${value}"`;
}

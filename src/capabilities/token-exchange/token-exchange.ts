import type { Authorization, CredentialOptions, OpenCredential } from '../../core/credentials/authorize.ts';
import { createOAuthServer } from '../../core/credentials/oauth-server.ts';
import { createObtainedTokens } from '../../core/credentials/obtained-tokens.ts';
import { credentialForm } from '../../core/kernel/credential-kinds.ts';
import { defineCapability } from '../capability.ts';
import { type GrantSettings, openClientAuthentication } from './client-authentication.ts';
import { errorOfGrant } from './refusals.ts';
import { createRequestToken } from './request-token.ts';

/** Obtains tokens for upstreams by OAuth: for each caller (RFC 8693, docs/decisions/0029), or for the deployment (RFC 6749, section 4.4). */
export const tokenExchange = defineCapability({
  purposes: ['serve', 'stdio', 'probe'],
  open() {
    // The schema of settings has checked them.
    const open: OpenCredential = (settings, options) => openGrant(settings as GrantSettings, options);
    return { credentials: { exchange: open, 'client-credentials': open } };
  },
});

/** Above the size of any token or metadata. */
const MAX_RESPONSE_BYTES = 65_536;

/** Provides tokens by one request per caller's credential, which is their key, or by one for all callers. */
function openGrant(settings: GrantSettings, options: CredentialOptions): Authorization {
  const { client, kind, timeoutMs } = settings;
  const authenticate = openClientAuthentication(client, options);
  const { send, close } = options.openServer({ timeoutMs, maxBytes: MAX_RESPONSE_BYTES });
  const perCaller = kind === 'exchange';
  const { tokenUrl, issuer = tokenUrl ?? '' } = settings;
  const server = createOAuthServer({
    ...{ issuer, clientId: client.id, timeoutMs, send },
    // The schema of settings requires one of both.
    metadata: tokenUrl === undefined ? undefined : { issuer, token_endpoint: tokenUrl },
    toError: (error, status, what) => errorOfGrant(error, { what, status, perCaller }),
  });
  return createObtainedTokens({
    ...options,
    ...settings,
    perCaller,
    form: credentialForm({ kind }),
    obtain: createRequestToken({ settings, server, now: options.now, authenticate }),
    source: 'authorization server',
    close,
  });
}

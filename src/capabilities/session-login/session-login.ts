import type { Config } from '../../core/config/schema/settings.ts';
import { type Authorization, basicPair, type CredentialOptions } from '../../core/credentials/authorize.ts';
import { openSecret } from '../../core/credentials/files/secret-file.ts';
import { createObtainedTokens, obtainError } from '../../core/credentials/obtained-tokens.ts';
import { Credential, HEADER_VALUE } from '../../core/kernel/caller.ts';
import { credentialForm } from '../../core/kernel/credential-kinds.ts';
import { compileExpression } from '../../core/mapping/expressions/expression.ts';
import { defineCapability } from '../capability.ts';

type SessionSettings = Extract<Config['upstreams'][string]['credential'], { kind: 'session' }>;

/** Logs in at platforms that issue tokens of their own (Wazuh, Prisma Cloud, StackStorm). */
export const sessionLogin = defineCapability({
  purposes: ['serve', 'stdio', 'probe'],
  // The schema of settings has checked them.
  open: () => ({ credentials: { session: (settings, options) => openSession(settings as SessionSettings, options) } }),
});

const MAX_REPLY_BYTES = 65_536;

/** Provides the token of one login to all callers. */
function openSession(settings: SessionSettings, options: CredentialOptions): Authorization {
  const { loginUrl, user, body, cookie, lifetimeMs, timeoutMs } = settings;
  const { now } = options;
  const opened = openSecret(settings, options);
  const { send, close } = options.openServer({ timeoutMs, maxBytes: MAX_REPLY_BYTES });
  const expression = compileExpression(settings.token);
  const [, inHeader] = /^header\.([\w-]+)$/.exec(settings.token) ?? [];

  function requestFor(secret: string) {
    if (body === undefined) return { headers: { authorization: `Basic ${basicPair(user ?? '', secret)}` }, body: '' };
    const fill = (text: string) =>
      text.replace(/\{(user|secret)\}/g, (_braces, name) => (name === 'user' ? (user ?? '') : secret));
    const filled = JSON.stringify(body, (_key, part: unknown) => (typeof part === 'string' ? fill(part) : part));
    return { headers: { 'content-type': 'application/json' }, body: filled };
  }

  async function tokenIn(response: Response): Promise<unknown> {
    if (cookie === undefined && inHeader !== undefined && response.headers.has(inHeader)) {
      return response.headers.get(inHeader);
    }
    if (cookie === undefined) return expression.evaluate(await response.json());
    const pair = response.headers.getSetCookie().findLast((line) => line.startsWith(`${cookie}=`));
    return pair?.slice(cookie.length + 1).split(';', 1)[0];
  }

  return createObtainedTokens({
    ...options,
    ...settings,
    perCaller: false,
    form: credentialForm(settings),
    async obtain(caller, signal) {
      const obtainedAt = now();
      const secret = (await opened.current(signal)).reveal();
      const { headers, body: sent } = requestFor(secret);
      const accept = { accept: 'application/json', ...headers };
      const response = await send({ url: new URL(loginUrl), headers: accept, body: sent, caller }, signal);
      const { status, ok } = response;
      if (status === 400 || status === 401 || status === 403) {
        throw obtainError('upstream_credential_rejected', `login: refused with status ${status}`);
      }
      if (!ok) throw obtainError('upstream_refused', `login: answered with status ${status}`);
      const found = await tokenIn(response).catch(() => undefined);
      const token = Number.isSafeInteger(found) ? String(found) : found;
      if (typeof token !== 'string' || !HEADER_VALUE.test(token)) {
        throw obtainError(
          'upstream_invalid',
          `login: the reply has no token at ${cookie === undefined ? 'token' : 'cookie'}`,
        );
      }
      return { credential: new Credential(token), expiresAt: obtainedAt + lifetimeMs };
    },
    source: 'login',
    close,
  });
}

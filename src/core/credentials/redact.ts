import type { Caller, Credential } from '../kernel/caller.ts';
import { continueTrace, type Trace } from '../kernel/trace.ts';

const SCHEME = /^bearer$/i;
/** Nearly all values: to match them takes 4 % less of a cached `tools/call` than to split them. */
const USUAL = /^(?:bearer )?(\S+)$/i;
/** Without one of these, a text contains a secret in its plain form only. */
const ESCAPES = /[%\\]/;
const SYNTAX = /[.*+?^${}()|[\]\\/-]/g;

/** Whether `text` contains any part of these `Authorization` values except the scheme, in any encoding. */
export function mentionsCredential(text: string, authorization: readonly Credential[]): boolean {
  const secrets = secretsIn(authorization.map(revealed));
  if (secrets.some((secret) => text.includes(secret))) return true;
  return ESCAPES.test(text) && secrets.flatMap(formsOf).some((form) => text.includes(form));
}

/** Replaces all parts of these `Authorization` values except the scheme in `text`, in any encoding. */
export function redact(text: string, authorization: readonly string[]): string {
  const secrets = secretsIn(authorization);
  if (secrets.length === 0) return text;
  const alternatives = secrets
    .flatMap(formsOf)
    // Longest first: a shorter one with the same beginning would leave the rest of the longer one.
    .sort((a, b) => b.length - a.length)
    .map((form) => form.replace(SYNTAX, '\\$&'));
  // In one pass: a replacement must not be searched for the next secret.
  return text.replace(new RegExp(alternatives.join('|'), 'g'), '[credential]');
}

export function redactCredentials(text: string, credentials: readonly Credential[]): string {
  return redact(text, credentials.map(revealed));
}

/** Returns the trace of a caller's request, without parts that repeat a credential. `baggage` is never read. */
export function traceOfCaller(
  { traceparent, tracestate }: { readonly traceparent: string | undefined; readonly tracestate: string | undefined },
  credentials: readonly Credential[],
): Trace | undefined {
  const trace = continueTrace(traceparent, tracestate);
  if (trace === undefined || mentionsCredential(traceparent ?? '', credentials)) return undefined;
  const { traceparent: own, tracestate: state } = trace.headers;
  if (state === undefined || !mentionsCredential(state, credentials)) return trace;
  return { ...trace, headers: { traceparent: own } };
}

/** Returns all credentials that a caller has sent. */
export function credentialsOf({
  credential,
  headerCredentials,
}: Pick<Caller, 'credential' | 'headerCredentials'>): readonly Credential[] {
  return [credential, ...[...(headerCredentials?.values() ?? [])].flat()];
}

function revealed(credential: Credential): string {
  return credential.reveal();
}

function secretsIn(authorization: readonly string[]): string[] {
  const token = authorization.length === 1 ? USUAL.exec(authorization[0] as string)?.[1] : undefined;
  if (token !== undefined && !SCHEME.test(token)) return [token];
  return authorization.flatMap((value) => value.split(/\s+/)).filter((word) => word !== '' && !SCHEME.test(word));
}

/** A secret plain, percent-encoded in a URL or a form, and escaped in JSON or a quoted text. */
function formsOf(secret: string): string[] {
  const inForm = new URLSearchParams([['', secret]]).toString().slice(1);
  const inJson = JSON.stringify(secret).slice(1, -1);
  return [...new Set([secret, encodeURIComponent(secret), inForm, inJson, secret.replaceAll('\\', '\\\\')])];
}

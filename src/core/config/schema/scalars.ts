import { isIP, isIPv6 } from 'node:net';
import { z } from 'zod';
import { checkExpression, checkSelection } from '../../mapping/expressions/expression-issue.ts';

/** Whole number. Not `z.int()`, which ends all other checks at a fraction. */
export const whole = (minimum: number, maximum: number) =>
  z.number().refine(Number.isInteger, 'must be a whole number').min(minimum).max(maximum).meta({ type: 'integer' });

/** 0 only if the key's description defines it. */
export const milliseconds = (minimum = 1) => whole(minimum, 86_400_000);

export const bytes = (minimum = 1) => whole(minimum, 1_073_741_824);

/** A TCP port; 0 lets the system choose a free one. */
export const port = whole(0, 65_535);

/** A JMESPath expression, compiled once while settings are read, so that a bad one is an issue of settings. */
export const expression = expressionThat(checkExpression);

/** An expression that would be of no use if it found nothing. */
export const selection = expressionThat(checkSelection);

function expressionThat(issueOf: (text: string) => string | undefined) {
  return z
    .string()
    .min(1)
    .check((context) => {
      const message = context.value === '' ? undefined : issueOf(context.value);
      if (message !== undefined) {
        context.issues.push({ code: 'custom', message, input: context.value });
      }
    });
}

export const printable = z
  .string()
  .min(1)
  .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII');

export const keyword = z
  .string()
  .max(40)
  .regex(/^[\p{L}\p{N}]+([ _-][\p{L}\p{N}]+)*$/u, 'must be one or more words of letters and digits');

/** A URL of http or https. `message`: the issue of other text, for which no later check runs. */
export function httpUrl(message: string) {
  const error = ({ code }: z.core.$ZodRawIssue) => (code === 'invalid_format' ? message : undefined);
  return z.url({ protocol: /^https?$/, error, abort: true });
}

/** Where an HTTP API lives. One slash at its end is taken off. */
export const baseUrl = httpUrl('must be an http or https URL')
  .refine(isBare, 'must not contain user, password, query or fragment')
  .refine((url) => !/[\s\\]/.test(url), 'must not contain spaces, line breaks or backslashes')
  .refine((url) => !/[{}]/.test(url), 'must not contain braces: values of callers belong in the path of a resource')
  .overwrite((url) => (url.endsWith('/') ? url.slice(0, -1) : url));

/** Whether a URL has neither user, password, query nor fragment. */
export function isBare(url: string): boolean {
  const { username, password, search, hash } = new URL(url);
  return `${username}${password}${search}${hash}` === '';
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Syntax of `publicUrl`, without shell metacharacters: the URL is printed in shell commands. */
const PLAIN_URL = /^https?:\/\/(?:[a-z\d][a-z\d.-]*|\[[\da-f:.]+\])(?::\d{1,5})?(?:\/[\w.~-]+)*$/;

/** Where clients find this server, to the letter: tokens are issued for this very text (RFC 8707, section 2). */
export const publicUrl = z
  .string()
  .refine((text) => PLAIN_URL.test(text) && URL.canParse(text) && new URL(text).href.replace(/\/$/, '') === text, {
    error:
      'must be a URL as clients use it, such as https://portico.example.com: in lower case, without default port, trailing slash, user, query or fragment',
    abort: true,
  })
  .refine(isSecure, 'must be an https URL: http is for loopback alone');

function isSecure(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol !== 'http:' || LOOPBACK.test(hostname);
}

/** Where something lives that is believed because it is there: by TLS, or on this machine. */
export const secureUrl = httpUrl('must be an https URL')
  .refine(isSecure, 'must be an https URL: http is for loopback alone')
  .refine(isBare, 'must not contain user, password, query or fragment');

export const issuer = secureUrl.refine(
  (url) => !url.includes('/.well-known/'),
  'must be the issuer as in iss: remove /.well-known/ and what follows',
);

/** One scope (RFC 6749, section 3.3). */
export const scopeToken = z
  .string()
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be one scope: printable ASCII without space, quote or backslash');

/** Text of one header or query value, from a file as written (`yaml-file.ts`). */
export const scalarText = z
  .union([z.string().regex(/^[\t\x20-\x7e]*$/, 'must be printable ASCII'), z.number(), z.boolean()], {
    error: 'must be text',
  })
  .transform(String);

export const userName = z
  .string()
  .regex(/^[\x20-\x39\x3b-\x7e]+$/, 'must be printable ASCII without a colon (RFC 7617)');

const RESERVED = new Set([
  // Belong to one connection or to the framing of one message (RFC 9110, section 7.6.1; RFC 9112, section 6).
  ...['connection', 'content-length', 'expect', 'host', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  // Portico sets them, or could not read the reply.
  ...['accept-encoding', 'content-encoding', 'range', 'traceparent', 'tracestate', 'x-request-id'],
  ...['if-match', 'if-modified-since', 'if-none-match', 'if-range', 'if-unmodified-since'],
]);

/** An HTTP field name (RFC 9110, section 5.1). */
export const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be an HTTP header name');

export const requestHeaderName = headerName.refine(
  (name) => !RESERVED.has(name.toLowerCase()) && !/^proxy-/i.test(name),
  'is a header that HTTP or Portico sets itself',
);

/** A header that means nothing else here. */
export const inboundHeader = requestHeaderName.refine(
  (name) => !READ_HERE.has(name.toLowerCase()),
  'is a header that Portico itself uses',
);

const READ_HERE = new Set([
  ...['accept', 'authorization', 'cache-control', 'content-type', 'cookie', 'forwarded', 'origin', 'x-forwarded-for'],
  ...['access-control-request-headers', 'access-control-request-method', 'last-event-id', 'user-agent'],
  ...['mcp-method', 'mcp-name', 'mcp-protocol-version', 'mcp-session-id'],
]);

export const listenHost = z
  .string()
  .refine(
    (host) => isIP(host) !== 0 || /^[A-Za-z0-9][A-Za-z0-9.-]*$/.test(host),
    'must be an IP address or a host name, without port or brackets',
  );

/** No system takes more than 103 bytes for certain (`sun_path` of unix(7) and of macOS). */
export const socketPath = z
  .string()
  .min(1)
  .refine((path) => Buffer.byteLength(path) <= 103, 'must be at most 103 bytes long');

/** The name of a host, or its address as in a URL. */
export const hostName = z
  .string()
  .regex(/^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)$/, 'must be a host without a port, such as portico.internal');

/** `scheme "://" host [ ":" port ]` (RFC 6454, section 6.2): pages of extensions and desktop applications have schemes of their own. */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/(?:[a-z\d._-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/;

/** A web origin as browsers send it. */
export const webOrigin = z
  .string()
  .refine(
    (text) => (/^https?:/.test(text) ? URL.canParse(text) && new URL(text).origin === text : ORIGIN.test(text)),
    'must be an origin as browsers send it: scheme, host and any non-default port, such as https://app.example.com or chrome-extension://id',
  );

/** An address, a network in CIDR notation (RFC 4632, RFC 4291), or `unix`. */
export const trustedProxy = z
  .string()
  .refine(isProxy, 'must be an address such as 10.0.0.7, a network such as 10.0.0.0/8 or fd00::/8, or unix')
  .refine((text) => !/^::ffff:/i.test(text), 'must be written as IPv4');

function isProxy(text: string): boolean {
  const [address = '', prefix, ...others] = text.split('/');
  if (text === 'unix') return true;
  if (isIP(address) === 0 || address.includes('%') || others.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (isIPv6(address) ? 128 : 32));
}

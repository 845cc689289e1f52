import { randomBytes } from 'node:crypto';
import { CALLER_VALUE, callerValuesIn, partsWithValues } from '../config/schema/caller-values.ts';
import type { Config, ResourceConfig } from '../config/schema/settings.ts';
import type { KeyOf } from '../credentials/authenticate.ts';
import { type Caller, flawOf, HEADER_VALUE } from '../kernel/caller.ts';
import { errorWithDetail, type GatewayError } from '../kernel/errors.ts';
import type { PageRequest, Upstream } from '../upstream/upstream.ts';
import type { Read } from './snapshots/load.ts';

/** Begins what stands for a value in an address until a page is requested. No platform can guess it, nor does a URL encode it. */
const MARK = `__${randomBytes(16).toString('hex')}-`;
const MARKER = new RegExp(`${MARK}([0-9a-f]+)__`, 'g');

/** Longer ones are refused: names of tenants are short. */
const MAX_CHARACTERS = 256;

const NO_SEGMENT: readonly string[] = ['', '.', '..'];

type Headers = Readonly<Record<string, string>>;

/** Replaces the names of values in addresses with markers. */
export function withMarkers<Settings extends ResourceConfig>(settings: Settings): Settings {
  const mark = (text: string) =>
    text.replace(CALLER_VALUE, (_braces, name: string) => `${MARK}${Buffer.from(name).toString('hex')}__`);
  const marked: object = JSON.parse(JSON.stringify(partsWithValues(settings)), (_key, part) =>
    typeof part === 'string' ? mark(part) : part,
  );
  return { ...settings, ...marked };
}

function nameIn(hex: string): string {
  return Buffer.from(hex, 'hex').toString();
}

/** Returns the value, or `undefined` where the caller has none. Throws for one that cannot be sent. */
function sentValue(caller: Caller, name: string): string | undefined {
  const [source, ...rest] = name.split('.');
  const key = rest.join('.');
  if (source === 'claim') {
    const claim = caller.verified?.claims?.get(key);
    if (claim !== undefined && !isSendable(claim))
      throw refusal('access_denied', `The claim ${key} of the access token`);
    return claim;
  }
  const [value, ...more] = caller.forwarded?.get(key.toLowerCase()) ?? [];
  if (more.length > 0) throw errorWithDetail('invalid_request', `The request has more than one ${key} header.`);
  const isValid = value === undefined || (flawOf(value, HEADER_VALUE) === undefined && isSendable(value));
  if (!isValid) throw refusal('invalid_request', `The header ${key}`);
  return value;
}

function isSendable(value: string): boolean {
  return (
    value.length <= MAX_CHARACTERS && !NO_SEGMENT.includes(value) && value.isWellFormed() && !/\p{Cc}/u.test(value)
  );
}

function refusal(code: 'access_denied' | 'invalid_request', what: string): GatewayError {
  return errorWithDetail(
    code,
    `${what} is not a value of up to ${MAX_CHARACTERS} characters that can be sent to the platform.`,
  );
}

/** Returns a value that settings require. Throws a 4xx error that names what is missing. */
function required(caller: Caller, name: string): string {
  const value = sentValue(caller, name);
  if (value !== undefined) return value;
  const key = name.slice(name.indexOf('.') + 1);
  throw name.startsWith('claim.')
    ? errorWithDetail('access_denied', `The access token has no claim ${key}, which this list needs.`)
    : errorWithDetail('invalid_request', `This list needs the header ${key}.`);
}

/** Values of callers that one upstream is sent: they are a part of who the caller is to it. */
export function callerValuesFor(config: Config, upstream: string) {
  const { headers = {}, forwardHeaders = [] } = config.upstreams[upstream] ?? {};
  const resources = Object.values(config.resources).filter((resource) => resource.upstream === upstream);
  const forwarded = forwardHeaders.map((name) => `header.${name}`);
  const names = [...new Set([...forwarded, ...callerValuesIn([headers, resources.map(partsWithValues)])])].sort();
  const templated = Object.fromEntries(Object.entries(headers).filter(([, text]) => callerValuesIn(text).length > 0));

  const inHeader = (caller: Caller, text: string) =>
    text.replace(CALLER_VALUE, (_braces, name: string) => {
      const value = required(caller, name);
      if (!HEADER_VALUE.test(value)) throw refusal('access_denied', `The claim ${name.slice('claim.'.length)}`);
      return value;
    });

  function headersFor(caller: Caller): Headers {
    const sent = forwardHeaders.flatMap((name) => {
      const value = sentValue(caller, `header.${name}`);
      return value === undefined ? [] : [[name.toLowerCase(), value]];
    });
    const filled = Object.entries(templated).map(([name, text]) => [name.toLowerCase(), inHeader(caller, text)]);
    return Object.fromEntries([...sent, ...filled]);
  }

  function withValues<P>(request: PageRequest<P>): PageRequest<P> {
    const { caller, target, path } = request;
    return {
      ...request,
      target: target.replace(MARKER, (_marker, hex: string) => encodeURIComponent(required(caller, nameIn(hex)))),
      path: path?.replace(MARKER, (_marker, hex: string) => `{${nameIn(hex)}}`),
      headers: headersFor(caller),
    };
  }

  return {
    /** Fills the values into each request for a page. */
    wrapUpstream(inner: Upstream): Upstream {
      if (names.length === 0) return inner;
      return { ...inner, get: async (request, signal) => inner.get(withValues(request), signal) };
    },
    /** Reads as a caller of its own for each combination of values. A value that the resource needs is required. */
    wrapRead(read: Read, settings: ResourceConfig, keyOf: KeyOf): Read {
      if (names.length === 0) return read;
      const needed = callerValuesIn([headers, partsWithValues(settings)]);
      return async (caller, options) => {
        for (const name of needed) required(caller, name);
        const values = names.map((name) => [name.toLowerCase(), sentValue(caller, name) ?? null]);
        const sentValues = JSON.stringify(values);
        // Keys and tokens contain no space.
        const keyWith = (key: string) => keyOf(`${key} values ${sentValues}`);
        const { credentialKey, cacheScope } = caller;
        const keys = { credentialKey: keyWith(credentialKey), cacheScope: keyWith(cacheScope) };
        return read({ ...caller, ...keys, sentValues }, options);
      };
    },
  };
}

import type { LoadedConfig } from '../../core/config/load-config.ts';
import type { ResourceConfig } from '../../core/config/schema/settings.ts';
import { ownSecretsIn } from '../../core/credentials/authorize.ts';
import type { TappedRequest } from '../../core/upstream/upstream.ts';
import { isMasked as isMaskedSetting, keysIn } from '../effective-settings.ts';
import { listBlocks } from '../list-blocks.ts';
import type { ResourceReport } from './probe-report.ts';
import { createSafeText, type SafeText } from './safe-text.ts';

/** Shorter words of a masked header occur in other texts by chance. */
const MIN_SECRET_LENGTH = 8;

/** Masks secrets in what is shown of a resource's reads. */
export type Masks = ReturnType<typeof createMasks>;

type Values = string | readonly string[];

/** Masks secrets in what is shown of a resource's reads: the token, and the settings that `check --full` masks, except addresses without a key. */
export function createMasks(loaded: LoadedConfig, resource: string, settings: ResourceConfig) {
  const { config, environment, isFromEnvironment } = loaded;
  const isMasked = (path: readonly string[], value: unknown) => isMaskedSetting(value, path, isFromEnvironment);
  const { upstream: name } = settings;
  const { headers = {}, baseUrl = '', credential } = config.upstreams[name] ?? {};
  const atUpstream = ['upstreams', name];
  const atResource = ['resources', resource];

  const isMaskedIn = (value: Values, at: readonly string[]): boolean =>
    typeof value === 'string' ? isMasked(at, value) : value.some((each, index) => isMasked([...at, `${index}`], each));
  const masked = (values: Readonly<Record<string, Values>>, at: readonly string[]) =>
    Object.entries(values).filter(([key, value]) => isMaskedIn(value, [...at, key]));
  const inHeaders = masked(headers, [...atUpstream, 'headers']);
  const parents = Object.entries(config.resources).filter(([other]) => other === settings.each);
  const lists = [[resource, settings] as const, ...parents].flatMap(([each, its]) => listBlocks(each, its));
  const inQuery = lists.flatMap(([at, { query = {} }]) => masked(query, [...at.map(String), 'query']));
  const inPath = lists.flatMap(([at, { path }]) => masked({ path }, at.map(String)));
  // An address can come from the environment as a whole. Only what can be a key is masked.
  const inAddress = [...masked({ baseUrl }, atUpstream), ...inPath].flatMap(([, value]) => keysIn(String(value)));
  const words = [...inHeaders, ...inQuery].flatMap(([, value]) => [value].flat().flatMap((each) => each.split(/\s+/)));
  const tokens = Object.entries(environment).flatMap(([variable, value = '']) =>
    /^PORTICO_(?:TOKEN$|HEADER_)/.test(variable) ? [value] : [],
  );
  const secrets = [...tokens, ...words.filter((word) => word.length >= MIN_SECRET_LENGTH), ...inAddress];
  const own = new Set<string>();
  const safe: SafeText = (text, maxLength) => createSafeText([...own, ...secrets])(text, maxLength);
  const headerNames = new Set(inHeaders.map(([header]) => header.toLowerCase()));
  const parameters = new Set(inQuery.map(([parameter]) => parameter));

  const showTarget = (target: string) =>
    target.replace(/([?&])([^=&]*)=[^&]*/g, (pair, before: string, parameter: string) =>
      parameters.has(decodeURIComponent(parameter)) ? `${before}${parameter}=[masked]` : pair,
    );

  function showBody(value: unknown, at: readonly string[]): unknown {
    if (typeof value !== 'object' || value === null) return isMasked(at, value) ? '[masked]' : value;
    if (Array.isArray(value)) return value.map((each, index) => showBody(each, [...at, `${index}`]));
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, showBody(each, [...at, key])]));
  }

  return {
    safe,
    /** Masks the secret in a request from now on. A file with a secret can change between two requests. */
    learn({ headers: sent }: TappedRequest): void {
      for (const secret of ownSecretsIn(sent, credential)) own.add(secret);
    },
    show({ method, origin, target, headers: sent, body }: TappedRequest): NonNullable<ResourceReport['request']> {
      const shown = Object.entries(sent).map(([header, value]) => {
        return [header, headerNames.has(header) ? '[masked]' : safe(value, 200)] as const;
      });
      const posted = body && JSON.stringify(showBody(JSON.parse(body), [...atResource, 'body']));
      return {
        method,
        url: safe(origin + showTarget(target), 2000),
        headers: Object.fromEntries(shown),
        ...(posted && { body: safe(posted, 2000) }),
      };
    },
  };
}

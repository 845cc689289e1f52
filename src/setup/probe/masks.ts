import type { LoadedConfig } from '../../core/config/load-config.ts';
import type { ResourceConfig } from '../../core/config/schema/settings.ts';
import { ownSecretsIn } from '../../core/credentials/authorize.ts';
import type { TappedRequest } from '../../core/upstream/upstream.ts';
import { isMasked, keysIn } from '../effective-settings.ts';
import { listBlocks } from '../list-blocks.ts';
import type { ResourceReport } from './probe-report.ts';
import { createSafeText, type SafeText } from './safe-text.ts';

/** Shorter words of a masked value occur in other texts by chance. */
const MIN_SECRET_LENGTH = 8;
const MASK = '[masked]';

/** Masks secrets in what is shown of a resource's reads. */
export type Masks = ReturnType<typeof createMasks>;

/** Masks tokens, and the values that `check --full` masks: of an address, only what can be a key. */
export function createMasks(loaded: LoadedConfig, resource: string, settings: ResourceConfig) {
  const { config, environment, isFromEnvironment } = loaded;
  const { headers = {}, baseUrl, credential } = config.upstreams[settings.upstream] ?? {};
  const atUpstream = ['upstreams', settings.upstream];
  const parents = Object.entries(config.resources).filter(([other]) => other === settings.each);
  const lists = [[resource, settings] as const, ...parents].flatMap(([name, its]) => listBlocks(name, its));

  /** Returns the texts at a place of settings that are masked. */
  function maskedIn(value: unknown, at: readonly string[]): string[] {
    if (isMasked(value, at, isFromEnvironment)) return textsIn(value);
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([key, child]) => maskedIn(child, [...at, key]));
  }
  const values = [
    ...lists.flatMap(([at, { query }]) => maskedIn(query, [...at.map(String), 'query'])),
    ...maskedIn(settings.body, ['resources', resource, 'body']),
  ];
  const addresses = [
    ...maskedIn(baseUrl, [...atUpstream, 'baseUrl']),
    ...lists.flatMap(([at, { path }]) => maskedIn(path, [...at.map(String), 'path'])),
  ];
  const inHeaders = maskedIn(headers, [...atUpstream, 'headers']);
  const words = [...values, ...inHeaders].flatMap((value) => value.split(/\s+|\{[^{}]*\}/));
  const tokens = Object.entries(environment).flatMap(([variable, value = '']) =>
    /^PORTICO_(?:TOKEN$|HEADER_)/.test(variable) ? [value] : [],
  );
  const secrets = [
    ...tokens,
    ...words.filter((word) => word.length >= MIN_SECRET_LENGTH),
    ...addresses.flatMap((address) => keysIn(address)),
  ];
  const own = new Set<string>();
  const safe: SafeText = (text, maxLength) => createSafeText([...own, ...secrets])(text, maxLength);
  const isHidden = (value: unknown) => values.includes(String(value));

  const showTarget = (target: string) =>
    target.replace(/([?&])([^&]*)/g, (pair, before: string, entry: string) => {
      const [[name, value] = []] = new URLSearchParams(entry);
      return isHidden(value) ? `${before}${name}=${MASK}` : pair;
    });

  return {
    safe,
    /** Masks the secret in a request from now on. A file with a secret can change between two requests. */
    learn({ headers: sent }: TappedRequest): void {
      for (const secret of ownSecretsIn(sent, credential)) own.add(secret);
    },
    show({ method, origin, target, headers: sent, body }: TappedRequest): NonNullable<ResourceReport['request']> {
      const shown = Object.entries(sent).map(([header, value]) => {
        return [header, inHeaders.includes(value) ? MASK : safe(value, 200)] as const;
      });
      const posted = body && JSON.stringify(JSON.parse(body), (_key, value) => (isHidden(value) ? MASK : value));
      return {
        method,
        url: safe(origin + showTarget(target), 2000),
        headers: Object.fromEntries(shown),
        ...(posted && { body: safe(posted, 2000) }),
      };
    },
  };
}

function textsIn(value: unknown): string[] {
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [String(value)];
}

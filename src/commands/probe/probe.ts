import type { LoadedConfig } from '../../config/load-config.ts';
import { type Config, resourceConfig } from '../../config/schema/settings.ts';
import { createAuthenticate, type Identity } from '../../credentials/authenticate.ts';
import { RESOURCES } from '../../resources/index.ts';
import { identityIn } from '../identity.ts';
import { probeResource } from './probe-resource.ts';
import type { ProbeReport, ResourceReport } from './report.ts';

export interface ProbeOptions {
  /** Told what is under way. */
  readonly onProgress?: (text: string) => void;
}

/**
 * Reads every resource that a settings file offers, one after the other, with the token in settings, as `portico serve` would.
 * Throws `ConfigError` where a platform needs a token and settings hold none.
 */
export async function probe(
  file: string,
  loaded: LoadedConfig,
  { onProgress = () => {} }: ProbeOptions = {},
): Promise<ProbeReport> {
  const { config } = loaded;
  const offered = RESOURCES.filter((resource) => resourceConfig(config, resource).enabled);
  const identity = await identityFor(config, file);
  const resources: ResourceReport[] = [];
  for (const resource of offered) {
    const onPage = (pages: number) => onProgress(`${resource.name}: ${pages} page${pages === 1 ? '' : 's'}`);
    onProgress(`${resource.name}: asked`);
    resources.push(await probeResource(resource, { loaded, identity, onPage }));
  }
  // A file may have any name.
  return { file: file.replace(/\p{Cc}+/gu, ' '), ok: resources.every(({ ok }) => ok), resources };
}

/** No platform is given the token of a caller where none wants one: then any will do. */
function identityFor(config: Config, file: string): Promise<Identity> {
  const kinds = RESOURCES.map((resource) => resourceConfig(config, resource))
    .filter(({ enabled }) => enabled)
    .map(({ upstream }) => config.upstreams[upstream]?.credential.kind);
  if (config.mcp.stdio.token === '' && kinds.every((kind) => kind === 'none')) {
    return createAuthenticate()(['Bearer none']);
  }
  return identityIn(config, file, 'portico check --probe');
}

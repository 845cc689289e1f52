import type { LoadedConfig } from '../../core/config/load-config.ts';
import { resourceConfig } from '../../core/config/schema/settings.ts';
import { localCaller } from '../../core/local-caller.ts';
import { RESOURCES } from '../../core/resources/index.ts';
import { probeResource } from './probe-resource.ts';
import type { ProbeReport, ResourceReport } from './report.ts';

export interface ProbeOptions {
  /** Told what is under way. */
  readonly onProgress?: (text: string) => void;
  /** Whether a warning, and an experiment that could not be tried, are failures. @default false */
  readonly strict?: boolean;
  /** Whether a POST is sent that settings do not declare harmless (`retryPost`). @default false */
  readonly allowPost?: boolean;
}

/**
 * Reads every resource that a settings file offers, one after the other, with the token in settings, as `portico serve` would.
 * Throws `ConfigError` where a platform needs a token and settings hold none.
 */
export async function probe(
  file: string,
  loaded: LoadedConfig,
  { onProgress = () => {}, strict = false, allowPost = false }: ProbeOptions = {},
): Promise<ProbeReport> {
  const { config } = loaded;
  const offered = RESOURCES.filter((resource) => resourceConfig(config, resource).enabled);
  const identity = await localCaller(loaded, file, 'portico check --probe');
  const resources: ResourceReport[] = [];
  for (const resource of offered) {
    const onPage = (pages: number) => onProgress(`${resource.name}: ${pages} page${pages === 1 ? '' : 's'}`);
    const onExperiment = (name: string) => onProgress(`${resource.name}: trying ${name}`);
    onProgress(`${resource.name}: asked`);
    resources.push(await probeResource(resource, { loaded, identity, onPage, onExperiment, allowPost }));
  }
  const isFine = ({ ok, warnings, notTried }: ResourceReport) =>
    ok && !(strict && warnings.filter((warning) => !('mayBeRight' in warning)).length + notTried.length > 0);
  // A file may have any name.
  return { file: file.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' '), ok: resources.every(isFine), strict, resources };
}

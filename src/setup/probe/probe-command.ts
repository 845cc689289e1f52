import { onOneLine } from '../../core/config/config-error.ts';
import type { LoadedConfig } from '../../core/config/load-config.ts';
import { offeredIn } from '../../core/config/schema/settings.ts';
import { localCaller } from '../../core/local-caller.ts';
import { RESOURCES } from '../../core/resources/index.ts';
import { type ProbeReport, printReport, type ResourceReport } from './probe-report.ts';
import { probeResource } from './probe-resource.ts';

export interface ProbeOptions {
  readonly strict?: boolean | undefined;
  /** Sends a POST that settings do not declare harmless (`retryPost`). @default false */
  readonly allowPost?: boolean | undefined;
}

/** Runs `portico check --probe`. Node decides about colours (`NO_COLOR`, `FORCE_COLOR`). */
export async function runProbe(
  file: string,
  loaded: LoadedConfig,
  { json = false, ...options }: ProbeOptions & { readonly json?: boolean | undefined } = {},
): Promise<{ readonly text: string; readonly ok: boolean }> {
  const report = await probe(file, loaded, options);
  return { text: json ? `${JSON.stringify(report, null, 2)}\n` : printReport(report), ok: report.ok };
}

/** Reads every resource as `portico serve` does. Throws `ConfigError` if a platform needs a token and there is none. */
export async function probe(
  file: string,
  loaded: LoadedConfig,
  { strict = false, allowPost = false }: ProbeOptions = {},
): Promise<ProbeReport> {
  const identity = await localCaller({ ...loaded, file, command: 'portico check --probe' });
  const resources: ResourceReport[] = [];
  for (const { resource } of offeredIn(loaded.config, RESOURCES)) {
    resources.push(await probeResource(resource, { loaded, identity, allowPost }));
  }
  const isFine = ({ ok, warnings, notTried }: ResourceReport) =>
    ok && !(strict && warnings.filter((warning) => !('mayBeRight' in warning)).length + notTried.length > 0);
  return { file: onOneLine(file), ok: resources.every(isFine), strict, resources };
}

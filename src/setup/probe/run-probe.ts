import { styleText } from 'node:util';
import type { LoadedConfig } from '../../core/config/load-config.ts';
import { printReport } from './print.ts';
import { probe } from './probe.ts';
import { startProgress } from './progress.ts';

/**
 * `portico check --probe`: what standard output is to show, and whether it went well. Standard error has a line of
 * progress where it is a terminal. Node itself knows whether standard output takes colours (`NO_COLOR`, `FORCE_COLOR`).
 */
export async function runProbe(
  file: string,
  loaded: LoadedConfig,
  { json, strict, allowPost }: { readonly json: boolean; readonly strict: boolean; readonly allowPost: boolean },
): Promise<{ readonly text: string; readonly ok: boolean }> {
  const progress = startProgress(process.stderr);
  try {
    const report = await probe(file, loaded, { onProgress: progress.show, strict, allowPost });
    const text = json ? `${JSON.stringify(report, null, 2)}\n` : printReport(report, styleText);
    return { text, ok: report.ok };
  } finally {
    progress.clear();
  }
}

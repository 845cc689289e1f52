import type { Period } from './history.ts';

/** How many failed, and which share of all that is. */
export function share({ requests, failures }: Period): string {
  return failures === 0 ? '0' : `${failures} (${percent(failures / requests)})`;
}

/** A ratio, from 0 to 1. */
export function percent(ratio: number): string {
  return `${(100 * ratio).toFixed(ratio > 0 && ratio < 0.1 ? 1 : 0)} %`;
}

/** A dash where there was none. */
export function duration(ms: number): string {
  if (ms === 0) return '–';
  return ms < 1000 ? `${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

export function mebibytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

/** A time in ISO 8601, to the second. */
export function time(iso: string): string {
  return `<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')} UTC</time>`;
}

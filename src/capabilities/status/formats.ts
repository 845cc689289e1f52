import { describeFinding } from '../../core/mapping/mapper.ts';
import type { MappingWarning } from './request-status.ts';

/** A dash for 0: there was none. */
export function duration(ms: number): string {
  if (ms === 0) return '–';
  return ms < 1000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** Formats the time between two, in ISO 8601, in whole units: `34 s`, `4 min`, `2 h`, `3 d`. */
export function durationBetween(since: string, at: string): string {
  const seconds = Math.max(0, Math.round((Date.parse(at) - Date.parse(since)) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

/** Days between two times in ISO 8601. Negative: the second one is the earlier. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 86_400_000;
}

export function expiryOf(days: number): string {
  return days <= 0 ? 'expired' : `expires in ${days < 1 ? 'less than a day' : `${Math.floor(days)} d`}`;
}

export function describeWarning(warning: MappingWarning): string {
  return warning.finding === 'items_dropped'
    ? `${warning.dropped} of ${warning.received} items could not be mapped`
    : describeFinding(warning);
}

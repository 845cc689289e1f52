import { epochToTimestamp } from './time/epoch.ts';
import { extendedToTimestamp } from './time/extended.ts';
import { isoToTimestamp } from './time/iso-8601.ts';

/** Nine digits and more: fewer are a year, an ordinal date or a basic date, or no time at all. */
const EPOCH = /^-?\d{9,}(?:\.\d+)?$/;

/**
 * Brings a time into ISO 8601 UTC, `YYYY-MM-DDTHH:MM:SS[.fraction]Z`; the fraction keeps the digits that it came with.
 *
 * A number is an epoch: seconds below 1e11, else milliseconds. A text of nine digits and more, with or without a
 * fraction, is one too; any other text is ISO 8601. Undefined for all else, for times that do not exist (2024-02-30,
 * 25:00), and outside of the years 0000 to 9999. 23:59:60 UTC does exist: it is a leap second.
 */
export function toTimestamp(value: string | number): string | undefined {
  if (typeof value === 'number') return epochToTimestamp(String(value));
  return extendedToTimestamp(value) ?? (EPOCH.test(value) ? epochToTimestamp(value) : isoToTimestamp(value));
}

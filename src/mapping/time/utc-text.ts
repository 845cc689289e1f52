import { dateOfDay } from './calendar.ts';

const MINUTES_OF_DAY = 1440;
/** 0000-01-01 and 9999-12-31, in days from 1970-01-01: years of four digits. */
const FIRST_DAY = -719_528;
const LAST_DAY = 2_932_896;

const TWO_DIGITS = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'));

/**
 * `YYYY-MM-DDTHH:MM:SS[.fraction]Z`. `day` counts from 1970-01-01; `minute` counts from its midnight and may lie before
 * or behind that day. Second 60 is a leap second, which there is at 23:59 UTC only. Undefined for a time that does not
 * exist, or outside of the years 0000 to 9999.
 */
export function utcText(day: number, minute: number, second: number, fraction: string): string | undefined {
  const utcDay = day + Math.floor(minute / MINUTES_OF_DAY);
  const utcMinute = minute - (utcDay - day) * MINUTES_OF_DAY;
  if (!(utcDay >= FIRST_DAY && utcDay <= LAST_DAY)) return undefined;
  if (second > (utcMinute === MINUTES_OF_DAY - 1 ? 60 : 59)) return undefined;
  const date = dateOfDay(utcDay);
  const calendar = `${twoDigits(date.year / 100)}${twoDigits(date.year % 100)}-${twoDigits(date.month)}-${twoDigits(date.day)}`;
  const clock = `${twoDigits(utcMinute / 60)}:${twoDigits(utcMinute % 60)}:${twoDigits(second)}`;
  return `${calendar}T${clock}${fraction === '' ? '' : `.${fraction}`}Z`;
}

function twoDigits(number: number): string | undefined {
  return TWO_DIGITS[Math.trunc(number)];
}

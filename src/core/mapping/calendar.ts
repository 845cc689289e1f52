const SECONDS_OF_DAY = 86_400;
const SECONDS_OF_WEEK = 604_800;
/** After 400 years the calendar repeats, weekdays included. */
const SECONDS_OF_400_YEARS = 146_097 * SECONDS_OF_DAY;
/** 0000-01-01T00:00:00Z and 9999-12-31T23:59:59Z: years of four digits. */
const FIRST_SECOND = -62_167_219_200;
const LAST_SECOND = 253_402_300_799;

/**
 * Returns the second since 1970-01-01T00:00:00Z at which a Gregorian date starts (ISO 8601 applies that calendar to all
 * years); undefined for a date that does not exist.
 */
export function secondOfDate(year: number, month: number, day: number): number | undefined {
  // `Date.UTC` takes 0 to 99 for years of the twentieth century.
  const time = Date.UTC(year + 400, month - 1, day);
  const isDate = month >= 1 && month <= 12 && day === new Date(time).getUTCDate();
  return isDate ? time / 1000 - SECONDS_OF_400_YEARS : undefined;
}

/** As {@link secondOfDate}, for a day of a year (1 to 366). */
export function secondOfOrdinal(year: number, ordinal: number): number | undefined {
  const second = firstOfJanuary(year) + (ordinal - 1) * SECONDS_OF_DAY;
  return ordinal >= 1 && second < firstOfJanuary(year + 1) ? second : undefined;
}

/** As {@link secondOfDate}, for a day (1 is Monday) of an ISO week. */
export function secondOfWeekDay(year: number, week: number, weekday: number): number | undefined {
  const monday = firstMonday(year) + (week - 1) * SECONDS_OF_WEEK;
  const isDay = week >= 1 && weekday >= 1 && weekday <= 7 && monday < firstMonday(year + 1);
  return isDay ? monday + (weekday - 1) * SECONDS_OF_DAY : undefined;
}

/**
 * Returns `YYYY-MM-DDTHH:MM:SS[.fraction]Z` for a minute that starts `minutes` after or before midnight. Second 60 is a
 * leap second, valid at 23:59 UTC only. Undefined for times that do not exist, and outside the years 0000 to 9999.
 */
export function utcText(midnight: number, minutes: number, second: number, fraction: string): string | undefined {
  const whole = midnight + 60 * minutes + Math.min(second, 59);
  if (!(second <= 60 && whole >= FIRST_SECOND && whole <= LAST_SECOND)) return undefined;
  const text = new Date(whole * 1000).toISOString();
  if (second === 60 && text.slice(11, 16) !== '23:59') return undefined;
  const seconds = second === 60 ? '60' : text.slice(17, 19);
  return `${text.slice(0, 17)}${seconds}${fraction === '' ? '' : `.${fraction}`}Z`;
}

function firstOfJanuary(year: number): number {
  return Date.UTC(year + 400, 0) / 1000 - SECONDS_OF_400_YEARS;
}

/** Week 1 contains 4 January. */
function firstMonday(year: number): number {
  const fourth = firstOfJanuary(year) + 3 * SECONDS_OF_DAY;
  const daysFromMonday = (new Date(fourth * 1000).getUTCDay() + 6) % 7;
  return fourth - daysFromMonday * SECONDS_OF_DAY;
}

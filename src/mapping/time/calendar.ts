/** A date of the Gregorian calendar, which ISO 8601 applies to all years. */
export interface CalendarDate {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
}

/** Days of 400 years, after which the calendar repeats. */
const DAYS_OF_ERA = 146_097;
/** Days from 0000-03-01 to 1970-01-01. */
const DAYS_TO_EPOCH = 719_468;

/** The day, counted from 1970-01-01, of a date; undefined where there is no such date. */
export function dayOfDate(year: number, month: number, day: number): number | undefined {
  return month >= 1 && month <= 12 && day >= 1 && day <= daysOfMonth(year, month)
    ? countDays(year, month, day)
    : undefined;
}

/** The day, counted from 1970-01-01, of a day of a year (1 to 366); undefined where there is no such day. */
export function dayOfOrdinal(year: number, ordinal: number): number | undefined {
  return ordinal >= 1 && ordinal <= (isLeap(year) ? 366 : 365) ? countDays(year, 1, 1) + ordinal - 1 : undefined;
}

/** The day, counted from 1970-01-01, of a day (1 is Monday) of an ISO week; undefined where there is no such day. */
export function dayOfWeek(year: number, week: number, weekday: number): number | undefined {
  if (!(week >= 1 && weekday >= 1 && weekday <= 7)) return undefined;
  const monday = firstMonday(year) + (week - 1) * 7;
  return monday < firstMonday(year + 1) ? monday + weekday - 1 : undefined;
}

/** The date of a day counted from 1970-01-01. Years are counted from March, so that the leap day comes last. */
export function dateOfDay(day: number): CalendarDate {
  const era = Math.floor((day + DAYS_TO_EPOCH) / DAYS_OF_ERA);
  const dayOfEra = day + DAYS_TO_EPOCH - era * DAYS_OF_ERA;
  const leapDays = Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  return {
    year: era * 400 + yearOfEra + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1,
  };
}

function countDays(year: number, month: number, day: number): number {
  const yearFromMarch = month <= 2 ? year - 1 : year;
  const monthFromMarch = (month + 9) % 12;
  const leapDays = Math.floor(yearFromMarch / 4) - Math.floor(yearFromMarch / 100) + Math.floor(yearFromMarch / 400);
  return 365 * yearFromMarch + leapDays + Math.floor((153 * monthFromMarch + 2) / 5) + day - 1 - DAYS_TO_EPOCH;
}

/** Week 1 is the one with 4 January in it. */
function firstMonday(year: number): number {
  const fourth = countDays(year, 1, 4);
  // 1970-01-01 was a Thursday.
  return 7 * Math.floor((fourth + 3) / 7) - 3;
}

function daysOfMonth(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

import { secondOfDate, secondOfOrdinal, secondOfWeekDay, utcText } from './calendar.ts';

/** Matches the documented form; the day may still not exist. */
const DOCUMENTED = /^(\d{4})-(\d\d)-(\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/;
const SEPARATOR = /[Tt ]/;
const CALENDAR = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?|(\d\d)(\d\d))?$/;
const ORDINAL = /^(\d{4})-?(\d{3})$/;
const WEEK = /^(\d{4})(?:-W(\d\d)(?:-(\d))?|W(\d\d)(\d)?)$/;
const TIME = /^(\d\d)(?::(\d\d)(?::(\d\d)(?:[.,](\d+))?)?|(\d\d)(?:(\d\d)(?:[.,](\d+))?)?)?(.*)$/;
const OFFSET = /^(?:|[Zz]|([+-])(\d\d)(?::?(\d\d))?)$/;
const MINUTES_OF_DAY = 1440;
const NOT_ZERO = /[1-9]/;

/**
 * Converts a date, or date and time, of ISO 8601-1:2019 to ISO 8601 UTC: calendar, ordinal and week dates, extended and
 * basic. A date of reduced precision is its first day; a time without an offset is UTC. `t`, `z` and a space instead of
 * `T` are accepted (RFC 3339, section 5.6). Fractions keep their digits, and only seconds have one. Returns undefined
 * for other texts and for times that do not exist.
 */
export function isoToTimestamp(text: string): string | undefined {
  const documented = DOCUMENTED.exec(text);
  if (documented !== null) {
    const [, year, month, day] = documented;
    return secondOfDate(Number(year), Number(month), Number(day)) === undefined ? undefined : text;
  }
  const separator = text.search(SEPARATOR);
  if (separator < 0) {
    const day = beginningOf(text, 1);
    return day === undefined ? undefined : utcText(day, 0, 0, '');
  }
  const day = beginningOf(text.slice(0, separator), Number.NaN);
  return day === undefined ? undefined : timeToTimestamp(day, text.slice(separator + 1));
}

/** `missing`: value of an omitted month, week or day: 1, or NaN where the date must be complete. */
function beginningOf(date: string, missing: number): number | undefined {
  const calendar = CALENDAR.exec(date);
  if (calendar !== null) {
    const [, year, month = calendar[4], day = calendar[5]] = calendar;
    return secondOfDate(Number(year), Number(month ?? missing), Number(day ?? missing));
  }
  const ordinal = ORDINAL.exec(date);
  if (ordinal !== null) return secondOfOrdinal(Number(ordinal[1]), Number(ordinal[2]));
  const week = WEEK.exec(date);
  if (week === null) return undefined;
  return secondOfWeekDay(Number(week[1]), Number(week[2] ?? week[4]), Number(week[3] ?? week[5] ?? missing));
}

function timeToTimestamp(midnight: number, text: string): string | undefined {
  const time = TIME.exec(text);
  const offset = time && OFFSET.exec(time[8] ?? '');
  if (!time || !offset) return undefined;
  const [, hour, minute = time[5] ?? '0', second = time[6] ?? '0', fraction = time[7] ?? ''] = time;
  const minutes = Number(hour) * 60 + Number(minute);
  if (Number(minute) > 59 || minutes > MINUTES_OF_DAY) return undefined;
  // 24:00 is the end of the day; later times belong to the next one.
  if (minutes === MINUTES_OF_DAY && NOT_ZERO.test(second + fraction)) return undefined;
  const [, sign, offsetHour = '0', offsetMinute = '0'] = offset;
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;
  const ahead = Number(offsetHour) * 60 + Number(offsetMinute);
  return utcText(midnight, sign === '-' ? minutes + ahead : minutes - ahead, Number(second), fraction);
}

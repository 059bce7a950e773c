const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const LONG_DAY = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day';
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = '(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)';

/** RFC 9110 §5.6.7: the preferred form and the two that recipients must accept. */
const FORMS = [
  new RegExp(`^${DAY}, (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^${LONG_DAY}, (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} GMT$`),
  new RegExp(`^${DAY} ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`),
];

/** Time in ms since 1970, or undefined when it is no HTTP date. `nowMs` decides the century of two digits. */
export function parseHttpDate(text: string, nowMs: number): number | undefined {
  for (const form of FORMS) {
    const parts = form.exec(text)?.groups;
    if (parts) return toTime(parts, nowMs);
  }
  return undefined;
}

function toTime(parts: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const number = (name: string): number => Number(parts[name]);
  if (number('hour') > 23 || number('minute') > 59 || number('second') > 60) return undefined;
  const month = MONTHS.indexOf(parts['month'] ?? '');
  const year = fullYear(parts['year'] ?? '', nowMs);
  const time = Date.UTC(year, month, number('day'), number('hour'), number('minute'), number('second'));
  return new Date(Date.UTC(year, month, number('day'))).getUTCDate() === number('day') ? time : undefined;
}

/** RFC 9110 §5.6.7: two digits that would be more than 50 years ahead are of the century before. */
function fullYear(digits: string, nowMs: number): number {
  const year = Number(digits);
  if (digits.length === 4) return year;
  const thisYear = new Date(nowMs).getUTCFullYear();
  const inThisCentury = thisYear - (thisYear % 100) + year;
  return inThisCentury > thisYear + 50 ? inThisCentury - 100 : inThisCentury;
}

const TWO = '\\d{2}'
const ZONE = '(Z|[+-]\\d{2}:\\d{2})'
const YEAR = '-?\\d{4,}'
const TIME = `${TWO}:${TWO}:${TWO}(\\.\\d+)?`

/** Lexical forms of XML Schema part 2, section 3.2. Some of these values do not exist, such as a 13th month. */
export const LEXICAL: Readonly<Record<string, string>> = {
  ...formsOf({
    year: YEAR,
    month: TWO,
    day: TWO,
    monthAndDay: `${TWO}-${TWO}`,
    time: TIME,
    zone: ZONE
  }),
  duration: '-?P(?=[\\dT])(\\d+Y)?(\\d+M)?(\\d+D)?(T(?=\\d)(\\d+H)?(\\d+M)?(\\d+(\\.\\d+)?S)?)?'
}

/** The forms of values that exist. Every year has a 29th of February here. Absent for durations, which all exist. */
export const EXISTING: Readonly<Record<string, string>> = formsOf({
  year: '-?([1-9]\\d+|0\\d)\\d{2}',
  month: '(0[1-9]|1[0-2])',
  day: '(0[1-9]|[12]\\d|3[01])',
  monthAndDay: '((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)|02-(0[1-9]|[12]\\d))',
  time: '(([01]\\d|2[0-3])(:[0-5]\\d){2}(\\.\\d+)?|24:00:00(\\.0+)?)',
  zone: '(Z|[+-](0\\d|1[0-3]):[0-5]\\d|[+-]14:00)'
})

type Part = 'year' | 'month' | 'day' | 'monthAndDay' | 'time' | 'zone'

function formsOf({
  year,
  month,
  day,
  monthAndDay,
  time,
  zone
}: Readonly<Record<Part, string>>): Record<string, string> {
  return {
    dateTime: `${year}-${monthAndDay}T${time}${zone}?`,
    dateTimeStamp: `${year}-${monthAndDay}T${time}${zone}`,
    date: `${year}-${monthAndDay}${zone}?`,
    time: `${time}${zone}?`,
    gYear: `${year}${zone}?`,
    gYearMonth: `${year}-${month}${zone}?`,
    gMonth: `--${month}(--)?${zone}?`,
    gMonthDay: `--${monthAndDay}${zone}?`,
    gDay: `---${day}${zone}?`
  }
}

/** For messages, because many callers do not know the forms of XML Schema. */
export const EXAMPLES: Readonly<Record<string, string>> = {
  dateTime: '2026-01-31T09:30:00Z',
  dateTimeStamp: '2026-01-31T09:30:00Z',
  date: '2026-01-31',
  time: '09:30:00',
  gYear: '2026',
  gYearMonth: '2026-01',
  gMonth: '--01',
  gMonthDay: '--01-31',
  gDay: '---31',
  duration: 'P1DT12H'
}

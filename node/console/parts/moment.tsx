const TIME = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' } as const
const THIS_YEAR = new Intl.DateTimeFormat(undefined, TIME)
const ANY_YEAR = new Intl.DateTimeFormat(undefined, { ...TIME, year: 'numeric' })

/** A time in the user's time zone, given in milliseconds since the epoch. */
export function Moment({ at, never = 'never' }: { readonly at: number | null; readonly never?: string }) {
  if (at === null) return <span className="quiet">{never}</span>
  const date = new Date(at)
  const format = date.getFullYear() === new Date().getFullYear() ? THIS_YEAR : ANY_YEAR
  return (
    <time dateTime={date.toISOString()} title={ANY_YEAR.format(date)}>
      {format.format(date)}
    </time>
  )
}

const FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** A time of the node, milliseconds since the epoch, as the reader's own zone has it. */
export function Moment({ at, never = 'never' }: { readonly at: number | null; readonly never?: string }) {
  if (at === null) return <span className="quiet">{never}</span>
  const date = new Date(at)
  return <time dateTime={date.toISOString()}>{FORMAT.format(date)}</time>
}

import { EVENT_TYPES } from '../../../node/events/event-types.ts'
import { between, code, read, table } from '../markdown.ts'

/** Writes the table of a node's events into a handwritten page. */
export async function eventsPage(): Promise<string> {
  const rows = Object.entries(EVENT_TYPES).map(([type, { about, data }]) => {
    const members = Object.entries<{ readonly description?: string }>(data.shape).map(([name, { description }]) => {
      return `${code(name)}${description === undefined ? '' : ` (${description})`}`
    })
    return [code(type), about, members.join(', ')]
  })
  return between(
    await read('docs/reference/events.md'),
    'event types',
    table(['Type', 'What happened', '`data`'], rows)
  )
}

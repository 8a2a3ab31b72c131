/**
 * The parts of the documentation that are made from the code. `test/docs/docs.spec.ts` holds the files to it;
 * `npm run docs` writes them anew.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { ERRORS, PROBLEM_TYPE_BASE } from '../../lib/base/errors.ts'
import * as limits from '../../lib/base/limits.ts'
import { CHANNEL_MOVES } from '../../lib/interface/channel.ts'
import { EVENT_TYPES } from '../../node/events/event-types.ts'
import { LISTING_MOVES } from '../../lib/interface/manifest.ts'
import { SUBSCRIPTION_MOVES } from '../../lib/interface/subscription.ts'
import { KEY_STATES } from '../../node/keys/state.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const NOTICE = '<!-- Made from the code by `npm run docs`. -->'

/** Path in the repository → what it should hold. */
export async function referencePages(): Promise<Map<string, string>> {
  return new Map([
    ['docs/reference/errors.md', errorsPage()],
    ['docs/reference/limits.md', limitsPage(await read('lib/base/limits.ts'))],
    ['docs/reference/events.md', withEventTypes(await read('docs/reference/events.md'))],
    ['docs/explanation/payments.md', withStates(await read('docs/explanation/payments.md'), 'channel', CHANNEL_MOVES)],
    ['docs/explanation/plans.md', plansPage(await read('docs/explanation/plans.md'))],
    ['docs/how-to/keys.md', withKeyStates(await read('docs/how-to/keys.md'))],
    ['docs/how-to/embed.md', await withExamples(await read('docs/how-to/embed.md'))]
  ])
}

function errorsPage(): string {
  const rows = Object.entries(ERRORS).map(
    ([code, { status, title, retryable }]) => `| ${status} | \`${code}\` | ${title} | ${retryable ? 'yes' : 'no'} |`
  )
  return `${NOTICE}

# Errors

Every error of Souk's own is [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457) \`application/problem+json\`:
\`type\` (\`${PROBLEM_TYPE_BASE}<code>\`), \`title\`, \`status\`, \`detail\`, \`code\`, \`request_id\`, \`charged\`,
\`amount_charged\`, \`retryable\`, \`source\` (\`ingress\`, \`owner\` or \`upstream\`). Match on \`code\`. Nothing in this table is
charged; where a call was sent, and what became of it was not heard, \`charged\` and \`amount_charged\` are null, and the receipts
tell later. "Retry" means that the same request may succeed later as it is; \`Retry-After\` says when, where that is known.

An upstream's own 4xx and 5xx are passed on unchanged, with the header \`Souk-Error-Source: upstream\`, and are not charged
either. Errors in a GraphQL request itself are GraphQL responses. \`soap_fault\` carries the fault as the member \`fault\`, and
has status 400 where the service says that the caller is at fault.

| Status | Code | Title | Retry |
|---|---|---|---|
${rows.join('\n')}
`
}

function withEventTypes(page: string): string {
  const rows = Object.entries(EVENT_TYPES).map(([type, { about, data }]) => {
    const members = Object.entries<{ readonly description?: string }>(data.shape).map(([name, { description }]) => {
      return `\`${name}\`${description === undefined ? '' : ` (${description})`}`
    })
    return `| \`${type}\` | ${about} | ${members.join(', ')} |`
  })
  const table = ['| type | what happened | `data` |', '|---|---|---|', ...rows].join('\n')
  return page.replace(/(<!-- event types -->\n)[^]*?(<!-- end -->)/, `$1\n${table}\n\n$2`)
}

function withKeyStates(page: string): string {
  const rows = Object.entries(KEY_STATES).map(([state, { refusal, moves }]) => {
    const ways = Object.entries<readonly string[]>(moves).map(
      ([by, to]) => `${to.map((name) => `\`${name}\``).join(' or ')} (${by})`
    )
    const call = refusal === undefined ? 'is made' : `401 \`${refusal}\``
    return `| \`${state}\` | ${call} | ${ways.join(', ') || '–'} |`
  })
  const table = ['| state | a call | may become |', '|---|---|---|', ...rows].join('\n')
  return page.replace(/(<!-- key states -->\n)[^]*?(<!-- end -->)/, `$1\n${table}\n\n$2`)
}

function plansPage(page: string): string {
  return withStates(withStates(page, 'subscription', SUBSCRIPTION_MOVES), 'listing', LISTING_MOVES)
}

function withStates(page: string, of: string, moves: Readonly<Record<string, readonly string[]>>): string {
  const rows = Object.entries(moves).map(([state, next]) => {
    return `| \`${state}\` | ${next.map((name) => `\`${name}\``).join(', ') || '–'} |`
  })
  const table = ['| state | may become |', '|---|---|', ...rows].join('\n')
  return page.replace(new RegExp(`(<!-- ${of} states -->\\n)[^]*?(<!-- end -->)`), `$1\n${table}\n\n$2`)
}

function limitsPage(source: string): string {
  const values = new Map<string, unknown>(Object.entries(limits))
  const lines: string[] = []
  let reason = ''
  for (const line of source.split('\n')) {
    const heading = /^\/\/ ── (.+?) ─+$/.exec(line)?.[1]
    const comment = /^\/\*\* (.+) \*\/$/.exec(line)?.[1]
    const name = /^export const (\w+)/.exec(line)?.[1]
    if (heading !== undefined) lines.push('', `## ${heading}`, '', '| Limit | Value | Why |', '|---|---|---|')
    if (comment !== undefined) reason = comment
    if (name !== undefined) lines.push(`| \`${name}\` | ${inList(name, values.get(name))} | ${reason} |`)
  }
  return `${NOTICE}

# Limits

All of them live in \`lib/base/limits.ts\`, with the unit at the end of the name: \`_BYTES\`, \`_MS\`, \`_CHARS\`; others are counts.
${lines.join('\n')}
`
}

const KIB = 1024
const MS_IN = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000]
] as const

function inList(name: string, value: unknown): string {
  return [value]
    .flat()
    .map((each) => inWords(name, Number(each)))
    .join(', ')
}

function inWords(name: string, value: number): string {
  if (/_MS(_|$)/.test(name)) {
    const [unit, ms] = MS_IN.find(([, each]) => value % each === 0) ?? (['ms', 1] as const)
    return `${value / ms} ${unit}`
  }
  if (/_BYTES(_|$)/.test(name)) {
    if (value % (KIB * KIB) === 0) return `${value / KIB / KIB} MiB`
    return value % KIB === 0 ? `${value / KIB} KiB` : `${value} B`
  }
  return value.toLocaleString('en-US')
}

/** Puts each `<!-- file: examples/x.ts -->` into the block below it. */
async function withExamples(page: string): Promise<string> {
  let result = page
  for (const [, path = ''] of page.matchAll(/<!-- file: (\S+) -->/g)) {
    const code = await read(`docs/${path}`)
    const block = new RegExp(`(<!-- file: ${path} -->\\n\`\`\`ts\\n)[^]*?(\`\`\`)`)
    result = result.replace(block, (_, start: string, end: string) => start + code + end)
  }
  return result
}

function read(path: string): Promise<string> {
  return readFile(resolve(ROOT, path), 'utf8')
}

if (import.meta.main) for (const [path, page] of await referencePages()) await writeFile(resolve(ROOT, path), page)

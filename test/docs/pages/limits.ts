import * as limits from '../../../lib/base/limits.ts'
import { NOTICE, read } from '../markdown.ts'

export interface Limit {
  readonly heading: string
  readonly name: string
  /** Text of the comment right above the limit. Empty if there is none. */
  readonly reason: string
}

export async function limitsPage(): Promise<string> {
  const values = new Map<string, unknown>(Object.entries(limits))
  const lines: string[] = []
  let section: string | undefined
  for (const { heading, name, reason } of await allLimits()) {
    if (heading !== section) lines.push('', `## ${heading}`, '', '| Limit | Value | Reason |', '|---|---|---|')
    section = heading
    lines.push(`| \`${name}\` | ${inList(name, values.get(name))} | ${reason} |`)
  }
  return `${NOTICE}

# Limits

The files of \`lib/base/limits/\` define every limit. The end of a name is its unit: \`_BYTES\`, \`_MS\`, \`_CHARS\`, \`_ATOMS\` (a millionth of a USDC). Other limits are counts.
${lines.join('\n')}
`
}

/** The limits of all areas, in the order in which `lib/base/limits.ts` exports them. */
export async function allLimits(): Promise<Limit[]> {
  const areas = [...(await read('lib/base/limits.ts')).matchAll(/^export \* from '\.\/(.+)'$/gm)]
  const sources = await Promise.all(areas.map(([, path]) => read(`lib/base/${path}`)))
  return sources.flatMap(limitsIn)
}

/** The limits of a source text, in order. A comment belongs to the next line only, so grouped limits do not share one. */
export function limitsIn(source: string): Limit[] {
  const found: Limit[] = []
  let heading = ''
  let reason = ''
  for (const line of oneLineComments(source).split('\n')) {
    heading = /^\/\*\* Limits: (.+)\. \*\/$/.exec(line)?.[1] ?? heading
    const name = /^export const (\w+)/.exec(line)?.[1]
    if (name !== undefined) found.push({ heading, name, reason })
    reason = /^\/\*\* (.+) \*\/$/.exec(line)?.[1] ?? ''
  }
  return found
}

function oneLineComments(source: string): string {
  return source.replaceAll(
    /^\/\*\*\n((?: \* .*\n)+) \*\/$/gm,
    (_, body: string) =>
      `/** ${body
        .trim()
        .replaceAll(/(?:^|\s*\n) ?\* /g, ' ')
        .trim()} */`
  )
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

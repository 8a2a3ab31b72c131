import * as limits from '../../../lib/base/limits.ts'
import { NOTICE, read } from '../markdown.ts'

export async function limitsPage(): Promise<string> {
  const source = await read('lib/base/limits.ts')
  const values = new Map<string, unknown>(Object.entries(limits))
  const lines: string[] = []
  let reason = ''
  for (const line of oneLineComments(source).split('\n')) {
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

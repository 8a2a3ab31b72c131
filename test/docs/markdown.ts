import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'

export const ROOT = resolve(import.meta.dirname, '../..')

/** The first line of a generated page. */
export const NOTICE = '<!-- Made from the code by `npm run docs`. -->'

export function read(path: string): Promise<string> {
  return readFile(resolve(ROOT, path), 'utf8')
}

/** Formats a table. Cells may contain line breaks and bars. */
export function table(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

function cell(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ').replaceAll(/(?<!\\)\|/g, '\\|')
}

/** Makes a sentence of a description in the code: `all of them` → `All of them.` */
export function sentence(text: string): string {
  if (text === '') return ''
  const start = /^(https?:|name@|souk |dev[, ]|a-z|channel:)/.test(text)
    ? text
    : text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?:…]$/.test(start) ? start : `${start}.`
}

export const code = (text: string): string => `\`${text}\``

/** The anchor that GitHub gives a heading. */
export function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-')
}

/** Puts `text` between `<!-- name -->` and `<!-- end -->`. @throws Error if the page has no such place */
export function between(page: string, name: string, text: string): string {
  const place = new RegExp(`(<!-- ${name} -->\\n)[^]*?(<!-- end -->)`)
  if (!place.test(page)) throw new Error(`The page has no place for "${name}".`)
  return page.replace(place, (_, start: string, end: string) => `${start}\n${text}\n\n${end}`)
}

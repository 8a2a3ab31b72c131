import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** One thing that a page has its reader do. */
export type Step =
  | { readonly kind: 'save'; readonly terminal: Terminal; readonly file: string; readonly text: string }
  | {
      readonly kind: 'type'
      readonly terminal: Terminal
      /** Logical lines of the block: continued lines are one. */
      readonly commands: readonly string[]
      /** The last command goes on until Ctrl-C. */
      readonly staysUp: boolean
      /** What that command prints once it is up, where the page tells. */
      readonly upWhen: string | undefined
      /** The error status that the page announces. */
      readonly refusal: string | undefined
    }
  /** The output that the page shows below the commands. */
  | { readonly kind: 'expect'; readonly output: string }

export type Terminal = 'first' | 'second'

interface Block {
  readonly language: string
  readonly text: string
  /** Everything since the block before. */
  readonly since: string
  /** The paragraphs right before and right after it. */
  readonly before: string
  readonly after: string
}

const SHOWN = new Set(['text', 'json'])

/** Reads a page as its reader does: what to save, what to type into which terminal, and what is printed then. */
export async function stepsOf(root: string, path: string): Promise<Step[]> {
  const steps: Step[] = []
  let terminal: Terminal = 'first'
  let last: Block | undefined
  for (const block of blocksOf(await readFile(join(root, path), 'utf8'))) {
    const { language, text, since, before, after } = block
    // The reader changes terminals where the page says so, and stays there.
    terminal = ([...since.matchAll(/\b(first|second)\s+terminal/g)].at(-1)?.[1] as Terminal | undefined) ?? terminal
    const file = /\b[Ss]ave (?:it|this) as\s+`([^`]+)`/.exec(before)?.[1]
    if (file !== undefined && language !== 'sh') steps.push({ kind: 'save', terminal, file, text })
    else if (language === 'sh') {
      const commands = commandsIn(text)
      const about = `${before}\n${after}\n${commands.at(-1) ?? ''}`
      const upWhen = /\bprints\s+`([^`]+)`/.exec(after)?.[1]
      const refusal = /`([45]\d\d) [A-Z]/.exec(after)?.[1]
      steps.push({ kind: 'type', terminal, commands, staysUp: about.includes('Ctrl-C'), upWhen, refusal })
    } else if (SHOWN.has(language) && last?.language === 'sh') steps.push({ kind: 'expect', output: text })
    last = block
  }
  return steps
}

function blocksOf(page: string): Block[] {
  const parts = page.split(/^```(\w*)\n([^]*?)^```\n/m)
  const blocks: Block[] = []
  for (let at = 0; at + 3 < parts.length; at += 3) {
    const [since = '', language = '', text = '', after = ''] = parts.slice(at, at + 4)
    const before = paragraphsOf(since).at(-1) ?? ''
    blocks.push({ language, text, since, before, after: paragraphsOf(after)[0] ?? '' })
  }
  return blocks
}

/** Without comments, which say where a file of the examples goes, and without headings, tables and lists. */
function paragraphsOf(text: string): string[] {
  return text
    .replaceAll(/<!--[^]*?-->/g, '')
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
}

function commandsIn(block: string): string[] {
  return block
    .replaceAll(/\\\n/g, '\\\u0000')
    .split('\n')
    .map((line) => line.replaceAll('\u0000', '\n'))
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
}

/** Whether a command printed what the page shows. Spaces and numbers may differ, and what the page leaves out as `…`. */
export function shows(output: string, shown: string): boolean {
  const parts = shown.replaceAll(/\s/g, '').split(/(\d[\d.]*|…)/)
  const pattern = parts
    .map((part, index) => (index % 2 === 0 ? literal(part) : part === '…' ? '.*' : '[\\d.]+'))
    .join('')
  return new RegExp(pattern).test(output.replaceAll(/\s/g, ''))
}

/** A word of the page with `…` in it, as a pattern of what stands for it in what was printed. */
export function patternOf(word: string): RegExp {
  const parts = word.split(/(\d[\d.]*|…)/)
  return new RegExp(
    parts.map((part, index) => (index % 2 === 0 ? literal(part) : part === '…' ? '[\\w.]+' : '[\\d.]+')).join('')
  )
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

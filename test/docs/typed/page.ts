import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** One step of a page. */
export type Step =
  | { readonly kind: 'save'; readonly terminal: Terminal; readonly file: string; readonly text: string }
  | {
      readonly kind: 'type'
      readonly terminal: Terminal
      /** Logical lines of the block. Continued lines are joined. */
      readonly commands: readonly string[]
      /** The last command runs until Ctrl-C. */
      readonly staysUp: boolean
      /** Output of the last command that shows it is ready, if the page gives it. */
      readonly upWhen: string | undefined
      /** The HTTP error status that the page announces. */
      readonly refusal: string | undefined
    }
  /** The output that the page shows below the commands. */
  | { readonly kind: 'expect'; readonly output: string }

export type Terminal = 'first' | 'second' | 'third'

interface Block {
  readonly language: string
  readonly text: string
  /** The text since the previous block. */
  readonly since: string
  /** The paragraphs right before and right after the block. */
  readonly before: string
  readonly after: string
}

const SHOWN = new Set(['text', 'json'])

/** Reads the steps of a page: files to save, commands to type into a terminal, and the expected output. */
export async function stepsOf(root: string, path: string): Promise<Step[]> {
  const steps: Step[] = []
  let terminal: Terminal = 'first'
  let last: Block | undefined
  for (const block of blocksOf(await readFile(join(root, path), 'utf8'))) {
    const { language, text, since, before, after } = block
    // A terminal named by the page is used until the page names another one.
    terminal =
      ([...since.matchAll(/\b(first|second|third)\s+terminal/g)].at(-1)?.[1] as Terminal | undefined) ?? terminal
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

/** Removes HTML comments (places of example files), headings, tables and lists. */
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

/** True if a command printed the output of the page. Spaces, numbers, and parts shown as `…` may differ. */
export function shows(output: string, shown: string): boolean {
  const parts = shown.replaceAll(/\s/g, '').split(/(\d[\d.]*|…)/)
  const pattern = parts
    .map((part, index) => (index % 2 === 0 ? literal(part) : part === '…' ? '.*' : '[\\d.]+'))
    .join('')
  return new RegExp(pattern).test(output.replaceAll(/\s/g, ''))
}

/** Makes a pattern of a word with `…`, which matches the printed word. */
export function patternOf(word: string): RegExp {
  const parts = word.split(/(\d[\d.]*|…)/)
  return new RegExp(
    parts.map((part, index) => (index % 2 === 0 ? literal(part) : part === '…' ? '[\\w.]+' : '[\\d.]+')).join('')
  )
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

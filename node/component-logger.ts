import { format } from 'node:util'
import type { ComponentLogger, Logger } from '@libp2p/interface'
import { logger } from '@libp2p/logger'

/** The loggers of `@libp2p/logger` are `debug` loggers, whose output can be replaced. */
type Debug = Logger & { useColors: boolean; log: (...args: unknown[]) => void }

interface Pattern {
  readonly regex: RegExp
  readonly isExcluded: boolean
  readonly isTrace: boolean
}

/**
 * Enables the logs that `names` matches: patterns as in `DEBUG`, separated by commas or spaces. `*` matches any text, and a leading `-`
 * excludes. Trace lines need a pattern with `:trace`. Calls `write` once per entry.
 */
export function createComponentLogger(names: string, write: (text: string) => void): ComponentLogger {
  const patterns = names.split(/[\s,]+/).flatMap(readPattern)
  const isOn = (name: string): boolean => {
    const matching = patterns.filter(({ regex }) => regex.test(name))
    if (matching.some(({ isExcluded }) => isExcluded)) return false
    return matching.some(({ isTrace }) => isTrace || !name.endsWith(':trace'))
  }
  const print = (...args: unknown[]): void => write(onePlace(format(...args)))
  const part = (name: string): Debug => {
    const log = logger(name) as Debug
    log.enabled = isOn(name)
    log.useColors = false
    log.log = print
    return log
  }
  const forComponent = (name: string): Logger =>
    Object.assign(part(name), {
      error: part(`${name}:error`),
      trace: part(`${name}:trace`),
      newScope: (scope: string) => forComponent(`${name}:${scope}`)
    })
  return { forComponent }
}

function readPattern(word: string): Pattern[] {
  const isExcluded = word.startsWith('-')
  const name = isExcluded ? word.slice(1) : word
  if (name === '') return []
  const regex = new RegExp(
    `^${name
      .split('*')
      .map((part) => RegExp.escape(part))
      .join('.*')}$`
  )
  return [{ regex, isExcluded, isTrace: name.includes(':trace') }]
}

/** Peers choose some of the texts. Escape control characters, so that no text starts a new line or controls the terminal. */
function onePlace(text: string): string {
  const shown = text.replaceAll(/[^\P{Cc}\n\t]/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`)
  return shown.replaceAll('\n', '\n    ')
}

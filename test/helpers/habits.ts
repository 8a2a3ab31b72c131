/**
 * Conventions of the repository that a test can enforce: short files, no unfinished work without an issue, no skipped test, and
 * no new files at the top level.
 */

import { type Rule, type Sources, under, type Violation } from './layers.ts'
import type { Source } from './scan.ts'

export const FILE_LINES_WARN = 400
const FILE_LINES_MAX = 500

export const fileLength: Rule = (sources) =>
  long(sources, FILE_LINES_MAX).map(({ path, lines }) => ({
    rule: 'length',
    file: path,
    line: FILE_LINES_MAX + 1,
    message: `has ${lines} lines, at most ${FILE_LINES_MAX} are allowed: split the file`
  }))

/** Files of more than `max` lines, longest first. Files marked as generated in their first comment are exempt. */
export function long(sources: Sources, max: number): Source[] {
  return [...sources.values()]
    .filter(({ lines, comments }) => lines > max && comments[0]?.text.includes('@generated') !== true)
    .sort((a, b) => b.lines - a.lines)
}

const UNFINISHED = /\b(TODO|FIXME|XXX|HACK)\b(?!\s*[:(]?\s*#\d+)/

export const unfinished: Rule = (sources) => {
  const violations: Violation[] = []
  for (const { path, comments } of sources.values()) {
    for (const { text, line } of comments) {
      const found = UNFINISHED.exec(text)
      if (found === null) continue
      const at = line + text.slice(0, found.index).split('\n').length - 1
      violations.push({
        rule: 'unfinished',
        file: path,
        line: at,
        message: `${found[0]} names no issue: write ${found[0]} #123`
      })
    }
  }
  return violations
}

const SUITES = ['describe', 'context', 'suite', 'it', 'specify', 'test']

/** `this.skip()` is allowed: a test may check at run time for tools that the machine lacks. */
export const focused: Rule = (sources) => {
  const violations: Violation[] = []
  for (const { path, tokens } of sources.values()) {
    if (!under(path, ['test/'])) continue
    for (const [i, { text, kind, line }] of tokens.entries()) {
      if (kind !== 'word' || tokens[i - 1]?.text === '.') continue
      const member = tokens[i + 1]?.text === '.' ? tokens[i + 2]?.text : undefined
      const called = tokens[i + 1]?.text === '(' && /^x(describe|context|it|specify)$/.test(text)
      if (!called && !(SUITES.includes(text) && (member === 'only' || member === 'skip'))) continue
      violations.push({
        rule: 'focused',
        file: path,
        line,
        message: `${called ? text : `${text}.${member}`} leaves tests out`
      })
    }
  }
  return violations
}

/** The files that may, and must, be at the top level. */
export function topLevel(names: string[], allowed: { must: string[]; may: string[] }): Violation[] {
  const extra = names.filter((name) => !allowed.must.includes(name) && !allowed.may.includes(name))
  const missing = allowed.must.filter((name) => !names.includes(name))
  return [
    ...extra.map((file) => ({
      rule: 'top level',
      file,
      line: 1,
      message: 'has no place at the top of the repository'
    })),
    ...missing.map((file) => ({ rule: 'top level', file, line: 1, message: 'is missing' }))
  ]
}

import { RE2JS } from 're2js'
import { PATTERN_CHARS_MAX, PATTERN_PROPERTIES_MAX, PATTERN_SIZE_MAX } from '../../lib/base/limits/descriptions.ts'
import type { Meter } from './meter.ts'

/** Why a pattern is not supported. The message completes "The pattern …". */
export class PatternRefused extends Error {}

/** A regular expression whose matching time is linear in the length of the text (RE2). */
export interface LinearPattern {
  /**
   * The number of instructions and character ranges of the compiled program: the cost of compiling it, and the worst case of
   * matching one character.
   */
  readonly size: number
  /**
   * True if any part of the text matches.
   * @param meter charged for the worst case, `size` steps per character
   * @throws OutOfSteps
   */
  test(text: string, meter: Meter): boolean
}

/** Ranges are found by binary search, so this many cost as much as one instruction. */
const RANGES_PER_STEP = 128
/** A translation writes out sets and special characters, so it is longer than the pattern. */
const TRANSLATED_CHARS_MAX = 8 * PATTERN_CHARS_MAX
const PROPERTY = /\\[pP]/g

interface Instruction {
  readonly runes: readonly number[]
}

/**
 * Compiles an RE2 expression.
 * @param source in the syntax of RE2; `ecmaPattern` translates from JSON Schema
 * @throws PatternRefused
 */
export function linearPattern(source: string): LinearPattern {
  if (source.length > TRANSLATED_CHARS_MAX) throw new PatternRefused(`is longer than ${PATTERN_CHARS_MAX} characters`)
  const properties = source.match(PROPERTY)?.length ?? 0
  if (properties > PATTERN_PROPERTIES_MAX) {
    throw new PatternRefused(`has more than ${PATTERN_PROPERTIES_MAX} Unicode properties`)
  }
  const compiled = compile(source)
  const size = sizeOf(compiled)
  if (size > PATTERN_SIZE_MAX) throw new PatternRefused(`is too large when its repetitions are expanded`)
  return {
    size,
    test(text, meter) {
      meter.spend(1 + size * text.length)
      return compiled.test(text)
    }
  }
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source)
  } catch (cause) {
    const why =
      cause instanceof Error && /repeat count/.test(cause.message) ? 'repeats too often' : 'cannot be compiled'
    throw new PatternRefused(`${why} for matching in linear time`, { cause })
  }
}

function sizeOf(compiled: RE2JS): number {
  const { inst } = (compiled.re2() as unknown as { readonly prog: { readonly inst: readonly Instruction[] } }).prog
  return inst.reduce((sum, { runes }) => sum + 1 + Math.floor(runes.length / RANGES_PER_STEP), 0)
}

import { createContext, Script } from 'node:vm'

const LIMIT_MS = 1_000

const context = createContext({ expression: undefined, texts: [] })
const script = new Script('texts.map((text) => expression.test(text))')

/**
 * The matches of JavaScript's own engine. Undefined if it takes longer than a second, because the engine backtracks and a random
 * pattern may occupy it forever.
 */
export function nativeMatches(expression: RegExp, texts: readonly string[]): boolean[] | undefined {
  Object.assign(context, { expression, texts })
  try {
    // An array of another context has another prototype.
    return Array.from(script.runInContext(context, { timeout: LIMIT_MS }) as boolean[])
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined
    throw error
  }
}

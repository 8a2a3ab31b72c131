import { inspect } from 'node:util'

/** By promise, because mocha emits each event again. */
const rejections = new Map<Promise<unknown>, Error>()
const note = (reason: unknown, promise: Promise<unknown>): void =>
  void rejections.set(promise, reason instanceof Error ? reason : new Error(inspect(reason)))

/** The unhandled rejections since the last call, as an error that mocha shows with the first one's stack. */
function failure(): Error | undefined {
  const [cause, ...more] = rejections.values()
  rejections.clear()
  if (cause === undefined) return undefined
  // In the text, because a worker of mocha passes on no cause.
  return new Error(`Unhandled rejection${more.length === 0 ? '' : `, and ${more.length} more`}: ${inspect(cause)}`)
}

/**
 * Mocha ignores unhandled rejections, but a node ends with one. The test in which one happens fails, after its `afterEach` hooks.
 * Every mocha process loads this file.
 */
export const mochaHooks = {
  /** For each spec file, because a worker of mocha removes all listeners after each. */
  beforeAll(): void {
    process.on('unhandledRejection', note)
  },
  afterEach(this: Mocha.Context): void {
    const error = failure()
    // To throw it would end the run.
    if (error !== undefined) (this.test as Mocha.Hook).error(error)
  },
  /** Rejections in hooks after the last test. A later one ends the process. */
  afterAll(): void {
    process.off('unhandledRejection', note).on('unhandledRejection', (reason) => {
      throw reason
    })
    const error = failure()
    if (error !== undefined) throw error
  }
}

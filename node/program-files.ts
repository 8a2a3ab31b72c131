import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Every install writes this file anew, at the same path. */
const packageFile = (): string => fileURLToPath(import.meta.resolve('souk/package.json'))

/**
 * The files of the program that runs. Node.js loads some of them only when they are first needed, so a process whose files were
 * removed or replaced has internal errors, or mixes two versions.
 */
export class ProgramFiles {
  readonly #path: string
  readonly #before: string | undefined

  constructor(path = packageFile()) {
    this.#path = path
    this.#before = this.#identity()
  }

  /** Why the process must be started again; undefined if its files are those of its start. */
  get restartNeeded(): string | undefined {
    const now = this.#identity()
    if (now === this.#before) return undefined
    return `the files of the program were ${now === undefined ? 'removed' : 'replaced'} after its start`
  }

  #identity(): string | undefined {
    const found = statSync(this.#path, { bigint: true, throwIfNoEntry: false })
    return found === undefined ? undefined : `${found.dev} ${found.ino} ${found.mtimeNs}`
  }
}

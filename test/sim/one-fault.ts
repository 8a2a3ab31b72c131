export const FAULTS = [
  'killed before a commit',
  'killed after a commit',
  'failed at a commit',
  'cut before a message',
  'cut after a message'
] as const
export type FaultName = (typeof FAULTS)[number]

/** The one thing that goes wrong in a run: at its `at`-th commit or message, counted from 1 over all nodes. */
export class OneFault {
  readonly what: FaultName
  readonly at: number
  #commits = 0
  #messages = 0
  #isOver = false

  constructor(what: FaultName, at: number) {
    this.what = what
    this.at = at
  }

  /** False where the run ended before it came to `at`. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** To be asked at each commit, once. */
  atCommit(): 'before' | 'after' | 'unknown' | undefined {
    if (this.what.startsWith('cut') || ++this.#commits !== this.at) return undefined
    this.#isOver = true
    if (this.what === 'failed at a commit') return 'unknown'
    return this.what === 'killed before a commit' ? 'before' : 'after'
  }

  /** To be asked at each message, once. */
  atMessage(): 'before' | 'after' | undefined {
    if (!this.what.startsWith('cut') || ++this.#messages !== this.at) return undefined
    this.#isOver = true
    return this.what === 'cut before a message' ? 'before' : 'after'
  }
}

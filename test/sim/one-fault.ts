export const FAULTS = [
  'killed before a commit',
  'killed after a commit',
  'failed at a commit',
  'cut before a message',
  'cut after a message'
] as const
export type FaultName = (typeof FAULTS)[number]

/** The single fault of a run, at its `at`-th commit or message, counted from 1 over all nodes. */
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

  /** False if the run ended before place `at`. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Call it once per commit. */
  atCommit(): 'before' | 'after' | 'unknown' | undefined {
    if (this.what.startsWith('cut') || ++this.#commits !== this.at) return undefined
    this.#isOver = true
    if (this.what === 'failed at a commit') return 'unknown'
    return this.what === 'killed before a commit' ? 'before' : 'after'
  }

  /** Call it once per message. */
  atMessage(): 'before' | 'after' | undefined {
    if (!this.what.startsWith('cut') || ++this.#messages !== this.at) return undefined
    this.#isOver = true
    return this.what === 'cut before a message' ? 'before' : 'after'
  }
}

/**
 * Thrown by a `Meter` without steps left. It never reaches a client: the check that owns the meter converts it to its own error.
 */
export class OutOfSteps extends Error {}

/** Counts down the steps of one check. A step is about ten nanoseconds of work. */
export class Meter {
  #left: number

  constructor(steps: number) {
    this.#left = steps
  }

  /** @throws OutOfSteps */
  spend(steps: number): void {
    this.#left -= steps
    if (this.#left < 0) throw new OutOfSteps()
  }
}

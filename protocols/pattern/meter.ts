/** Thrown by a `Meter` that has no steps left. Never reaches a client: the check that owns the meter turns it into its own error. */
export class OutOfSteps extends Error {}

/** Counts down the steps that one check may take. A step is roughly ten nanoseconds of work. */
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

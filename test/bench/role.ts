/** The child's side of `player.ts`: one process of a benchmark, told what to do over IPC. */

type Operation = (args: never) => unknown

export interface Role {
  /** What the others need to know of this process, such as its port. JSON. */
  readonly info: unknown
  /** What it can be asked to do once it runs. Arguments and results are JSON. */
  readonly operations?: Readonly<Record<string, Operation>>
  stop(): unknown
}

export interface Question {
  readonly id: number
  readonly operation: string
  readonly args: unknown
}

export interface Answer {
  readonly id: number
  readonly result?: unknown
  readonly error?: string
}

/** Plays a role until the parent says `stop`, or is gone. */
export function play(start: (args: never) => Role | Promise<Role>): void {
  let role: Role | undefined

  async function perform(operation: string, args: unknown): Promise<unknown> {
    if (operation === 'start') {
      role = await start(args as never)
      return role.info
    }
    // Of the whole process: its threads for the disk, for hashing and for the garbage collector are part of a call's price.
    if (operation === 'cpu') return process.cpuUsage()
    if (operation === 'rss') return process.memoryUsage.rss()
    if (operation === 'stop') return role?.stop()
    const known = role?.operations?.[operation]
    if (known === undefined) throw new Error(`no operation ${operation}`)
    return known(args as never)
  }

  async function answer({ id, operation, args }: Question): Promise<Answer> {
    try {
      return { id, result: await perform(operation, args) }
    } catch (error) {
      return { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
    }
  }

  process.on('message', (question: Question) => {
    void answer(question).then((answer) =>
      process.send?.(answer, () => {
        if (question.operation === 'stop') process.exit()
      })
    )
  })
  process.once('disconnect', () => process.exit(1))
}

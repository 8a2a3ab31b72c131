import { watchPassage } from './passage.ts'
import { watchSpending } from './spending.ts'

/** The child's side of `player.ts`: one process of a benchmark, controlled over IPC. */

type Operation = (args: never) => unknown

export interface Role {
  /** Information about this process for the others, such as its port. JSON. */
  readonly info: unknown
  /** The operations of the running process. Arguments and results are JSON. */
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

/** Plays a role until the parent sends `stop` or ends. */
export function play(start: (args: never) => Role | Promise<Role>): void {
  let role: Role | undefined
  let spent: ReturnType<typeof watchSpending> | undefined
  let passage: Awaited<ReturnType<typeof watchPassage>> | undefined

  async function perform(operation: string, args: unknown): Promise<unknown> {
    if (operation === 'start') {
      role = await start(args as never)
      return role.info
    }
    if (operation === 'watch') return void (spent = watchSpending())
    if (operation === 'spent') return spent?.()
    if (operation === 'watchPassage') return void (passage = await watchPassage())
    if (operation === 'passage') return passage?.()
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

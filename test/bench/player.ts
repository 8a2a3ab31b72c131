import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'
import type { Answer, Question } from './role.ts'

/** The maximum time for a process to end before it is killed. */
const STOP_MS = 10_000

/** One process of a benchmark, with its IPC. */
export class Player<Info = unknown> {
  readonly info: Info
  readonly #child: ChildProcess
  readonly #ask: (operation: string, args?: unknown) => Promise<unknown>

  private constructor(info: Info, child: ChildProcess, ask: (operation: string, args?: unknown) => Promise<unknown>) {
    this.info = info
    this.#child = child
    this.#ask = ask
  }

  /** Runs a module that calls `play` in a separate process. */
  static async start<Info>(role: URL, args: unknown = {}): Promise<Player<Info>> {
    const child = fork(role, {
      execArgv: [...process.execArgv],
      // Standard output is only for the result.
      stdio: ['ignore', 2, 2, 'ipc']
    })
    const ask = questions(basename(role.pathname, '.ts'), child)
    try {
      return new Player((await ask('start', args)) as Info, child, ask)
    } catch (error) {
      child.kill('SIGKILL')
      throw error
    }
  }

  ask<Result>(operation: string, args?: unknown): Promise<Result> {
    return this.#ask(operation, args) as Promise<Result>
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exited = once(this.#child, 'exit')
    const killer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS)
    await this.ask('stop').catch(() => this.#child.kill('SIGKILL'))
    await exited
    clearTimeout(killer)
  }
}

export function questions(role: string, child: ChildProcess): (operation: string, args?: unknown) => Promise<unknown> {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let lastId = 0
  let ended: Error | undefined
  child.on('message', ({ id, result, error }: Answer) => {
    const asked = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) asked?.resolve(result)
    else asked?.reject(new Error(`${role}: ${error}`))
  })
  child.once('exit', (code, signal) => {
    ended = new Error(`${role} ended by itself (${signal ?? code})`)
    for (const asked of waiting.values()) asked.reject(ended)
  })
  return (operation, args) => {
    if (ended !== undefined) return Promise.reject(ended)
    const asked = Promise.withResolvers<unknown>()
    const question: Question = { id: ++lastId, operation, args }
    waiting.set(question.id, asked)
    child.send(question, (error) => error !== null && asked.reject(error))
    return asked.promise
  }
}

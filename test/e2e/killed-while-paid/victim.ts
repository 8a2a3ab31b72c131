import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { questions } from '../../bench/player.ts'

/** A running process. */
export interface Life<Info> {
  readonly info: Info
  ask<Result>(operation: string, args?: unknown): Promise<Result>
}

interface VictimInit {
  readonly name: string
  readonly role: URL
  /** Called at each start. */
  readonly args: () => unknown
}

const STOP_MS = 10_000

/** A process that is restarted after each kill, until `stop`. */
export class Victim<Info> {
  readonly #init: VictimInit
  #child: ChildProcess | undefined
  #life = Promise.withResolvers<Life<Info>>()
  #isStopped = false
  #running: Promise<void> | undefined
  /** The info of the last process that became ready. */
  info: Info | undefined
  kills = 0

  constructor(init: VictimInit) {
    this.#init = init
    this.#life.promise.catch(() => {})
  }

  /** Resolves when the process is ready. */
  get life(): Promise<Life<Info>> {
    return this.#life.promise
  }

  start(): Promise<Life<Info>> {
    this.#running = this.#run().catch((error: unknown) => this.#life.reject(error))
    return this.life
  }

  /** Kills the process, even while it starts. Resolves when it has exited. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined || isOver(child)) return
    this.kills++
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }

  /** Stops the process gracefully; kills it after `STOP_MS`. */
  async stop(): Promise<void> {
    this.#isStopped = true
    const child = this.#child
    if (child !== undefined && !isOver(child)) {
      const killer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      const life = await this.life.catch(() => undefined)
      if (life === undefined) child.kill('SIGKILL')
      else await life.ask('stop').catch(() => child.kill('SIGKILL'))
      await this.#running
      clearTimeout(killer)
    }
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const { name, role, args } = this.#init
      const child = fork(role, { execArgv: [...process.execArgv], stdio: ['ignore', 2, 2, 'ipc'] })
      this.#child = child
      const exited = once(child, 'exit')
      const ask = questions(name, child)
      try {
        const info = (await ask('start', args())) as Info
        this.info = info
        this.#life.resolve({ info, ask: ask as Life<Info>['ask'] })
      } catch (error) {
        if (child.signalCode !== 'SIGKILL') {
          child.kill('SIGKILL')
          throw error
        }
      }
      await exited
      if (child.signalCode !== 'SIGKILL' && !this.#isStopped) throw new Error(`${name} ended by itself`)
      if (!this.#isStopped) this.#renew()
    }
  }

  #renew(): void {
    const next = Promise.withResolvers<Life<Info>>()
    next.promise.catch(() => {})
    // Callers that wait for a process that never became ready wait for the next one.
    this.#life.resolve(next.promise)
    this.#life = next
  }
}

const isOver = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null

import type { Command } from 'commander'
import type { AdminClient } from '../admin/client.ts'
import { locateProfile } from '../config.ts'
import { during, withProgress } from './terminal/progress.ts'
import type { Terminal } from './terminal/terminal.ts'

/** What every command works with. */
export interface Cli {
  readonly terminal: Terminal
  /** `--json`: data as JSON on stdout. */
  readonly json: boolean
  /** Somebody can be asked, and did not say `--no-input`. */
  readonly canAsk: boolean
  /** `--profile` as typed. */
  readonly profile: string | undefined
  /** The node of the profile. @throws `NodeNotRunning` */
  node(): Promise<AdminClient>
  /** Shows that something goes on when it takes over a second; not with `--json`, and only where somebody looks on. */
  during<T>(what: string, work: Promise<T>): Promise<T>
  /** The result of a command: `value` for `--json`, lines for a person. */
  print(value: object, lines: () => readonly string[]): Promise<void>
  /** Ends the command with this exit code instead of 0. */
  exitCode: number
}

/** Adds one command to a program or a group. Defines it only: what it needs is loaded when it runs. */
export type AddCommand = (to: Command, cli: Cli) => void

export function createCli(program: Command, terminal: Terminal): Cli {
  const options = () => program.opts<{ json?: boolean; input?: boolean; profile?: string }>()
  return {
    terminal,
    exitCode: 0,
    get json() {
      return options().json === true
    },
    get canAsk() {
      return terminal.canAsk && options().input !== false
    },
    get profile() {
      return options().profile
    },
    async node() {
      const { connect } = await import('../admin/client.ts')
      const client = await connect(locateProfile(options().profile, terminal.env))
      return options().json === true ? client : withProgress(client, terminal)
    },
    during: (what, work) => (options().json === true ? work : during(terminal, what, work)),
    async print(value, lines) {
      const text = options().json === true ? JSON.stringify(value) : lines().join('\n')
      if (text !== '') await terminal.write(`${text}\n`)
    }
  }
}

import type { Command } from 'commander'
import type { AdminClient } from '../admin/client.ts'
import { forProfile, locateProfile } from '../config.ts'
import { type Confirmation, confirmed } from './terminal/confirm.ts'
import { EXIT } from './terminal/exit-code.ts'
import { during, withProgress } from './terminal/progress.ts'
import { type Column, table } from './terminal/table.ts'
import type { Terminal } from './terminal/terminal.ts'
import { safeJson, safeText } from './terminal/text.ts'

/** Functions and settings for all commands. */
export interface Cli {
  readonly terminal: Terminal
  /** `--json`: data as JSON on stdout. */
  readonly json: boolean
  /** `--wide`: tables with all columns and full ids. */
  readonly isWide: boolean
  /** Width of the terminal; undefined in a pipe. */
  readonly columns: number | undefined
  /** True on a terminal without `--no-input`. */
  readonly canAsk: boolean
  /** `--profile` as typed. */
  readonly profile: string | undefined
  /** The node of the profile. @throws `NodeNotRunning` */
  node(): Promise<AdminClient>
  /** Prints a line to stderr. Its commands name the profile that the user named. */
  readonly note: (text: string) => void
  /** Shows progress after one second, on a terminal and without `--json`. */
  during<T>(what: string, work: Promise<T>): Promise<T>
  /** Asks before a change that cannot be undone. If the user declines, it is false and the command fails. @throws UsageError */
  confirm(confirmation: Confirmation): Promise<boolean>
  /** Prints the result of a command: `value` with `--json`, else lines for a person. */
  print(value: object, lines: () => readonly string[]): Promise<void>
  /**
   * Prints a list: `value` with `--json`, else a table. Without rows, notes say why and what to do next.
   * @param below - lines below the table
   */
  list<Row>(
    value: object,
    rows: readonly Row[],
    columns: ReadonlyArray<Column<Row>>,
    empty: EmptyList,
    below?: readonly string[]
  ): Promise<void>
  /** Ends the command with this exit code instead of 0. */
  exitCode: number
}

/** The text that a command shows instead of an empty table. */
export interface EmptyList {
  readonly what: string
  /** The command to try next. */
  readonly next: string
}

/** Adds one command to a program or a group. Its modules are loaded only when it runs, so that the CLI starts fast. */
export type AddCommand = (to: Command, cli: Cli) => void

export function createCli(program: Command, terminal: Terminal): Cli {
  const options = () => program.opts<{ json?: boolean; wide?: boolean; input?: boolean; profile?: string }>()
  return {
    terminal,
    exitCode: 0,
    get json() {
      return options().json === true
    },
    get isWide() {
      return options().wide === true
    },
    get columns() {
      return terminal.columns
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
    note: (text) => terminal.note(forProfile(text, options().profile)),
    during: (what, work) => (options().json === true ? work : during(terminal, what, work)),
    async confirm(confirmation) {
      const isConfirmed = await confirmed(terminal, this.canAsk, confirmation)
      if (!isConfirmed) this.exitCode = EXIT.failed
      return isConfirmed
    },
    async print(value, lines) {
      const text = options().json === true ? safeJson(value) : safeText(lines().join('\n'))
      if (text !== '') await terminal.write(`${text}\n`)
    },
    async list(value, rows, columns, { what, next }, below = []) {
      await this.print(value, () => [...table(rows, columns, this), ...below])
      if (rows.length === 0) this.note(`${what}\nTry: ${next}`)
    }
  }
}

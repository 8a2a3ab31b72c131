import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { InstalledClone } from '../../helpers/clone.ts'
import { eventually } from '../../helpers/eventually.ts'
import { freePort } from '../../helpers/free-port.ts'
import { patternOf, shows, stepsOf, type Terminal } from './page.ts'
import { Shell } from './shell.ts'

interface Announced {
  readonly path: string
  readonly refusal: string | undefined
}

/** Ports that the pages use for an ingress and for an API. Either may be in use on a test machine. */
const INGRESS = /http:\/\/127\.0\.0\.1:8402/g
const API_PORT = /\b8080\b/g
/** Skipped here, because `.ci/run` itself runs the tests with this command. */
const TYPED_BY_CI = 'npm ci && npm test'
const LISTEN_MS = 10_000
const PRINTED_INGRESS = /The marketplace is up: (http:\/\/127\.0\.0\.1:\d+)/

/**
 * Follows a page in order: saves its files, types its commands into a shell, and compares the output with the page. Values that
 * differ on each machine, such as ids shown with `…`, come from the printed output, as for a human reader.
 */
export class Reader {
  readonly #clone: InstalledClone
  readonly #shells = new Map<Terminal, Shell>()
  readonly #apiPort: string
  /** The number of typed commands. */
  typed = 0

  private constructor(clone: InstalledClone, apiPort: number) {
    this.#clone = clone
    this.#apiPort = String(apiPort)
  }

  static async open(clone: InstalledClone): Promise<Reader> {
    return new Reader(clone, await freePort())
  }

  async follow(path: string): Promise<void> {
    let printed = ''
    for (const step of await stepsOf(this.#clone.folder, path)) {
      if (step.kind === 'expect') {
        assert.ok(shows(printed, step.output), `${path} shows\n${step.output}\nbut this was printed:\n${printed}`)
      } else if (step.kind === 'save') {
        const { output: folder } = await this.#shell(step.terminal).run('pwd')
        await writeFile(join(folder.trim(), step.file), this.#here(step.text))
      } else {
        const shell = this.#shell(step.terminal)
        printed = ''
        for (const [index, command] of step.commands.entries()) {
          const isLast = index === step.commands.length - 1
          if (command === TYPED_BY_CI) continue
          const text = this.#here(withoutInstall(command))
          this.typed++
          if (isLast && step.staysUp) printed += await shell.start(text, step.upWhen)
          else printed += await this.#run(shell, text, { path, refusal: step.refusal })
        }
      }
    }
  }

  async close(): Promise<void> {
    for (const shell of this.#shells.values()) await shell.close()
  }

  async #run(shell: Shell, command: string, { path, refusal }: Announced): Promise<string> {
    const { output, code } = await shell.run(command)
    assert.equal(code, 0, `${path}: ${command}\n${output}`)
    // A human reader types slower than a server starts on a busy machine.
    if (command.endsWith('&')) await eventually(`${command} to listen`, LISTEN_MS, () => this.#isApiUp())
    if (!command.startsWith('curl')) return output
    // curl exits with 0 for any response status.
    const problem = /"type":"https:\/\/souk\.dev\/problems\/.*"status":(\d+)/.exec(output)?.[1]
    assert.equal(problem, refusal, `${path}: ${command}\n${output}`)
    return output
  }

  async #isApiUp(): Promise<true | undefined> {
    const socket = connect(Number(this.#apiPort), '127.0.0.1')
    try {
      await once(socket, 'connect')
      return true
    } catch {
      return undefined
    } finally {
      socket.destroy()
    }
  }

  #shell(terminal: Terminal): Shell {
    const known = this.#shells.get(terminal)
    if (known !== undefined) return known
    const shell = new Shell(this.#clone.folder, this.#clone.env)
    this.#shells.set(terminal, shell)
    return shell
  }

  #here(text: string): string {
    const printed = [...this.#shells.values()].map(({ output }) => output).join('\n')
    const ingress = PRINTED_INGRESS.exec(printed)?.[1]
    const moved = text.replaceAll(API_PORT, this.#apiPort).replaceAll(INGRESS, (url) => ingress ?? url)
    return moved.replaceAll(/\S*…/g, (word) => patternOf(word).exec(printed)?.[0] ?? word)
  }
}

/** All pages share one install, so its commands are skipped on each page. */
function withoutInstall(command: string): string {
  return command.replace(/^npm ci && /, '')
}

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { InstalledClone } from '../../helpers/clone.ts'
import { freePort } from '../../helpers/free-port.ts'
import { patternOf, shows, stepsOf, type Terminal } from './page.ts'
import { Shell } from './shell.ts'

interface Announced {
  readonly path: string
  readonly refusal: string | undefined
}

/** Where the pages have an ingress and an API of the reader's. Either may be taken on a machine where tests run. */
const INGRESS = /http:\/\/127\.0\.0\.1:8402/g
const API_PORT = /\b8080\b/g
/** `.ci/run` itself runs the tests by these words. */
const TYPED_BY_CI = 'npm ci && npm test'
const PRINTED_INGRESS = /The marketplace is up: (http:\/\/127\.0\.0\.1:\d+)/

/**
 * Does what a page says, in order: saves its files, types its commands as a shell runs them, and compares what is printed
 * with what the page shows. It knows what the page says and nothing else, as a newcomer does: what differs on each machine (ports,
 * ids, shown with `…`) it takes from what was printed.
 */
export class Reader {
  readonly #clone: InstalledClone
  readonly #shells = new Map<Terminal, Shell>()
  readonly #apiPort: string
  /** How many commands were typed. */
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
    if (!command.startsWith('curl')) return output
    // curl ends with 0 whatever the response was.
    const problem = /"type":"https:\/\/souk\.dev\/problems\/.*"status":(\d+)/.exec(output)?.[1]
    assert.equal(problem, refusal, `${path}: ${command}\n${output}`)
    return output
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

/** One install serves all pages, so a page that starts with it goes on behind it. */
function withoutInstall(command: string): string {
  return command.replace(/^npm ci && /, '')
}

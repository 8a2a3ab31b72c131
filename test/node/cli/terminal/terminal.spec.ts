import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { profileFile } from '../../../../node/profile/profile.ts'
import { within } from '../../../helpers/eventually.ts'
import { type SoukHome, soukHome } from '../../../helpers/souk-home.ts'
import { MAIN } from '../../../helpers/souk-process.ts'

const END_MS = 20_000

describe('a command whose output is not read', () => {
  let home: SoukHome

  beforeEach(async () => {
    home = await soukHome()
  })
  afterEach(() => home.close())

  const start = (args: readonly string[], stdio: Array<'ignore' | 'pipe' | number>) =>
    spawn(process.execPath, [MAIN, ...args], {
      env: { ...process.env, SOUK_HOME: home.directory, SOUK_WATCHDOG: '0' },
      stdio
    })
  /** A node removes it when it stops in order. */
  const running = () => profileFile({ name: 'default', directory: join(home.directory, 'default') }, 'running')
  const UP = 'up --network dev --payment-scheme metered --no-input --p2p-port 0 --admin-port 0 --no-ingress'.split(' ')

  it('stops in order at Ctrl-C, although the reader of its notes ended first', async () => {
    const node = start(UP, ['ignore', 'ignore', 'pipe'])
    const ended = once(node, 'exit')
    const notes = createInterface({ input: node.stderr! })
    for await (const line of notes) if (line.startsWith('Ready')) break
    node.stderr!.destroy()
    assert.ok(existsSync(running()))
    node.kill('SIGINT')
    assert.deepEqual(await within('the end of the node', END_MS, ended), [0, null])
    assert.equal(existsSync(running()), false)
  })

  it('stops in order if nobody reads what it prints', async () => {
    const node = start([...UP, '--json'], ['ignore', 'pipe', 'ignore'])
    const ended = once(node, 'exit')
    node.stdout!.destroy()
    assert.deepEqual(await within('the end of the node', END_MS, ended), [0, null])
    assert.equal(existsSync(running()), false)
  })

  it('fails with one line if the disk is full', async () => {
    const full = openSync('/dev/full', 'w')
    const run = start(['--version'], ['ignore', full, 'pipe'])
    const [notes, ended] = [text(run.stderr!), once(run, 'exit')]
    assert.deepEqual(await within('the end of souk --version', END_MS, ended), [74, null])
    assert.match(await notes, /^souk: The output cannot be written: ENOSPC[^\n]*\.\n$/)
  })
})

describe('a question of a command', () => {
  let home: SoukHome

  before(async () => {
    home = await soukHome()
  })
  after(() => home.close())

  /** Types `key` at the first question of `souk init`, on a terminal made by script(1). */
  async function typed(key: string): Promise<{ readonly code: unknown; readonly output: string }> {
    const command = `"${process.execPath}" "${MAIN}" init`
    const run = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
      env: { ...process.env, SOUK_HOME: home.directory }
    })
    const ended = once(run, 'exit')
    let output = ''
    run.stdout.on('data', (chunk: Buffer) => {
      const isAsked = output.includes('Name of the profile')
      output += chunk.toString()
      if (!isAsked && output.includes('Name of the profile')) run.stdin.write(key)
    })
    const [code] = await within('the end of souk init', END_MS, ended)
    return { code, output }
  }

  it('ends by SIGINT at Ctrl-C, and says so at the end of the input', async () => {
    const interrupted = await typed('\u0003')
    assert.equal(interrupted.code, 130, interrupted.output)
    assert.doesNotMatch(interrupted.output, /souk:/)
    const ended = await typed('\u0004')
    assert.deepEqual([ended.code, /The input ended without an answer/.test(ended.output)], [64, true])
  })
})

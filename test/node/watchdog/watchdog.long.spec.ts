import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createInterface } from 'node:readline'
import { EXIT } from '../../../node/cli/terminal/exit-code.ts'
import { eventually } from '../../helpers/eventually.ts'

const LIMIT_MS = 1_000
const BOUND_MS = 30_000
const ROLES = join(import.meta.dirname, 'roles')

describe('the watchdog', function () {
  this.timeout(2 * BOUND_MS)
  let directory: string
  const started: ChildProcess[] = []

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'souk-watchdog-'))
  })
  afterEach(async () => {
    // Each process leads its own group, so this also kills its children.
    for (const child of started.splice(0)) {
      const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
      try {
        process.kill(-child.pid!, 'SIGKILL')
      } catch {
        // The group has already ended.
      }
      await ended
    }
    await rm(directory, { recursive: true, force: true })
  })

  const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const child = spawn(process.execPath, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true
    })
    started.push(child)
    const stdout: string[] = []
    const stderr: string[] = []
    createInterface({ input: child.stdout }).on('line', (line) => stdout.push(line))
    createInterface({ input: child.stderr }).on('line', (line) => stderr.push(line))
    const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
    const turns = async (more: number) => {
      const from = stdout.length
      await eventually(`${more} turns of the loop`, BOUND_MS, () => {
        assert.equal(child.exitCode ?? child.signalCode, null, stderr.join('\n'))
        return stdout.length >= from + more ? true : undefined
      })
    }
    return { child, stdout, stderr, ended, turns }
  }
  const watched = async (kind: string, ...more: string[]) => {
    const process = start([join(ROLES, 'watched.ts'), kind, String(LIMIT_MS), ...more])
    await process.turns(1)
    return process
  }

  for (const [kind, where] of [
    ['loop', /loopForEver \(.*roles\/watched\.ts:\d+\)/],
    ['regex', /matchForEver \(.*roles\/watched\.ts:\d+\)/],
    ['microtasks', /again \(.*roles\/watched\.ts:\d+\)/]
  ] as const) {
    it(`ends a process that hangs in: ${kind}, and reports the stack`, async () => {
      const { child, stderr, ended } = await watched(kind)
      child.kill('SIGUSR2')
      assert.deepEqual(await ended, [EXIT.hung, null], stderr.join('\n'))
      assert.match(stderr.join('\n'), /^souk: The event loop has not turned for 1 s\. .*exit code 75/)
      assert.match(stderr.join('\n'), where)
      assert.doesNotMatch(stderr.join('\n'), /hunter2/)
    })
  }

  it('ends a process that hangs in native code, and reports that there is no stack', async () => {
    const { child, stderr, ended } = await watched('database')
    child.kill('SIGUSR2')
    assert.deepEqual(await ended, [EXIT.hung, null], stderr.join('\n'))
    assert.match(stderr.join('\n'), /No stack: the main thread is in native code, which did not return within 5 s/)
  })

  it('ends a process whose thread pool hangs too', async () => {
    const fifo = join(directory, 'fifo')
    execFileSync('mkfifo', [fifo])
    const { child, stderr } = await watched('pool', fifo)
    child.kill('SIGUSR2')
    const [code] = (await once(child, 'exit')) as [number | null]
    // The exit code differs from the watchdog's own, but a supervisor restarts on any failure.
    assert.notEqual(code, 0)
    assert.match(stderr.join('\n'), /has not turned/)
  })

  it('does not end a stopped process, and detects a hang after it continues', async () => {
    const { child, turns, ended, stderr } = await watched('loop')
    for (let stops = 0; stops < 2; stops++) {
      child.kill('SIGSTOP')
      await stopped(child.pid!, 3 * LIMIT_MS)
      child.kill('SIGCONT')
      await turns(5)
    }
    child.kill('SIGUSR2')
    assert.deepEqual(await ended, [EXIT.hung, null], stderr.join('\n'))
  })

  it('does not end a process that a debugger has paused', async () => {
    const { child, stderr, turns, stdout, ended } = start([
      '--inspect=127.0.0.1:0',
      join(ROLES, 'watched.ts'),
      'loop',
      String(LIMIT_MS)
    ])
    await turns(1)
    const url = await eventually('the debugger address', BOUND_MS, () => /ws:\S+/.exec(stderr.join('\n'))?.[0])
    const debug = new WebSocket(url)
    await once(debug, 'open')
    const say = (id: number, method: string) => debug.send(JSON.stringify({ id, method }))
    say(1, 'Debugger.enable')
    for (let pauses = 0; pauses < 2; pauses++) {
      say(2, 'Debugger.pause')
      await paused(debug)
      const before = stdout.length
      await pass(3 * LIMIT_MS)
      assert.ok(stdout.length <= before + 1, 'the loop turned while it was held')
      say(3, 'Debugger.resume')
      await turns(5)
    }
    debug.close()
    child.kill('SIGUSR2')
    assert.deepEqual(await ended, [EXIT.hung, null], stderr.join('\n'))
    assert.match(stderr.join('\n'), /loopForEver/)
  })

  it('does not end a process that is repeatedly blocked for less than the limit', async () => {
    const { child, turns } = await watched('while', String(LIMIT_MS / 2))
    for (let blocks = 0; blocks < 5; blocks++) {
      child.kill('SIGUSR2')
      await turns(1)
    }
  })

  it('allows a starting process more time', async () => {
    const { child, turns } = await watched('while', String(3 * LIMIT_MS), 'unready')
    child.kill('SIGUSR2')
    await turns(5)
  })

  it('watches `souk up`', async () => {
    const preload = ['--conditions=development', '--import', pathToFileURL(join(ROLES, 'hang-on-signal.ts')).href]
    const main = join(import.meta.dirname, '../../../node/main.ts')
    const up =
      'up --network dev --payment-scheme metered --no-input --json --no-ingress --p2p-port 0 --admin-port 0 --watchdog 2'
    const { child, stdout, stderr, ended } = start([...preload, main, ...up.split(' ')], { SOUK_HOME: directory })
    await eventually('a node that is ready', BOUND_MS, () => (stdout.length > 0 ? true : undefined))
    child.kill('SIGUSR2')
    assert.deepEqual(await ended, [EXIT.hung, null], stderr.join('\n'))
    assert.match(stderr.join('\n'), /hangOnPurpose \(.*roles\/hang-on-signal\.ts:3\)/)
  })

  it('exits with a code after which the service unit restarts the node', async () => {
    const unit = await readFile(join(import.meta.dirname, '../../../docs/how-to/souk.service'), 'utf8')
    const left: readonly number[] = /^RestartPreventExitStatus=(.*)$/m.exec(unit)?.[1]?.split(' ').map(Number) ?? []
    assert.ok(!left.includes(EXIT.hung), unit)
    assert.deepEqual(left, [EXIT.usage, EXIT.notPermitted, EXIT.config])
    assert.match(unit, /^Restart=on-failure$/m)
    assert.equal(Object.values(EXIT).filter((code) => code === EXIT.hung).length, 1)
    const compose = await readFile(join(import.meta.dirname, '../../../compose.yaml'), 'utf8')
    assert.match(compose, /^ {4}restart: unless-stopped$/m)
  })
})

/** A fixed wait, because the test needs real time to pass. */
const pass = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function stopped(pid: number, ms: number): Promise<void> {
  await eventually('the process to stop', BOUND_MS, async () => {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T') ? true : undefined
  })
  await pass(ms)
}

function paused(debug: WebSocket): Promise<void> {
  return new Promise((resolve) =>
    debug.addEventListener('message', ({ data }) => {
      if (String(data).includes('"Debugger.paused"')) resolve()
    })
  )
}

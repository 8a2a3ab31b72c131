import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { limits } from '../../lib/index.ts'
import { connectionShares } from '../../node/open-files.ts'
import { eventually, within } from '../helpers/eventually.ts'
import { MAIN } from '../helpers/souk-process.ts'

const FILES = 200
const FLAGS = '--network dev --payment-scheme metered --no-input --json --p2p-port 0 --admin-port 0 --ingress-port 0'

describe('a node that may open few files', () => {
  let home: string
  let node: ChildProcess
  let ingress: URL
  const strangers: Socket[] = []

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'souk-files-'))
    const command = [process.execPath, MAIN, 'up', ...FLAGS.split(' ')]
    node = spawn('sh', ['-c', `ulimit -n ${FILES} && exec "$0" "$@"`, ...command], {
      env: { ...process.env, SOUK_HOME: home, SOUK_WATCHDOG: '0' },
      stdio: ['ignore', 'pipe', 'ignore']
    })
    const [line] = (await within('the start', 20_000, once(createInterface({ input: node.stdout! }), 'line'))) as [
      string
    ]
    ingress = new URL((JSON.parse(line) as { ingress: string }).ingress)
  })
  after(async () => {
    for (const stranger of strangers) stranger.destroy()
    const ended = once(node, 'exit')
    node.kill('SIGKILL')
    await ended
    await rm(home, { recursive: true })
  })

  it('serves consumers while strangers open more connections than that', async () => {
    let open = 0
    for (let n = 0; n < 2 * FILES; n++) {
      const stranger = connect(Number(ingress.port), ingress.hostname, () => open++)
      stranger.on('error', () => {})
      strangers.push(stranger)
    }
    await eventually('all connections', 5_000, () => (open === 2 * FILES ? true : undefined))
    for (let n = 0; n < 3; n++) {
      const { status } = await fetch(new URL('/livez', ingress))
      assert.equal(status, 200)
    }
  })
})

describe('the connections of a node', () => {
  it('have the documented limits, or half and a quarter of the open files', () => {
    const all = { http: limits.HTTP_CONNECTIONS_MAX, peers: limits.CONNECTIONS_MAX }
    assert.deepEqual(connectionShares(Infinity), all)
    assert.deepEqual(connectionShares(2 * limits.HTTP_CONNECTIONS_MAX), all)
    assert.deepEqual(connectionShares(1_024), { http: 512, peers: 256 })
  })
})

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eventually } from '../../helpers/eventually.ts'
import { type NodeProcess, souk, startNode, startUpstream, type Upstream } from './harness.ts'

const MAIN = fileURLToPath(new URL('../../../node/main.ts', import.meta.url))

describe('souk tail and souk webhook', function () {
  this.timeout(60_000)
  let home: string
  let upstream: Upstream
  let node: NodeProcess

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'souk-tail-'))
    upstream = await startUpstream()
    node = await startNode(home, ['--network', 'dev'])
  })
  after(async () => {
    await node?.stop()
    await upstream?.close()
    await rm(home, { recursive: true })
  })

  it('shows events and calls as they happen, and ends with the node', async () => {
    const child = spawn(process.execPath, [MAIN, 'tail', '--json'], { env: { ...process.env, SOUK_HOME: home } })
    let stdout = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk))
    const closed = once(child, 'close')
    const items = () =>
      stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
    try {
      await eventually('that it reads along', 20_000, async () => {
        await souk(['key', 'issue'], { home })
        return items().some(({ type }) => type === 'key.issued') ? true : undefined
      })
      const line = `api register --name echo --protocol REST --endpoint ${upstream.url} --price 0`
      assert.equal((await souk(line.split(' '), { home })).code, 0)
      const { stdout: key } = await souk(['key', 'issue'], { home })
      const headers = { 'content-type': 'application/json', 'x-consumer-key': key.trim() }
      await fetch(`${node.ready.ingress}/api/demo/api/echo`, { method: 'POST', headers, body: '{}' })
      const calls = () => items().filter(({ type }) => type === 'call')
      await eventually('the call, from both sides', 10_000, () => (calls().length === 2 ? true : undefined))
      assert.deepEqual(new Set(calls().map(({ role }) => role)), new Set(['owner', 'payer']))
      for (const { status, charged, api } of calls()) {
        assert.deepEqual([status, charged, api], [200, '0', `echo@${node.ready.peer}`])
      }
      assert.ok(items().some(({ type }) => type === 'listing.published'))
    } finally {
      child.kill('SIGINT')
      const [code] = (await closed) as [number]
      assert.equal(code, 0)
    }
  })

  it('adds a webhook, lists it without its secret, and takes it away', async () => {
    const refused = await souk(['webhook', 'add', 'http://127.0.0.1:1/'], { home })
    assert.notEqual(refused.code, 0)
    const added = await souk(['webhook', 'add', 'http://127.0.0.1:1/', '--allow-private', '--events', 'key.*'], {
      home
    })
    assert.match(added.stdout, /^whsec_\S+\n$/)
    const id = /wh_[0-9a-f]+/.exec(added.stderr)?.[0] ?? ''
    const test = await souk(['webhook', 'test', id], { home })
    assert.deepEqual([test.code, test.stdout], [1, ''])
    const list = await souk(['webhook', 'list', '--json'], { home })
    assert.ok(list.stdout.includes(id) && !list.stdout.includes('whsec_'))
    assert.equal((await souk(['webhook', 'rm', id], { home })).code, 0)
  })
})

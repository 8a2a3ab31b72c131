import assert from 'node:assert/strict'
import { startUpstream, type Upstream } from '../../../helpers/echo-api.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { type HomeNode, type SoukHome, soukHome } from '../../../helpers/souk-home.ts'

describe('souk tail and souk webhook', () => {
  let home: SoukHome
  let upstream: Upstream
  let node: HomeNode

  before(async () => {
    home = await soukHome()
    upstream = await startUpstream()
    node = await home.up('default')
  })
  after(async () => {
    await home?.close()
    await upstream?.close()
  })

  it('shows events and calls as they happen, until it is stopped', async () => {
    const tail = home.start('tail --json')
    const items = () => tail.stdout.map((line) => JSON.parse(line) as Record<string, unknown>)
    try {
      await eventually('that it reads along', 20_000, async () => {
        await home.run('key issue')
        return items().some(({ type }) => type === 'key.issued') ? true : undefined
      })
      const line = `api register --name echo --protocol REST --endpoint ${upstream.url} --price 0`
      assert.equal((await home.run(line)).code, 0)
      const { stdout: key } = await home.run('key issue')
      const headers = { 'content-type': 'application/json', 'x-consumer-key': key.trim() }
      await fetch(`${node.ingress}/api/demo/api/echo`, { method: 'POST', headers, body: '{}' })
      const calls = () => items().filter(({ type }) => type === 'call')
      await eventually('the call, from both sides', 10_000, () => (calls().length === 2 ? true : undefined))
      assert.deepEqual(new Set(calls().map(({ role }) => role)), new Set(['owner', 'payer']))
      for (const { status, charged, api } of calls()) {
        assert.deepEqual([status, charged, api], [200, '0', `echo@${node.peer}`])
      }
      assert.ok(items().some(({ type }) => type === 'listing.published'))
    } finally {
      assert.equal((await tail.end()).code, 0)
    }
  })

  it('shows times of UTC, and says so', async () => {
    const tail = home.start('tail')
    try {
      const line = await eventually('an event', 20_000, async () => {
        await home.run('key issue')
        return tail.stdout.find((each) => each.includes('key.issued'))
      })
      assert.match(line, /^\d\d:\d\d:\d\d\.\d{3}Z {2}key\.issued /)
    } finally {
      await tail.end()
    }
    const id = /\bkey_\w+/.exec((await home.run('key list')).stdout)?.[0] ?? ''
    assert.match((await home.run(`key show ${id}`)).stdout, /^expires \(UTC\) +-\nlast used \(UTC\) +-$/m)
  })

  it('adds a webhook, lists it without its secret, and removes it', async () => {
    const refused = await home.run('webhook add http://127.0.0.1:1/')
    assert.notEqual(refused.code, 0)
    const added = await home.run('webhook add http://127.0.0.1:1/ --allow-private --events key.*')
    assert.match(added.stdout, /^whsec_\S+\n$/)
    const id = /wh_[0-9a-f]+/.exec(added.stderr)?.[0] ?? ''
    const test = await home.run(`webhook test ${id}`)
    assert.deepEqual([test.code, test.stdout], [1, ''])
    const list = await home.run('webhook list --json')
    assert.ok(list.stdout.includes(id) && !list.stdout.includes('whsec_'))
    assert.equal((await home.run(`webhook rm ${id} --yes`)).code, 0)
  })
})

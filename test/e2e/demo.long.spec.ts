import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { type SoukHome, soukHome } from '../helpers/souk-home.ts'

const UP_MS = 120_000

interface DemoCall {
  readonly api: string
  readonly protocol: string
  readonly status: number
  readonly ms: number
  readonly charged: string
}

describe('the demo, once', function () {
  this.timeout(300_000)
  let home: SoukHome

  before(async () => {
    home = await soukHome()
  })
  after(() => home.close())

  it('calls all three APIs, tells it in the last line, and leaves nothing behind', async () => {
    const { code, stdout, stderr } = await home.asProcess.run('demo --once --json', [], { boundMs: UP_MS })
    assert.equal(code, 0, stderr)
    const { calls, settlement } = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as {
      calls: DemoCall[]
      settlement: { total: string; provider: string; platform: string; tx: string[] }
    }
    assert.deepEqual(
      calls.map(({ protocol, status }) => [protocol, status]),
      [
        ['REST', 200],
        ['SOAP', 200],
        ['GraphQL', 200]
      ]
    )
    for (const { api, ms, charged } of calls) {
      assert.match(api, /^bb-/)
      assert.ok(ms > 0, `${api} took ${ms} ms`)
      assert.match(charged, /^0\.\d{1,6}$/)
    }
    const { tx, ...balances } = settlement
    assert.deepEqual(balances, { total: '0.0035', provider: '0.003325', platform: '0.000175' })
    assert.ok(tx.length >= 3 && tx.every((hash) => /^0x[0-9a-f]{64}$/.test(hash)), String(tx))
    assert.deepEqual(await readdir(home.directory), [])
    if (process.platform === 'linux') assert.deepEqual(await home.asProcess.pids(), [])
  })
})

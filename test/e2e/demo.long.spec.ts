import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { eventually } from '../helpers/eventually.ts'
import { type Answered, post } from '../helpers/ingress-client.ts'
import { type SoukHome, soukHome } from '../helpers/souk-home.ts'
import type { SoukProcess } from '../helpers/souk-process.ts'

const UP_MS = 120_000
const END_MS = 30_000

interface DemoCall {
  readonly api: string
  readonly protocol: string
  readonly status: number
  readonly ms: number
  readonly charged: string
}

describe('the demo', function () {
  this.timeout(300_000)
  let home: SoukHome

  beforeEach(async () => {
    home = await soukHome()
  })
  afterEach(() => home.close())

  it('with --once calls all three APIs, reports in the last line, and leaves nothing behind', async () => {
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
    assert.deepEqual(balances, { total: '0.023', provider: '0.02185', platform: '0.00115' })
    assert.ok(tx.length >= 3 && tx.every((hash) => /^0x[0-9a-f]{64}$/.test(hash)), String(tx))
    assert.deepEqual(await readdir(home.directory), [])
    if (process.platform === 'linux') assert.deepEqual(await home.asProcess.pids(), [])
  })

  it('serves the printed curl calls, and stops all its processes at Ctrl-C', async () => {
    const demo = home.asProcess.start('demo')
    await eventually('the invitation', UP_MS, () => {
      assert.ok(demo.isRunning(), [...demo.stdout, ...demo.stderr].join('\n'))
      return demo.stdout.some((line) => line.includes('Ctrl-C')) ? true : undefined
    })
    const invited = invitations(demo)
    assert.equal(invited.length, 3, demo.stdout.join('\n'))
    for (const call of invited) {
      const answered = await call()
      assert.equal(answered.status, 200, answered.text)
    }
    const { code, signal, ms } = await demo.end('SIGINT', 'group')
    assert.deepEqual([code, signal], [0, null], demo.stderr.join('\n'))
    assert.ok(ms < END_MS, `took ${ms} ms`)
    if (process.platform === 'linux') assert.deepEqual(await home.asProcess.pids(), [])
  })
})

/** The calls of the printed curl lines. */
function invitations({ stdout }: SoukProcess): Array<() => Promise<Answered>> {
  const lines = stdout.join('\n')
  const curls = lines.matchAll(/curl -s (http:\S+)\/api\/demo\/api\/(\S+) .*?X-Consumer-Key: (\w+)'.*?-d '([^']+)'/gs)
  return [...curls].map(
    ([, ingress = '', api = '', key = '', body = '']) =>
      () =>
        post(ingress, api, { key, body })
  )
}

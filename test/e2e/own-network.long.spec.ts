import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ApiView } from '../../node/admin/api.ts'
import { type Anvil, startAnvil } from '../../node/demo/chain/anvil.ts'
import { startUpstream, type Upstream } from '../helpers/echo-api.ts'
import { eventually } from '../helpers/eventually.ts'
import { type Ready, type RunningCommand, type SoukHome, soukHome, tellWhenFailed } from '../helpers/souk-home.ts'

const TREASURY = `0x${'7e'.repeat(20)}`
const READY_MS = 30_000
const CALLS = 3

/**
 * A founder, a seller and a buyer, each in a home of their own, on a bare chain: nobody installed a contract or configured a node by hand.
 */
describe('a network of one’s own', () => {
  let chain: Anvil
  let founder: SoukHome
  let seller: SoukHome
  let buyer: SoukHome
  let api: Upstream
  let first: Ready
  let sold: Ready
  let bought: Ready
  let invitation: string
  const running: RunningCommand[] = []

  const succeed = async <View>(home: SoukHome, command: string, args: readonly string[] = []): Promise<View> => {
    const { code, stdout, stderr } = await home.run(`--json ${command}`, args, { boundMs: 60_000 })
    assert.equal(code, 0, `souk ${command} exited with ${code}:\n${stderr}`)
    return JSON.parse(stdout) as View
  }
  const up = async (home: SoukHome): Promise<Ready> => {
    const command = home.start('up --json --no-input --p2p-port 0 --admin-port 0 --ingress-port 0')
    running.push(command)
    const line = await eventually('souk up', READY_MS, () => {
      assert.ok(command.isRunning(), command.stderr.join('\n'))
      return command.stdout[0]
    })
    return JSON.parse(line) as Ready
  }

  before(async () => {
    chain = await startAnvil({ port: 0, host: '127.0.0.1', chainId: 41_337, mining: 'instant' })
    api = await startUpstream()
    founder = await soukHome()
    seller = await soukHome()
    buyer = await soukHome()
  })
  tellWhenFailed(() => seller)
  tellWhenFailed(() => buyer)
  after(async () => {
    for (const command of running.reverse()) await command.end()
    await Promise.all([founder?.close(), seller?.close(), buyer?.close()])
    await api?.close()
    await chain?.close()
  })

  it('is founded by one command, which deploys the contracts and signs the file', async () => {
    const out = join(founder.directory, 'network.json')
    const flags = ['--chain', chain.url, '--treasury', TREASURY, '--out', out, '--yes']
    const created = await succeed<Record<string, string>>(
      founder,
      'network create --name bazaar --eth-price 3000',
      flags
    )
    assert.match(created['network'] ?? '', /^bazaar-[\da-f]{12}$/)
    assert.match(created['transaction'] ?? '', /^0x[\da-f]{64}$/)
    const file = JSON.parse(await readFile(out, 'utf8')) as { founder: string; chain: { id: number } }
    assert.deepEqual([file.founder, file.chain.id], [created['founder'], 41_337])
    assert.equal((await founder.run('network check', [out])).code, 0)
    const again = await founder.run('network create --name bazaar', flags)
    assert.match(again.stderr, /exists already[^]*network sign/)
  })

  it('is joined by an invitation, which names the running first node', async () => {
    first = await up(founder)
    const invited = await founder.run('invite')
    assert.match(invited.stdout, /^souk join 12D3KooW\S+\n$/)
    invitation = invited.stdout.trim().replace('souk join ', '')
    const joined = await succeed<{ network: string }>(seller, 'join --no-input --role both', [invitation])
    assert.match(joined.network, /^bazaar-/)
    sold = await up(seller)
  })

  it('is joined by a new revision of its file, which an older member takes as well', async () => {
    const out = join(buyer.directory, 'network.json')
    await succeed(founder, `network sign --out ${out} --bootstrap`, [first.p2p[0] ?? ''])
    await succeed(buyer, 'init --no-input --role both --network', [out])
    bought = await up(buyer)
    assert.equal(bought.network, sold.network)
    const taken = await succeed<{ revision: number }>(seller, 'join', [out])
    assert.equal(taken.revision, 2)
    const older = await seller.run('join', [invitation])
    assert.match(older.stderr, /has revision 1, older than the 2/)
  })

  it('sells and buys for the money of its chain, with equal books', async () => {
    await succeed<ApiView>(seller, `api register --name echo --protocol REST --endpoint ${api.url} --price 0.01`)
    const { key } = await succeed<{ key: string }>(buyer, 'key issue --label test')
    await eventually('the listing', READY_MS, async () => {
      const { ok } = await fetch(`${bought.ingress}/v1/apis/echo`)
      return ok ? true : undefined
    })
    for (let calls = 0; calls < CALLS; calls++) {
      const response = await fetch(`${bought.ingress}/api/demo/api/echo`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-consumer-key': key },
        body: '{"n":1}'
      })
      assert.equal(response.status, 200, await response.text())
      assert.equal(response.headers.get('souk-charged'), '0.01')
    }
    const { transactions } = await succeed<{ transactions: string[] }>(seller, 'settle --now')
    assert.ok(transactions.length > 0)
    const spentIn = async (home: SoukHome, role: string) => {
      const { channels } = await succeed<{ channels: Array<{ role: string; spent: string }> }>(home, 'channel list')
      return channels.filter((channel) => channel.role === role).map(({ spent }) => spent)
    }
    assert.deepEqual(await spentIn(buyer, 'payer'), ['0.03'])
    assert.deepEqual(await spentIn(seller, 'owner'), ['0.03'])
    const earned = await succeed<Record<string, unknown>>(seller, 'earnings')
    assert.match(JSON.stringify(earned), /"0\.03"/)
    assert.match(JSON.stringify(earned), /"0\.0285"/)
  })
})

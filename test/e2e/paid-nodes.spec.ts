import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import { checksummed } from '../../lib/index.ts'
import type { ApiView, CallHead, DoctorView, StatusView } from '../../node/admin/api.ts'
import type { ChannelView, ReceiptsView, SettlementView } from '../../node/admin/money/money-api.ts'
import { actor, type ChainBench, chainBench } from '../helpers/chain.ts'
import { judgeApi, type JudgeApi } from '../helpers/judge-api.ts'
import { eventually } from '../helpers/eventually.ts'
import { type HomeNode, type SoukHome, soukHome, tellWhenFailed } from '../helpers/souk-home.ts'
import { tokenIssuer } from '../helpers/token-issuer.ts'
import { type Wallets, walletsIn } from '../helpers/wallets.ts'
import { yogaServer } from '../helpers/yoga.ts'

const USDC = 1_000_000n

/** Two node processes with wallets, on a dev chain with the real token contract. */
describe('nodes with wallets', () => {
  let chain: ChainBench
  let home: SoukHome
  let wallets: Wallets
  let api: JudgeApi
  let owner: HomeNode
  let consumer: HomeNode
  const payout = checksummed(actor('provider of paid nodes').address.toLowerCase() as `0x${string}`)

  const balance = (account: string) =>
    chain.client.readContract({
      address: chain.parameters.usdc.address,
      abi: [
        {
          type: 'function',
          name: 'balanceOf',
          stateMutability: 'view',
          inputs: [{ name: 'account', type: 'address' }],
          outputs: [{ type: 'uint256' }]
        }
      ],
      functionName: 'balanceOf',
      args: [account as `0x${string}`]
    })
  const money = () => ['--payment-scheme', 'channel', '--chain-rpc', chain.parameters.rpcUrl]
  const register = (name: string, price: string) =>
    `api register --name ${name} --protocol REST --endpoint ${api.url} --price ${price}`

  before(async () => {
    chain = await chainBench()
    home = await soukHome()
    api = await judgeApi('paid')
    wallets = await walletsIn(home, chain)
  })
  tellWhenFailed(() => home)
  after(async () => {
    await home?.close()
    await api?.close()
    await chain?.close()
  })

  it('a node without a wallet serves free APIs, and says what a priced API requires', async () => {
    owner = await home.up('owner', '--no-ingress', ...money())
    assert.ok(owner.stderr.some((line) => line.includes('souk --profile owner wallet create')))
    await owner.cli(register('gift', '0'))
    const refused = await home.run(`--profile owner ${register('sold', '0.001')}`)
    assert.notEqual(refused.code, 0)
    assert.match(refused.stderr, /souk --profile owner wallet create/)
    assert.equal((await owner.cli<StatusView>('status')).till, 'free')
    await owner.end()
  })

  it('a node with a wallet does not start with a wrong or missing passphrase, and shows none', async () => {
    await chain.fundGas(await wallets.create('owner'))
    const command = `up --network dev --no-input --profile owner ${money().join(' ')}`
    const missing = await home.run(command)
    assert.match(missing.stderr, /there is no terminal to ask for it[^]*--passphrase-file/)
    await writeFile(join(home.directory, 'wrong'), 'not the one', { mode: 0o600 })
    const wrong = await home.run(`${command} --passphrase-file ${join(home.directory, 'wrong')}`)
    assert.notEqual(wrong.code, 0)
    assert.match(wrong.stderr, /passphrase/i)
    assert.ok(!wrong.stderr.includes('not the one'))
  })

  it('a priced API requires a payout address, set once for all APIs', async () => {
    owner = await home.up('owner', ...wallets.flags, '--settle-on-stop')
    const refused = await home.run(`--profile owner ${register('sold', '0.001')}`)
    assert.match(refused.stderr, /souk payout set <address>/)
    const mistyped = payout.replace(/[a-f]/, (letter) => letter.toUpperCase())
    assert.notEqual((await home.run(`--profile owner payout set ${mistyped}`)).code, 0)
    assert.deepEqual(await owner.cli(`payout set ${payout}`), { payout })
    await owner.cli(register('sold', '0.001'))
    assert.equal((await owner.cli<StatusView>('status')).payout, payout)
  })

  it('calls are charged, the owner redeems at its stop, and the provider has 95% on the chain', async () => {
    await chain.mint(await wallets.create('consumer'), 2n * USDC)
    consumer = await home.up('consumer', ...wallets.flags, '--bootstrap', ...owner.p2p)
    const treasury = chain.parameters.treasury ?? ''
    const before = await balance(treasury)
    const heads = []
    for (const id of ['a', 'b', 'c']) heads.push(await consumer.cli<CallHead>('call sold', JSON.stringify({ id })))
    assert.deepEqual(
      heads.map(({ charged }) => charged),
      ['0.001', '0.001', '0.001']
    )
    const { charged } = await owner.cli<ApiView>('api show sold')
    assert.equal(charged, '0.003')
    const doctor = await owner.cli<DoctorView>('doctor')
    const found = new Map(doctor.checks.map(({ name, result }) => [name, result]))
    assert.deepEqual(
      ['chain', 'gas', 'payout'].map((name) => found.get(name)),
      ['ok', 'ok', 'ok']
    )
    await owner.end()
    assert.equal(await balance(payout), 2_850n)
    assert.equal((await balance(treasury)) - before, 150n)
  })

  it('a restart keeps the payout address and the channel', async () => {
    await consumer.end()
    owner = await home.up('owner', ...wallets.flags, '--settle-on-stop')
    consumer = await home.up('consumer', ...wallets.flags, '--bootstrap', ...owner.p2p)
    assert.equal((await owner.cli<StatusView>('status')).payout, payout)
    const { charged } = await consumer.cli<CallHead>('call sold', '{"id":"d"}')
    assert.equal(charged, '0.001')
    const settled = await owner.cli<SettlementView>('settle --now')
    assert.deepEqual([settled.claimed, settled.settled, settled.distributed], ['0.001', '0.001', '0.001'])
    assert.ok(settled.transactions.length >= 3)
    assert.equal(await balance(payout), 3_800n)
    assert.deepEqual((await owner.cli<SettlementView>('settle --now')).transactions, [])
  })

  it('says that the token refuses to pay out, and exits 1', async () => {
    await consumer.cli('call sold', '{"id":"p"}')
    await tokenIssuer(chain).pause()
    const { code, stdout, stderr } = await home.run('--profile owner settle --now')
    assert.equal(code, 1)
    assert.match(stdout, /claimed +0\.001 USDC/)
    assert.match(stderr, /warning: USDC refuses to send 0\.001 to 0x\w{40}: Pausable: paused\. The node tries again\./)
    const { checks } = await owner.cli<DoctorView>('doctor')
    const check = checks.find(({ name }) => name === 'payout')
    assert.deepEqual([check?.result, check?.message], ['warn', `USDC refuses to pay ${payout}: Pausable: paused.`])
    await tokenIssuer(chain).unpause()
    const { settled, distributed, withheld } = await owner.cli<SettlementView>('settle --now')
    assert.deepEqual([settled, distributed, withheld], ['0.001', '0.001', []])
  })

  it('charges each GraphQL operation alone: in a batch, over a WebSocket and in parts', async () => {
    const yoga = await yogaServer({
      typeDefs: 'type Query { hello: String broken: String } type Subscription { count(to: Int!): Int }',
      resolvers: {
        Query: {
          hello: () => 'world',
          broken: () => {
            throw new Error('no')
          }
        },
        Subscription: {
          count: {
            async *subscribe(_: unknown, args: Readonly<Record<string, never>>) {
              for (let i = 0; i < Number(args['to']); i++) yield { count: i }
            }
          }
        }
      }
    })
    try {
      await owner.cli(`api register --name graph --protocol GraphQL --endpoint ${yoga.url} --price 0.002`)
      const { key } = await consumer.cli<{ key: string }>('key issue --label graph')
      const url = `${consumer.ingress}/api/demo/api/graph`
      const post = (body: unknown, accept = 'application/json') =>
        fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-consumer-key': key, accept },
          body: JSON.stringify(body)
        })
      // Partial data is charged; a response without data is not.
      const queries = ['{ hello }', '{ hello broken }', '{ nothing }', 'no query', '{ hello }']
      const batch = await post(queries.map((query) => ({ query })))
      assert.equal(batch.headers.get('souk-charged'), '0.006')
      assert.equal(((await batch.json()) as unknown[]).length, queries.length)

      const parts = await post(
        { query: 'subscription { count(to: 3) }' },
        'multipart/mixed;subscriptionSpec=1.0,application/json'
      )
      assert.equal(parts.headers.get('souk-charged'), '0.002')
      assert.equal((await parts.text()).match(/"count"/g)?.length, 3)
      const wrong = await post({ query: 'subscription { nothing }' }, 'multipart/mixed;subscriptionSpec=1.0')
      assert.equal(wrong.headers.get('souk-charged') ?? '0', '0')
      await wrong.text()

      const client = createClient({
        url: url.replace('http', 'ws'),
        webSocketImpl: WebSocket,
        retryAttempts: 0,
        connectionParams: { 'X-Consumer-Key': key }
      })
      const resultsOf = async (query: string) => {
        const results: unknown[] = []
        for await (const result of client.iterate({ query })) results.push(result)
        return results.length
      }
      const counts = await Promise.all([resultsOf('{ hello }'), resultsOf('subscription { count(to: 4) }')])
      assert.deepEqual(counts, [1, 4])
      await assert.rejects(resultsOf('{ nothing }'))
      await client.dispose()

      // Three of the batch, one in parts, two over the WebSocket.
      await booksAgree(
        'graph',
        Array.from({ length: 6 }, () => '0.002')
      )
    } finally {
      await yoga.close()
    }
  })

  /** Both sides have a receipt for each charge, and the same sums of the channel. */
  async function booksAgree(name: string, charges: readonly string[]): Promise<void> {
    await eventually('both sides have the receipts', 10_000, async () => {
      for (const node of [owner, consumer]) {
        const { receipts } = await node.cli<ReceiptsView>('receipts')
        const own = receipts.filter(({ api }) => api.startsWith(`${name}@`)).map(({ charged }) => charged)
        if (own.join() !== charges.join()) return undefined
      }
      const [mine] = (await consumer.cli<{ channels: ChannelView[] }>('channel list')).channels
      const [theirs] = (await owner.cli<{ channels: ChannelView[] }>('channel list')).channels
      assert.deepEqual([theirs?.spent, theirs?.reserved], [mine?.spent, mine?.reserved])
      assert.equal(mine?.disputed, false)
      return true
    })
  }
})

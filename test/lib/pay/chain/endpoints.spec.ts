import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { CHAIN_SINGLE_REQUESTS } from '../../../../lib/base/limits/chain.ts'
import { createChain } from '../../../../lib/pay/chain/chain.ts'
import { type ChainBench, chainBench } from '../../../helpers/chain.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../../helpers/scripted-upstream.ts'

interface Request {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** Responds itself, or returns false so that the chain responds. */
type Manner = (asked: Request | readonly Request[], response: ServerResponse) => boolean

const BOUND_MS = 5_000

/** Endpoints as providers run them, in front of a real chain. */
describe('a chain endpoint of a provider', () => {
  let bench: ChainBench
  let endpoint: ScriptedUpstream
  let manner: Manner

  before(async () => {
    bench = await chainBench()
    endpoint = await scriptedUpstream((response, { body }) => {
      if (manner(JSON.parse(body.toString()), response)) return
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: new Uint8Array(body) }
      void fetch(bench.parameters.rpcUrl, init).then(async (answer) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(await answer.text())
      })
    })
  })
  after(async () => {
    await endpoint.close()
    await bench.close()
  })
  const chainWith = (how: Manner) => {
    manner = how
    return createChain({ ...bench.parameters, rpcUrl: endpoint.url })
  }

  const says = (response: ServerResponse, status: number, body: unknown): true => {
    const isPage = typeof body === 'string'
    response.writeHead(status, { 'content-type': isPage ? 'text/html' : 'application/json' })
    response.end(isPage ? body : JSON.stringify(body))
    return true
  }
  const failure = (code: number, message: string, id: number | null = null) => ({
    jsonrpc: '2.0',
    id,
    error: { code, message }
  })

  const batches: ReadonlyArray<readonly [what: string, most: number, status: number, body: unknown]> = [
    ['refuses batches with an error', 1, 200, failure(-32600, 'batch requests are not supported')],
    ['refuses batches with HTTP 400', 1, 400, failure(-32600, 'Batch requests are disabled')],
    ['limits batches on a free plan', 3, 500, { message: 'Batch of more than 3 requests are not allowed', code: 31 }],
    ['limits batches with a list of one error', 3, 200, [failure(-32600, 'batch too large')]],
    ['has no room for a batch', 3, 413, '<html>Request Entity Too Large</html>'],
    ['answers a batch with one result', 1, 200, { jsonrpc: '2.0', id: 1, result: '0x1' }]
  ]
  for (const [what, most, status, body] of batches) {
    it(`is usable if it ${what}`, async () => {
      let refused = 0
      const chain = chainWith((asked, response) => {
        if (!Array.isArray(asked) || asked.length <= most) return false
        refused++
        return says(response, status, body)
      })
      const account = bench.parameters.settlement.address
      const readAll = () => Promise.all([chain.verify(), chain.fees(), ...[1, 2, 3].map(() => chain.gas(account))])
      assert.equal((await readAll())[2], 0n)
      assert.ok(refused > 0)
      // A refused batch that is repeated in smaller parts, as on a busy machine, is no reason to send single requests.
      await eventually('only single requests are sent', BOUND_MS, async () => {
        const before = refused
        await readAll()
        return refused === before || undefined
      })
    })
  }

  it('gets batches again later, because a refusal may have been an outage', async () => {
    let batches = 0
    let isBroken = true
    const chain = chainWith((asked, response) => {
      if (!Array.isArray(asked)) return false
      batches++
      return isBroken && says(response, 500, 'Internal Server Error')
    })
    await chain.gas(bench.parameters.settlement.address)
    isBroken = false
    const refused = batches
    for (let each = 0; each < CHAIN_SINGLE_REQUESTS; each++) await chain.gas(bench.parameters.settlement.address)
    assert.equal(batches, refused)
    await chain.gas(bench.parameters.settlement.address)
    assert.equal(batches, refused + 1)
  })

  const faults: ReadonlyArray<readonly [what: string, words: RegExp, status: number, body: unknown]> = [
    ['limits requests by HTTP 429', /allows no more requests/, 429, 'Too Many Requests'],
    ['limits requests by an error', /allows no more requests/, 200, failure(-32016, 'over rate limit')],
    ['limits requests by a plan', /allows no more requests/, 200, failure(-32000, 'daily request limit reached')],
    ['rejects the key', /rejects the access key/, 401, failure(-32600, 'Must be authenticated!')],
    ['is a web page', /no chain endpoint at this URL/, 404, '<html>Not found</html>'],
    ['lacks methods', /lacks a method/, 200, failure(-32601, 'the method eth_chainId does not exist/is not available')],
    ['is broken', /does not respond/, 503, 'upstream connect error']
  ]
  for (const [what, words, status, body] of faults) {
    it(`is described if it ${what}`, async () => {
      const chain = chainWith((_asked, response) => says(response, status, body))
      await assert.rejects(chain.verify(), { code: 'settlement_unavailable', message: words })
    })
  }

  it('is described if it has only the newest states', async () => {
    const chain = chainWith((asked, response) => {
      const [one] = [asked].flat() as readonly Request[]
      if (one?.params.at(-1) !== 'finalized' || one.method === 'eth_getBlockByNumber') return false
      return says(response, 200, [failure(-32000, 'missing trie node 5f3a (path ) state is not available', one.id)])
    })
    await assert.rejects(chain.verify(), {
      code: 'settlement_unavailable',
      message: /lost the state of final blocks/
    })
  })
})

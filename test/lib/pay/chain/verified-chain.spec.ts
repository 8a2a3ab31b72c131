import assert from 'node:assert/strict'
import { SoukError } from '../../../../lib/base/errors.ts'
import { verifiedChain } from '../../../../lib/pay/chain/verified-chain.ts'
import { type ChainBench, chainBench } from '../../../helpers/chain.ts'
import { createChain } from '../../../../lib/pay/chain/chain.ts'

describe('a verified chain', () => {
  let bench: ChainBench

  before(async () => {
    bench = await chainBench()
  })
  after(() => bench?.close())

  it('responds once the chain is verified', async () => {
    const chain = verifiedChain(createChain(bench.parameters))
    assert.ok(await chain.block('latest'))
    assert.deepEqual(chain.parameters, bench.parameters)
  })

  it('rejects a chain with a wrong contract, and names it', async () => {
    const settlement = { ...bench.parameters.settlement, codeHash: `0x${'11'.repeat(32)}` as const }
    const chain = verifiedChain(createChain({ ...bench.parameters, settlement }))
    const refused = { code: 'settlement_unavailable', message: /channel contract .* is not the one that was checked/ }
    await assert.rejects(chain.balance(settlement.address, 'latest'), refused)
    await assert.rejects(chain.broadcast('0x00'), refused)
  })

  it('retries an endpoint that was unavailable', async () => {
    let isAway = true
    let times = 0
    const inner = createChain(bench.parameters)
    const chain = verifiedChain({
      ...inner,
      verify: async () => {
        times++
        if (isAway) throw new SoukError('settlement_unavailable')
        await inner.verify()
      }
    })
    await assert.rejects(chain.block('latest'), { code: 'settlement_unavailable' })
    isAway = false
    await Promise.all([chain.block('latest'), chain.fees()])
    await chain.block('latest')
    assert.equal(times, 2)
  })
})

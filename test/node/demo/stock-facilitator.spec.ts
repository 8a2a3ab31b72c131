import assert from 'node:assert/strict'
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { createBatchSettlementEIP3009DepositPayload, signVoucher } from '@x402/evm/batch-settlement/client'
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/facilitator'
import type { Address } from '../../../lib/interface/signer.ts'
import { checksummed } from '../../../lib/pay/signing/address.ts'
import { createChain } from '../../../lib/pay/chain/chain.ts'
import { settlementDomain } from '../../../lib/pay/signing/settlement-domain.ts'
import { splitterFactory } from '../../../lib/pay/chain/splitter.ts'
import { actor, type ChainBench, chainBench } from '../../helpers/chain.ts'
import { facilitatorSigner } from '../../helpers/facilitator-signer.ts'

/** Runs x402's own facilitator, unmodified, to check that the dev contracts behave like the real ones. */
describe('a stock x402 facilitator on the dev chain', () => {
  let bench: ChainBench
  before(async () => {
    bench = await chainBench()
  })
  after(() => bench.close())

  it('verifies and submits a deposit, claims, and settles', async () => {
    const { parameters } = bench
    const [payer, owner] = [actor('stock payer'), actor('stock owner')]
    await bench.fundGas(owner.address)
    await bench.mint(payer.address, 10_000n)
    const receiver = checksummed(splitterFactory(parameters.treasury ?? assert.fail()).splitterOf(owner.address))
    const network = `eip155:${parameters.chainId}` as const
    const config = {
      payer: payer.address,
      payerAuthorizer: payer.address,
      receiver,
      receiverAuthorizer: owner.address,
      token: checksummed(parameters.usdc.address),
      withdrawDelay: 86_400,
      salt: `0x${'07'.repeat(32)}`
    } as const
    const { name, version } = parameters.usdc
    const requirements: PaymentRequirements = {
      scheme: 'batch-settlement',
      network,
      asset: config.token,
      amount: '1000',
      payTo: receiver,
      maxTimeoutSeconds: 60,
      extra: { name, version, receiverAuthorizer: owner.address, withdrawDelay: config.withdrawDelay }
    }
    const signer = facilitatorSigner(bench, owner)
    const facilitator = new BatchSettlementEvmScheme(signer, owner)
    const pay = (payload: Record<string, unknown>): PaymentPayload => ({
      x402Version: 2,
      accepted: requirements,
      payload
    })

    const made = await createBatchSettlementEIP3009DepositPayload(payer, 2, requirements, config, '5000', '1000')
    const deposit = pay(made.payload)
    const verified = await facilitator.verify(deposit, requirements)
    assert.equal(verified.isValid, true, JSON.stringify(verified))
    const deposited = await facilitator.settle(deposit, requirements)
    assert.equal(deposited.success, true, JSON.stringify(deposited))

    const chain = createChain(parameters)
    const domain = settlementDomain({ chainId: parameters.chainId, address: parameters.settlement.address })
    const id = domain.channelId(lower(config))
    const voucher = await signVoucher(payer, id, '1000', network)
    const claims = [
      { voucher: { channel: config, maxClaimableAmount: '1000' }, signature: voucher.signature, totalClaimed: '1000' }
    ]
    const claimed = await facilitator.settle(pay({ type: 'claim', claims }), requirements)
    assert.equal(claimed.success, true, JSON.stringify(claimed))
    const settled = await facilitator.settle(pay({ type: 'settle', receiver, token: config.token }), requirements)
    assert.equal(settled.success, true, JSON.stringify(settled))
    assert.deepEqual((await chain.channels([id], 'latest')).channels, [
      { balance: 5_000n, claimed: 1_000n, refundNonce: 0n }
    ])
    assert.equal(await chain.balance(receiver, 'latest'), 1_000n)
  })
})

function lower<T extends Readonly<Record<string, unknown>>>(config: T): T {
  const entries = Object.entries(config).map(([key, value]) => [
    key,
    typeof value === 'string' ? value.toLowerCase() : value
  ])
  return Object.fromEntries(entries) as T & Record<string, Address>
}

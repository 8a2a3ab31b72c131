import assert from 'node:assert/strict'
import { madeAt } from '../../../lib/base/request-id.ts'
import { formatRequestId, formatUsdc } from '../../../lib/index.ts'
import { keySigner } from '../../../lib/pay/signing/key-signer.ts'
import { type ReceiptBody, receiptDigests, signReceipts } from '../../../lib/pay/signing/receipt.ts'
import { settlementDomain } from '../../../lib/pay/signing/settlement-domain.ts'
import { NETWORKS } from '../../../node/networks.ts'
import { verifyReceipts } from '../../../node/receipts/verify-receipts.ts'
import { freshIds } from '../../helpers/call-record.ts'
import { MANUAL_START } from '../../helpers/manual-clock.ts'

const { chain } = NETWORKS.dev
const owner = keySigner(new Uint8Array(32).fill(5))
const payer = keySigner(new Uint8Array(32).fill(6))
const config = {
  payer: payer.address,
  payerAuthorizer: payer.address,
  receiver: payer.address,
  receiverAuthorizer: owner.address,
  token: chain.usdc.address,
  withdrawDelay: 86_400,
  salt: `0x${'07'.repeat(32)}` as const
}
const domain = settlementDomain({ chainId: chain.chainId, address: chain.settlement.address })

describe('souk receipts verify', () => {
  const body: ReceiptBody = {
    channelId: domain.channelId(config),
    requestId: freshIds.next(),
    requestHash: new Uint8Array(32),
    api: 'ticker@12D3KooWQYhTNQdmr3ArTeUHRYzFg94BKyTkoWBDWez9kSCVe2Xo',
    charged: 1_000n,
    captured: 1_000n,
    reserved: 0n,
    status: 200,
    at: MANUAL_START + 40,
    rule: 'success'
  }
  const row = async (signer = owner, signed = body) => {
    const digest = receiptDigests(chain)
    const [proof = new Uint8Array(0)] = await signReceipts([signed], (root) => signer.sign(digest(root)))
    return {
      role: 'payer',
      request_id: formatRequestId(body.requestId),
      api: body.api,
      charged: formatUsdc(body.charged),
      status: 200,
      at: madeAt(body.requestId),
      rule: 'success',
      channel: body.channelId,
      proof: Buffer.from(proof).toString('base64'),
      channel_config: { chain_id: chain.chainId, contract: chain.settlement.address, ...config }
    }
  }
  const resultOf = (receipt: object) => {
    const [found] = verifyReceipts(JSON.stringify({ receipts: [receipt] }))
    return [found?.result, found?.detail]
  }

  it('accepts what the owner of the channel signed', async () => {
    const [found] = verifyReceipts(JSON.stringify({ receipts: [await row()] }))
    assert.deepEqual([found?.result, found?.signer], ['valid', owner.address])
  })

  it('accepts what earlier versions wrote: the time of the owner, and no rule', async () => {
    assert.deepEqual(resultOf({ ...(await row()), at: body.at }), ['valid', ''])
    const old = await row(owner, { ...body, rule: undefined })
    assert.deepEqual(resultOf({ ...old, rule: null }), ['valid', ''])
  })

  it('finds every change of a receipt', async () => {
    const good = await row()
    const other = keySigner(new Uint8Array(32).fill(8)).address
    const proof = Buffer.from(good.proof, 'base64')
    proof[proof.length - 10] = (proof[proof.length - 10] ?? 0) ^ 1
    const cases: ReadonlyArray<readonly [object, RegExp]> = [
      [{ ...good, charged: '0.0009' }, /another charged/],
      [{ ...good, api: 'other' }, /another api/],
      [{ ...good, status: 201 }, /another status/],
      [{ ...good, at: MANUAL_START - 86_400_000 }, /another at/],
      [{ ...good, rule: 'plan' }, /another rule/],
      [{ ...good, rule: null }, /another rule/],
      [await row(owner, { ...body, rule: undefined }), /another rule/],
      [{ ...good, request_id: formatRequestId(freshIds.next()) }, /another request_id/],
      [{ ...good, proof: proof.toString('base64') }, /not signed/],
      [{ ...good, proof: 'AAAA' }, /cannot be read/],
      [{ ...good, channel_config: { ...good.channel_config, receiverAuthorizer: other } }, /another channel/],
      [{ ...good, channel_config: { ...good.channel_config, chain_id: 1 } }, /another channel/],
      [{ ...good, channel_config: { ...good.channel_config, contract: other } }, /not the channel contract/],
      [await row(payer), /not signed by the owner/]
    ]
    for (const [changed, why] of cases) {
      const [result, detail = ''] = resultOf(changed)
      assert.equal(result, 'invalid')
      assert.match(detail, why)
    }
  })

  it('skips what has no proof, and refuses other files', async () => {
    const good = await row()
    assert.equal(resultOf({ ...good, proof: null })[0], 'skipped')
    assert.equal(resultOf({ ...good, channel_config: null })[0], 'skipped')
    for (const text of ['', '{}', '[1]', '{"receipts":[{}]}', JSON.stringify({ receipts: [{ ...good, proof: '!' }] })])
      assert.throws(() => verifyReceipts(text), { code: 'invalid_request' })
  })
})

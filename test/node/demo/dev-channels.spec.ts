import assert from 'node:assert/strict'
import {
  BATCH_SETTLEMENT_ADDRESS,
  BATCH_SETTLEMENT_DOMAIN,
  claimBatchTypes,
  ERC3009_DEPOSIT_COLLECTOR_ADDRESS,
  refundTypes,
  voucherTypes
} from '@x402/evm'
import { computeChannelId } from '@x402/evm/batch-settlement/client'
import {
  type AbiEvent,
  type AbiFunction,
  encodeFunctionData,
  getAddress,
  hashTypedData,
  keccak256,
  parseEventLogs,
  toEventSignature,
  toFunctionSignature
} from 'viem'
import { fromHex, type Hex, toHex } from '../../../lib/base/hex.ts'
import type { ChannelConfig } from '../../../lib/interface/channel.ts'
import { ZERO_ADDRESS } from '../../../lib/pay/signing/address.ts'
import { batchSettlementAbi } from '../../../lib/pay/contracts/contracts.generated.ts'
import type { Claim } from '../../../lib/pay/chain/settlement-calls.ts'
import { devBatchSettlementCode, devDepositCollectorCode } from '../../../node/demo/chain/dev-contracts.generated.ts'
import { NETWORKS } from '../../../node/networks.ts'
import { type ChannelBench, channelBench, highTwin } from '../../helpers/channel-bench.ts'
import { actor, deployTest } from '../../helpers/chain.ts'

const abi = batchSettlementAbi
const CONFIG = '(address,address,address,address,address,uint40,bytes32)'
const ROWS = `((${CONFIG},uint128),bytes,uint128)[]`

/** The functions of the real contract, from its source. */
const FUNCTIONS = [
  `deposit(${CONFIG},uint128,address,bytes)`,
  `claim(${ROWS})`,
  `claimWithSignature(${ROWS},bytes)`,
  'settle(address,address)',
  `initiateWithdraw(${CONFIG},uint128)`,
  `finalizeWithdraw(${CONFIG})`,
  `refund(${CONFIG},uint128)`,
  `refundWithSignature(${CONFIG},uint128,uint256,bytes)`,
  `getChannelId(${CONFIG})`,
  'getVoucherDigest(bytes32,uint128)',
  'getRefundDigest(bytes32,uint256,uint128)',
  `getClaimBatchDigest(${ROWS})`,
  'channels(bytes32)',
  'pendingWithdrawals(bytes32)',
  'refundNonce(bytes32)',
  'receivers(address,address)',
  'multicall(bytes[])',
  'eip712Domain()',
  'MIN_WITHDRAW_DELAY()',
  'MAX_WITHDRAW_DELAY()',
  'CHANNEL_CONFIG_TYPEHASH()',
  'VOUCHER_TYPEHASH()',
  'REFUND_TYPEHASH()',
  'CLAIM_ENTRY_TYPEHASH()',
  'CLAIM_BATCH_TYPEHASH()'
]
const EVENTS = [
  `ChannelCreated(bytes32,${CONFIG})`,
  `ChannelClosed(bytes32,${CONFIG})`,
  'Deposited(bytes32,address,uint128,uint128)',
  'Claimed(bytes32,address,uint128,uint128)',
  'Settled(address,address,address,uint128)',
  'Refunded(bytes32,address,uint128)',
  'WithdrawInitiated(bytes32,uint128,uint40)',
  'WithdrawFinalized(bytes32,address,uint128)'
]

describe('the dev channel contract', () => {
  let bench: ChannelBench
  before(async () => {
    bench = await channelBench()
  })
  after(() => bench.close())

  const eventsOf = async (hash: Hex) => {
    const { logs } = await bench.client.getTransactionReceipt({ hash })
    return parseEventLogs({ abi, logs }).map(({ eventName }) => eventName)
  }
  const lastEvents = async () => {
    const block = await bench.client.getBlock()
    const [hash] = block.transactions
    return hash === undefined ? [] : eventsOf(hash)
  }
  const balances = async (config: ChannelConfig) => {
    const { balance, claimed } = await bench.state(config)
    return [balance, claimed]
  }

  it('has the interface of the real one', () => {
    const functions = abi.filter(({ type }) => type === 'function') as unknown as AbiFunction[]
    assert.deepEqual(functions.map(toFunctionSignature).sort(), FUNCTIONS.toSorted())
    const events = abi.filter(({ type }) => type === 'event') as unknown as AbiEvent[]
    const ours = events.map(toEventSignature).filter((name) => !name.startsWith('EIP712'))
    assert.deepEqual(ours.sort(), EVENTS.toSorted())
  })

  it('is pinned like the collector, and has the address of the real one in x402', () => {
    const { settlement, collector } = NETWORKS.dev.chain
    assert.equal(settlement.codeHash, keccak256(devBatchSettlementCode))
    assert.equal(collector.codeHash, keccak256(devDepositCollectorCode))
    for (const { chain } of Object.values(NETWORKS)) {
      assert.equal(getAddress(chain.settlement.address), BATCH_SETTLEMENT_ADDRESS)
      assert.equal(getAddress(chain.collector.address), ERC3009_DEPOSIT_COLLECTOR_ADDRESS)
    }
  })

  it('computes channel ids and digests like x402 and Souk', async () => {
    const { client, domain, parameters, newConfig } = bench
    const config = newConfig()
    const { chainId, settlement } = parameters
    const call = { address: settlement.address, abi } as const
    const id = await client.readContract({ ...call, functionName: 'getChannelId', args: [config] })
    assert.equal(id, domain.channelId(config))
    assert.equal(id, computeChannelId(config, `eip155:${chainId}`))
    const typed = { ...BATCH_SETTLEMENT_DOMAIN, chainId, verifyingContract: settlement.address }
    const voucher = await client.readContract({ ...call, functionName: 'getVoucherDigest', args: [id, 7n] })
    assert.equal(voucher, toHex(domain.voucher(id, 7n)))
    const message = { channelId: id, maxClaimableAmount: 7n }
    assert.equal(voucher, hashTypedData({ domain: typed, types: voucherTypes, primaryType: 'Voucher', message }))
    const refund = await client.readContract({ ...call, functionName: 'getRefundDigest', args: [id, 3n, 7n] })
    assert.equal(refund, toHex(domain.refund(id, 3n, 7n)))
    const refundMessage = { channelId: id, nonce: 3n, amount: 7n }
    assert.equal(
      refund,
      hashTypedData({ domain: typed, types: refundTypes, primaryType: 'Refund', message: refundMessage })
    )
  })

  describe('deposit', () => {
    it('transfers the signed amount, whoever submits it', async () => {
      const { deposit, newConfig, act, payer, stranger, mint, usdc, parameters } = bench
      const config = newConfig()
      await mint(payer.address, 1_000n)
      const [before, escrow] = [await usdc(payer.address), await usdc(parameters.settlement.address)]
      const receipt = await act(stranger, await deposit(config, 600n))
      assert.deepEqual(await lastEvents(), ['ChannelCreated', 'Deposited'])
      console.log(`      first deposit ${receipt.gasUsed} gas`)
      await act(stranger, await deposit(config, 400n))
      assert.deepEqual(await lastEvents(), ['Deposited'])
      assert.deepEqual(await balances(config), [1_000n, 0n])
      assert.equal(before - (await usdc(payer.address)), 1_000n)
      assert.equal((await usdc(parameters.settlement.address)) - escrow, 1_000n)
    })

    it('accepts an authorisation once, for its own channel and amount', async () => {
      const { deposit, newConfig, act, payer, stranger, mint, reason, calls } = bench
      const config = newConfig()
      await mint(payer.address, 1_000n)
      const once = await deposit(config, 500n)
      await act(stranger, once)
      assert.match((await reason(stranger, once)) ?? '', /authorization is used/)
      const forged = { amount: 500n, salt: 999n, validAfter: 0, validBefore: 2 ** 40, signature: new Uint8Array(65) }
      assert.match((await reason(stranger, calls.deposit(newConfig(), forged))) ?? '', /invalid signature|ECRecover/)
    })

    const zero = ZERO_ADDRESS
    for (const [what, change, error] of [
      ['no payer', { payer: zero }, 'InvalidChannel'],
      ['no receiver', { receiver: zero }, 'InvalidChannel'],
      ['no receiver authoriser', { receiverAuthorizer: zero }, 'InvalidChannel'],
      ['no token', { token: zero }, 'InvalidChannel'],
      ['a delay under 15 minutes', { withdrawDelay: 899 }, 'WithdrawDelayOutOfRange'],
      ['a delay over 30 days', { withdrawDelay: 2_592_001 }, 'WithdrawDelayOutOfRange']
    ] as const) {
      it(`refuses a channel with ${what}`, async () => {
        const { deposit, newConfig, reason, stranger } = bench
        assert.equal(await reason(stranger, await deposit(newConfig(change), 5n)), error)
      })
    }

    it('rejects a zero amount, a missing collector, and a collector that transfers nothing', async () => {
      const { deposit, newConfig, reason, stranger, parameters, fundGas } = bench
      assert.equal(await reason(stranger, await deposit(newConfig(), 0n)), 'ZeroDeposit')
      const through = (collector: Hex) => ({
        to: parameters.settlement.address,
        data: encodeFunctionData({ abi, functionName: 'deposit', args: [newConfig(), 5n, collector, '0x'] })
      })
      assert.equal(await reason(stranger, through(zero)), 'InvalidCollector')
      const deployer = actor('deployer')
      await fundGas(deployer.address)
      const idle = await (await deployTest(bench, deployer, ['IdleCollector']))('IdleCollector')
      assert.equal(await reason(stranger, through(idle.address)), 'DepositCollectionFailed')
    })

    it('is the only caller that the collector accepts', async () => {
      const { parameters, stranger, client } = bench
      const collect = {
        type: 'function',
        name: 'collect',
        stateMutability: 'nonpayable',
        inputs: ['address', 'address', 'uint256', 'bytes32', 'bytes'].map((type) => ({ type })),
        outputs: []
      } as const
      const args = [stranger.address, parameters.usdc.address, 1n, `0x${'00'.repeat(32)}`, '0x']
      const data = encodeFunctionData({ abi: [collect], args })
      const { address } = parameters.collector
      await assert.rejects(client.call({ to: address, data, account: stranger.address }), /reverted/)
    })
  })

  describe('claim', () => {
    it('books many rows at once per receiver, and settle transfers them', async () => {
      const { open, row, act, owner, stranger, calls, usdc, chain, factory } = bench
      const provider = actor('claims').address.toLowerCase() as Hex
      const receiver = factory.splitterOf(provider)
      const configs = [await open(1_000n, { receiver }), await open(500n, { receiver }), await open(300n, { receiver })]
      const rows = await Promise.all(configs.map((config, i) => row(config, BigInt(100 * (i + 1)))))
      const receipt = await act(owner, calls.claim(rows))
      console.log(`      three claims ${receipt.gasUsed} gas`)
      assert.deepEqual(await lastEvents(), ['Claimed', 'Claimed', 'Claimed'])
      assert.deepEqual(await chain.receiver(receiver, 'latest'), { claimed: 600n, settled: 0n })
      const settled = await act(stranger, calls.settle(receiver))
      console.log(`      settle ${settled.gasUsed} gas`)
      assert.deepEqual(await lastEvents(), ['Settled'])
      assert.equal(await usdc(receiver), 600n)
      assert.deepEqual(await chain.receiver(receiver, 'latest'), { claimed: 600n, settled: 600n })
      await act(stranger, calls.settle(receiver))
      assert.deepEqual(await lastEvents(), [])
      await act(stranger, calls.distribute(factory, provider))
      assert.deepEqual([await usdc(provider), await usdc(receiver)], [570n, 0n])
    })

    it('is cumulative: an amount not above the last one changes nothing', async () => {
      const { open, row, act, owner, calls, stranger } = bench
      const config = await open(1_000n)
      await act(owner, calls.claim([await row(config, 400n, { ceiling: 700n })]))
      await act(owner, calls.claim([await row(config, 400n)]))
      assert.deepEqual(await lastEvents(), [])
      await act(owner, calls.claim([await row(config, 300n, { by: stranger })]))
      assert.deepEqual(await balances(config), [1_000n, 400n])
      await act(owner, calls.claim([await row(config, 1_000n)]))
      assert.deepEqual(await balances(config), [1_000n, 1_000n])
    })

    it('rejects other callers, empty batches, and amounts above the voucher or the deposit', async () => {
      const { open, row, reason, owner, stranger, payer, calls } = bench
      const config = await open(1_000n)
      const good = await row(config, 10n)
      assert.equal(await reason(owner, calls.claim([good])), undefined)
      assert.equal(await reason(stranger, calls.claim([good])), 'NotAuthorizedToClaim')
      assert.equal(await reason(payer, calls.claim([good])), 'NotAuthorizedToClaim')
      assert.equal(await reason(owner, calls.claim([])), 'EmptyBatch')
      assert.equal(await reason(owner, calls.claim([await row(config, 10n, { ceiling: 9n })])), 'ClaimExceedsCeiling')
      assert.equal(await reason(owner, calls.claim([await row(config, 1_001n)])), 'ClaimExceedsBalance')
    })

    it('rejects the whole batch for one invalid row', async () => {
      const { open, row, reason, owner, stranger, calls } = bench
      const rows = [await row(await open(10n), 10n), await row(await open(10n), 10n, { by: stranger })]
      assert.equal(await reason(owner, calls.claim(rows)), 'InvalidSignature')
    })

    it('accepts the authoriser’s signatures in canonical form only', async () => {
      const { open, row, reason, owner, payer, calls } = bench
      const config = await open(1_000n)
      const good = await row(config, 10n)
      const signed = (signature: Uint8Array): Claim => ({ ...good, voucher: { ...good.voucher, signature } })
      const { signature } = good.voucher
      assert.equal(await reason(owner, calls.claim([await row(config, 10n, { by: payer })])), 'InvalidSignature')
      assert.equal(await reason(owner, calls.claim([signed(highTwin(signature))])), 'ECDSAInvalidSignatureS')
      assert.equal(await reason(owner, calls.claim([signed(signature.subarray(0, 64))])), 'ECDSAInvalidSignatureLength')
      const short = Uint8Array.from(signature)
      short[64] = (short[64] ?? 27) - 27
      assert.equal(await reason(owner, calls.claim([signed(short)])), 'ECDSAInvalidSignature')
    })

    it("accepts the payer's own signature if there is no authoriser", async () => {
      const { open, row, reason, owner, payer, authorizer, calls } = bench
      const config = await open(1_000n, { payerAuthorizer: ZERO_ADDRESS })
      assert.equal(await reason(owner, calls.claim([await row(config, 10n, { by: payer })])), undefined)
      assert.equal(await reason(owner, calls.claim([await row(config, 10n, { by: authorizer })])), 'InvalidSignature')
    })

    it('can be sent by anybody with the authoriser’s signature on the batch', async () => {
      const { open, row, reason, act, owner, stranger, authorizer, domain, parameters } = bench
      const rows = [await row(await open(100n), 10n), await row(await open(100n), 20n)]
      const claims = rows.map(({ config, voucher, total }) => ({
        channelId: domain.channelId(config),
        maxClaimableAmount: voucher.ceiling,
        totalClaimed: total
      }))
      const { chainId, settlement } = parameters
      const digest = hashTypedData({
        domain: { ...BATCH_SETTLEMENT_DOMAIN, chainId, verifyingContract: settlement.address },
        types: claimBatchTypes,
        primaryType: 'ClaimBatch',
        message: { claims }
      })
      const call = (signature: Uint8Array, claimed: readonly Claim[]) => ({
        to: settlement.address,
        data: encodeFunctionData({
          abi,
          functionName: 'claimWithSignature',
          args: [
            claimed.map(({ config, voucher, total }) => ({
              voucher: { channel: config, maxClaimableAmount: voucher.ceiling },
              signature: toHex(voucher.signature),
              totalClaimed: total
            })),
            toHex(signature)
          ]
        })
      })
      const word = await owner.sign(fromHex(digest, 32))
      assert.equal(await reason(stranger, call(await authorizer.sign(fromHex(digest, 32)), rows)), 'InvalidSignature')
      assert.equal(await reason(stranger, call(word, rows.slice(1))), 'InvalidSignature')
      assert.equal(await reason(stranger, call(word, [])), 'EmptyBatch')
      await act(stranger, call(word, rows))
      assert.deepEqual(await balances(rows[1]?.config ?? assert.fail()), [100n, 20n])
    })
  })

  describe('refund', () => {
    it('returns at most the unclaimed amount, and increments the nonce each time', async () => {
      const { open, row, act, owner, payer, calls, usdc, state } = bench
      const config = await open(1_000n)
      await act(owner, calls.claim([await row(config, 300n)]))
      const before = await usdc(payer.address)
      await act(owner, calls.refund(config, 200n))
      assert.deepEqual(await lastEvents(), ['Refunded'])
      await act(owner, calls.refund(config, 10_000n))
      assert.equal((await usdc(payer.address)) - before, 700n)
      assert.deepEqual(await state(config), { balance: 300n, claimed: 300n, refundNonce: 2n })
      await act(owner, calls.refund(config, 1n))
      assert.deepEqual(await lastEvents(), [])
      assert.equal((await state(config)).refundNonce, 3n)
    })

    it('closes a channel without claims', async () => {
      const { open, act, owner, calls } = bench
      const config = await open(50n)
      await act(owner, calls.refund(config, 50n))
      assert.deepEqual(await lastEvents(), ['Refunded', 'ChannelClosed'])
    })

    it('can be sent once by anybody with the authoriser’s signature', async () => {
      const { open, act, owner, stranger, payer, calls, domain, reason } = bench
      const config = await open(100n)
      const id = domain.channelId(config)
      const word = await owner.sign(domain.refund(id, 0n, 60n))
      const call = calls.refundWithSignature(config, 60n, 0n, word)
      const other = await payer.sign(domain.refund(id, 0n, 60n))
      assert.equal(await reason(stranger, calls.refundWithSignature(config, 60n, 0n, other)), 'InvalidSignature')
      assert.equal(await reason(stranger, calls.refundWithSignature(config, 61n, 0n, word)), 'InvalidSignature')
      const receipt = await act(stranger, call)
      console.log(`      refund ${receipt.gasUsed} gas`)
      assert.equal(await reason(stranger, call), 'InvalidRefundNonce')
      assert.deepEqual(await balances(config), [40n, 0n])
    })

    it('rejects other callers and zero amounts', async () => {
      const { open, owner, payer, stranger, calls, reason } = bench
      const config = await open(100n)
      assert.equal(await reason(stranger, calls.refund(config, 1n)), 'NotAuthorizedToRefund')
      assert.equal(await reason(payer, calls.refund(config, 1n)), 'NotAuthorizedToRefund')
      assert.equal(await reason(owner, calls.refund(config, 0n)), 'ZeroRefund')
    })

    it('makes a pending withdrawal smaller', async () => {
      const { open, act, owner, payer, calls, state } = bench
      const config = await open(100n)
      await act(payer, calls.initiateWithdraw(config, 80n))
      await act(owner, calls.refund(config, 30n))
      assert.equal((await state(config)).withdrawal?.amount, 50n)
      await act(owner, calls.refund(config, 50n))
      assert.equal((await state(config)).withdrawal, undefined)
    })
  })

  describe('withdrawal', () => {
    it('returns the rest after the delay', async () => {
      const { open, act, payer, authorizer, calls, usdc, state, wait, reason } = bench
      const config = await open(100n)
      await act(authorizer, calls.initiateWithdraw(config, 70n))
      assert.deepEqual(await lastEvents(), ['WithdrawInitiated'])
      const { withdrawal } = await state(config)
      assert.equal(withdrawal?.amount, 70n)
      const head = await bench.chain.block('latest')
      assert.ok(withdrawal.since <= (head?.at ?? 0) && withdrawal.since > (head?.at ?? 0) - 60_000)
      assert.equal(await reason(payer, calls.initiateWithdraw(config, 1n)), 'WithdrawalAlreadyPending')
      await wait(800)
      assert.equal(await reason(payer, calls.finalizeWithdraw(config)), 'WithdrawDelayNotElapsed')
      await wait(100)
      const before = await usdc(payer.address)
      await act(payer, calls.finalizeWithdraw(config))
      assert.deepEqual(await lastEvents(), ['WithdrawFinalized'])
      assert.equal((await usdc(payer.address)) - before, 70n)
      assert.deepEqual(await state(config), { balance: 30n, claimed: 0n, refundNonce: 0n })
      assert.equal(await reason(payer, calls.finalizeWithdraw(config)), 'WithdrawalNotPending')
    })

    it('leaves claims made in time, and takes the amount of late claims', async () => {
      const { open, row, act, owner, payer, calls, wait, reason } = bench
      const [prompt, late] = [await open(100n), await open(100n)]
      for (const config of [prompt, late]) await act(payer, calls.initiateWithdraw(config, 100n))
      await act(owner, calls.claim([await row(prompt, 60n)]))
      await wait(900)
      for (const config of [prompt, late]) await act(payer, calls.finalizeWithdraw(config))
      assert.deepEqual(await lastEvents(), ['WithdrawFinalized', 'ChannelClosed'])
      assert.deepEqual(await balances(prompt), [60n, 60n])
      assert.deepEqual(await balances(late), [0n, 0n])
      assert.equal(await reason(owner, calls.claim([await row(late, 60n)])), 'ClaimExceedsBalance')
    })

    it('rejects other callers, zero amounts, and amounts above the balance', async () => {
      const { open, owner, payer, stranger, calls, reason } = bench
      const config = await open(100n)
      for (const other of [owner, stranger]) {
        assert.equal(await reason(other, calls.initiateWithdraw(config, 1n)), 'InvalidChannel')
        assert.equal(await reason(other, calls.finalizeWithdraw(config)), 'NotAuthorizedToFinalizeWithdraw')
      }
      assert.equal(await reason(payer, calls.initiateWithdraw(config, 0n)), 'NothingToWithdraw')
      assert.equal(await reason(payer, calls.initiateWithdraw(config, 101n)), 'WithdrawAmountExceedsAvailable')
      assert.equal(await reason(payer, calls.finalizeWithdraw(config)), 'WithdrawalNotPending')
    })
  })
})

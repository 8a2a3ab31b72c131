import assert from 'node:assert/strict'
import { DEPOSIT_VALID_MS } from '../../../../lib/base/limits/pay.ts'
import type { ChannelState, ContractCall } from '../../../../lib/interface/chain.ts'
import type { Mined } from '../../../../lib/interface/submitter.ts'
import { DailyCap } from '../../../../lib/pay/payer/daily-cap.ts'
import { keySigner } from '../../../../lib/pay/signing/key-signer.ts'
import { PayerChannel } from '../../../../lib/pay/payer/payer-channel.ts'
import { payRules } from '../../../../lib/pay/payer/pay-rules.ts'
import { PayerFunds } from '../../../../lib/pay/payer/payer-funds.ts'
import { withdraw } from '../../../../lib/pay/payer/withdrawal.ts'
import { peerId } from '../../../helpers/call-record.ts'
import { manualClock, settle } from '../../../helpers/manual-clock.ts'
import { OWN_CHANNEL, PAYOUT } from '../../../helpers/scheme-bench.ts'

const channelId = `0x${'11'.repeat(32)}` as const
const config = { ...OWN_CHANNEL, salt: channelId }
const EMPTY: ChannelState = { balance: 0n, claimed: 0n, refundNonce: 0n }
const FULL: ChannelState = { ...EMPTY, balance: 100n }

describe('a withdrawal', () => {
  /** Returns the states in order, then repeats the last one. */
  function begin(...states: ChannelState[]) {
    const clock = manualClock()
    const startedAt = clock.now()
    const sent: string[] = []
    const call = (name: string) => (): ContractCall => ({ to: PAYOUT, data: `0x${Buffer.from(name).toString('hex')}` })
    const state = { ceiling: 0n, spent: 0n, deposit: 100n, isWhole: true }
    const payerFunds = new PayerFunds(state, payRules(), new DailyCap(0n))
    const info = { channelId, config, counter: 1n, owner: peerId('D') }
    const channel = new PayerChannel(info, payerFunds, undefined, { phase: 'withdrawing', isDisputed: false })
    const chain = {
      channels: async () => {
        const shown = states.length > 1 ? states.shift() : states[0]
        return { block: { number: 1n, hash: channelId, at: clock.now() }, channels: [shown ?? EMPTY] }
      },
      gas: async () => 0n,
      fees: async () => ({ maxFee: 0n, tip: 0n })
    }
    const submit = async (_key: string, { data }: ContractCall) => {
      sent.push(Buffer.from(data.slice(2), 'hex').toString())
      return { receipt: { succeeded: true } } as Mined
    }
    const calls = { initiateWithdraw: call('begin'), finalizeWithdraw: call('finish') }
    const signer = keySigner(new Uint8Array(32).fill(1))
    const onBegun = async (until: number) => void (channel.withdrawableAt = until)
    const ended = withdraw({ chain, calls, submitter: { submit }, signer, clock }, channel, {
      signal: new AbortController().signal,
      onBegun
    })
    let left: bigint | undefined
    const done = ended.then((amount) => (left = amount))
    return { clock, startedAt, sent, done, left: () => left }
  }

  it('ends when the money was withdrawn, and not while an old view lacks the deposit', async () => {
    const since = Date.UTC(2026, 0, 2, 3, 4, 5)
    const pending = { ...FULL, withdrawal: { amount: 100n, since } }
    const { clock, sent, left, done } = begin(EMPTY, FULL, pending, EMPTY, pending, pending, EMPTY)
    await settle()
    assert.equal(left(), undefined)
    await clock.advance(120_000)
    assert.equal(left(), undefined, 'a view of before the deposit ended it')
    await clock.advance(1_000_000)
    assert.equal(await done, 0n)
    assert.deepEqual(sent, ['begin'])
  })

  it('ends when everything was earned or refunded', async () => {
    assert.equal(await begin({ ...FULL, claimed: 100n }).done, 100n)
    assert.equal(await begin({ ...EMPTY, refundNonce: 1n }).done, 0n)
  })

  it('waits for a deposit that the chain does not show for as long as it may be mined', async () => {
    const { clock, left } = begin(EMPTY)
    await clock.advance(DEPOSIT_VALID_MS - 10_000)
    assert.equal(left(), undefined)
    await clock.advance(20_000)
    assert.equal(left(), 0n)
  })
})

import assert from 'node:assert/strict'
import { SoukError } from '../../../lib/index.ts'
import type { Chain } from '../../../lib/interface/index.ts'
import { createLog } from '../../../node/log.ts'
import { NETWORKS } from '../../../node/networks.ts'
import { ChainHealth } from '../../../node/payments/chain-health.ts'
import { type ManualClock, manualClock, settle } from '../../helpers/manual-clock.ts'

describe('the health of the chain', () => {
  let clock: ManualClock
  let lines: string[]
  let problem: string | undefined
  let checks: number
  let health: ChainHealth

  const away = () =>
    new SoukError('settlement_unavailable', 'The chain endpoint does not respond.', { cause: new Error('refused') })

  beforeEach(() => {
    clock = manualClock()
    lines = []
    problem = undefined
    checks = 0
    const chain: Pick<Chain, 'verify' | 'parameters'> = {
      parameters: { ...NETWORKS.dev.chain, rpcUrl: 'http://127.0.0.1:8545/secret-of-the-endpoint' },
      async verify() {
        checks += 1
        if (problem !== undefined) throw new SoukError('settlement_unavailable', problem)
      }
    }
    const log = createLog((line) => lines.push(line))
    health = new ChainHealth({ chain: chain as Chain, clock, log, hint: 'souk dev' })
  })
  afterEach(() => health.stop())

  it('reports a chain that is away in one line, however many loops fail, and its return', async () => {
    problem = 'The chain endpoint does not respond.'
    await health.start()
    for (let loops = 0; loops < 50; loops++) health.failed(away())
    await settle()
    assert.equal(lines.length, 1, lines.join('\n'))
    assert.match(lines[0] ?? '', /127\.0\.0\.1:8545.*does not respond.*souk dev/)
    assert.equal(lines.join().includes('secret-of-the-endpoint'), false)
    assert.equal(health.problem, problem)

    problem = undefined
    await clock.advance(1_000)
    await settle()
    assert.equal(health.problem, undefined)
    assert.match(lines[1] ?? '', /responds again/)
  })

  it('checks less often, the longer the chain is away', async () => {
    problem = 'no'
    await health.start()
    for (let seconds = 0; seconds < 600; seconds++) await clock.advance(1_000)
    // 1, 2, 4, 8, 16 and then every 30 seconds.
    assert.ok(checks > 10 && checks < 30, String(checks))
    health.stop()
    const before = checks
    await clock.advance(600_000)
    assert.equal(checks, before)
  })

  it('reports a failed request of a chain that responds as a line, once', async () => {
    await health.start()
    for (let loops = 0; loops < 5; loops++) {
      health.failed(away())
      await settle()
    }
    assert.deepEqual(lines, ['warning: The chain endpoint does not respond. refused'])
    assert.equal(health.problem, undefined)
  })

  it('reports another problem of the chain when it changes', async () => {
    problem = 'The chain endpoint does not respond.'
    await health.start()
    problem = 'The chain endpoint is of chain 1.'
    await clock.advance(1_000)
    await settle()
    assert.equal(lines.length, 2)
    assert.match(lines[1] ?? '', /of chain 1/)
  })

  it('keeps the stack of an unexpected error', async () => {
    await health.start()
    health.failed(new SoukError('internal_error', 'A bug.', { cause: new Error('where') }))
    assert.match(lines.join('\n'), /A bug\.[^]*Error: where\n +at /)
  })

  it('does not delay a start for longer than the limit', async () => {
    const silent: Pick<Chain, 'verify' | 'parameters'> = {
      parameters: NETWORKS.dev.chain,
      verify: () => new Promise(() => undefined)
    }
    const log = createLog((line) => lines.push(line))
    const waiting = new ChainHealth({ chain: silent as Chain, clock, log, hint: '' })
    const started = waiting.start()
    await clock.advance(3_000)
    await started
    waiting.stop()
  })
})

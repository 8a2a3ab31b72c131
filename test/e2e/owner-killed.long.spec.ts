import assert from 'node:assert/strict'
import { limits, type Problem } from '../../lib/index.ts'
import type { ApiView } from '../../node/admin/api.ts'
import type { IssuedKeyView } from '../../node/admin/accounts/key-api.ts'
import { eventually } from '../helpers/eventually.ts'
import { type Answered, post } from '../helpers/ingress-client.ts'
import { type JudgeApi, judgeApi } from '../helpers/judge-api.ts'
import { type HomeNode, type NodeProcess, type SoukHome, soukHome, tellWhenFailed } from '../helpers/souk-home.ts'

/** Time until the consumer gives up, plus a margin for two busy cores. The call's own time limit is longer. */
const TOLD_MS = limits.RESEND_MS + 10_000

describe('an owner node killed in the middle of a call', () => {
  let home: SoukHome
  let owner: NodeProcess
  let consumer: HomeNode
  let api: JudgeApi
  let key: string

  before(async () => {
    home = await soukHome()
    api = await judgeApi('judge')
    owner = await home.asProcess.up('owner', '--no-ingress')
    consumer = await home.up('consumer', '--bootstrap', ...owner.p2p)
    await owner.cli(`api register --name judge --protocol REST --endpoint ${api.url} --price 0.01`)
    ;({ key } = await consumer.cli<IssuedKeyView>('key issue'))
  })
  tellWhenFailed(() => home)
  after(async () => {
    await home.close()
    await api.close()
  })

  const call = (id: string) => post(consumer.ingress, 'judge', { key, body: { id } })

  /** Sends a call, and kills the owner once the API has it. The response tells how long after that it arrived. */
  async function killDuring(id: string): Promise<{ answer: Promise<Answered & { toldMs: number }> }> {
    api.hold()
    const answer = call(id)
    await eventually('the call to reach the API', 5_000, () => (api.held > 0 ? true : undefined))
    await owner.end('SIGKILL')
    const killedAt = performance.now()
    return { answer: answer.then((answered) => ({ ...answered, toldMs: performance.now() - killedAt })) }
  }

  /** Calls until one succeeds. Returns the error codes of the failed calls. */
  async function recovers(id: string, boundMs: number): Promise<string[]> {
    const failures: string[] = []
    await eventually(`calls to succeed again, after ${failures.join()}`, boundMs, async () => {
      const { status, json } = await call(id)
      if (status !== 200) failures.push((json as Problem).code)
      return status === 200 ? true : undefined
    })
    return failures
  }

  it('serves calls before', async () => {
    assert.deepEqual((await call('first')).json, { id: 'first', by: 'judge' })
  })

  it('reports the outcome as soon as the owner is back, and never runs the call twice', async () => {
    const { answer } = await killDuring('interrupted')
    api.release()
    owner = await home.asProcess.up('owner', '--no-ingress')
    const { status, json, headers, toldMs } = await answer
    assertInterrupted(status, json as Problem)
    assert.equal(headers.get('souk-charged'), null)
    assert.ok(toldMs < TOLD_MS, `told after ${toldMs} ms`)
    assert.deepEqual(await recovers('next', 5_000), [])
    assert.equal(api.reached.filter((id) => id === 'interrupted').length, 1)
  })

  it('has only successful calls in the books', async () => {
    const { calls, metered, state, problem } = await owner.cli<ApiView>('api show judge')
    assert.deepEqual([state, problem], ['published', null])
    assert.deepEqual([calls.captured, metered], [2, '0.02'])
  })

  it('reports an error in bounded time if the owner stays away', async () => {
    const { answer } = await killDuring('lost')
    api.release()
    const { status, json, toldMs } = await answer
    assert.ok(toldMs < TOLD_MS, `told after ${toldMs} ms`)
    assertInterrupted(status, json as Problem)
    const next = await call('unreachable')
    assert.deepEqual([next.status, (next.json as Problem).code], [503, 'owner_unreachable'])
    assert.ok(next.ms < TOLD_MS, `told after ${next.ms} ms`)
  })

  it('serves its listings again after a restart, without any command', async () => {
    await api.close()
    owner = await home.asProcess.up('owner', '--no-ingress')
    const { state, problem } = await owner.cli<ApiView>('api show judge')
    assert.deepEqual([state, problem], ['published', null])
    const down = await eventually('the owner to be found again', 10_000, async () => {
      const { status, json } = await call('down')
      const { code } = json as Problem
      if (code !== 'owner_unreachable') return { status, code }
      return undefined
    })
    assert.deepEqual(down, { status: 502, code: 'upstream_unreachable' })
    await api.open()
    assert.deepEqual(await recovers('again', 5_000), [])
    assert.deepEqual(api.reached, ['first', 'interrupted', 'next', 'lost', 'again'])
  })
})

function assertInterrupted(status: number, problem: Problem): void {
  assert.deepEqual([status, problem.code], [502, 'call_interrupted'])
  assert.deepEqual([problem.charged, problem.amount_charged, problem.retryable], [false, '0', true])
}

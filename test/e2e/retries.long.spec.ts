import assert from 'node:assert/strict'
import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Problem } from '../../lib/index.ts'
import type { IssuedKeyView } from '../../node/admin/accounts/key-api.ts'
import { eventually } from '../helpers/eventually.ts'
import { type Answered, post } from '../helpers/ingress-client.ts'
import { type JudgeApi, judgeApi } from '../helpers/judge-api.ts'
import { startPostgres, type TestPostgres } from '../helpers/postgres.ts'
import { type HomeNode, type NodeProcess, type SoukHome, soukHome, tellWhenFailed } from '../helpers/souk-home.ts'

describe('retries and limits: an owner, and two ingresses that share their keys', () => {
  let postgres: TestPostgres
  let home: SoukHome
  let api: JudgeApi
  let owner: NodeProcess
  let ingresses: [NodeProcess, HomeNode]
  let key: string

  const joining = () => ['--store', store, '--bootstrap', ...owner.p2p]
  let store: string

  before(async () => {
    postgres = await startPostgres()
    home = await soukHome()
    api = await judgeApi('judge')
    store = await postgres.create()
    owner = await home.asProcess.up('owner', '--no-ingress')
    const first = await home.asProcess.up('one', ...joining())
    // Nodes that share keys need the same pepper, because keys are hashed with it.
    await mkdir(join(home.directory, 'two'), { mode: 0o700 })
    await copyFile(join(home.directory, 'one', 'pepper'), join(home.directory, 'two', 'pepper'))
    ingresses = [first, await home.up('two', ...joining())]
    const terms = `--protocol REST --endpoint ${api.url} --price 0.01`
    await owner.cli(`api register --name judge ${terms}`)
    await owner.cli(`api register --name rare ${terms} --rate 5/1h --in-flight 3`)
    ;({ key } = await first.cli<IssuedKeyView>('key issue'))
  })
  tellWhenFailed(() => home)
  after(async () => {
    await home.close()
    await api.close()
    await postgres.stop()
  })

  const call = (at: 0 | 1, id: string, name = 'judge', headers: Record<string, string> = { 'idempotency-key': id }) =>
    post(ingresses[at].ingress, name, { key, body: { id }, headers })
  const hits = (id: string) => api.reached.filter((reached) => reached === id).length
  const codeOf = ({ json }: Answered) => (json as Problem).code
  const isReplayed = ({ headers }: Answered) => headers.get('idempotency-replayed') === 'true'
  /** Repeats the call until the first attempt has ended. */
  const settled = (at: 0 | 1, id: string) =>
    eventually(`${id} to be over`, 20_000, async () => {
      const answer = await call(at, id)
      return codeOf(answer) === 'idempotency_in_flight' ? undefined : answer
    })

  it('repeat the response of the first call through the other ingress, without a charge', async () => {
    const first = await call(0, 'a')
    assert.deepEqual([first.status, isReplayed(first)], [200, false])
    for (const at of [0, 1] as const) {
      const again = await call(at, 'a')
      assert.deepEqual([again.status, again.text, isReplayed(again)], [200, first.text, true])
      assert.equal(again.headers.get('souk-charged'), '0')
    }
    assert.equal(hits('a'), 1)
    const other = await post(ingresses[1].ingress, 'judge', {
      key,
      body: { id: 'b' },
      headers: { 'idempotency-key': 'a' }
    })
    assert.deepEqual([other.status, codeOf(other)], [422, 'idempotency_mismatch'])
  })

  it('run only one of many concurrent calls with one key', async () => {
    const many = await Promise.all(Array.from({ length: 50 }, (_, n) => call((n % 2) as 0 | 1, 'many')))
    assert.equal(hits('many'), 1)
    for (const answer of many) {
      if (answer.status === 200) continue
      assert.deepEqual(
        [answer.status, codeOf(answer), answer.headers.get('retry-after')],
        [409, 'idempotency_in_flight', '1']
      )
    }
    assert.equal(many.filter((answer) => answer.status === 200 && !isReplayed(answer)).length, 1)
  })

  it('keep the response of a call whose ingress was killed', async () => {
    api.hold()
    const lost = assert.rejects(call(0, 'ingress killed'))
    await eventually('the call to reach the API', 10_000, () => (api.held > 0 ? true : undefined))
    await ingresses[0].end('SIGKILL')
    await lost
    assert.equal(codeOf(await call(1, 'ingress killed')), 'idempotency_in_flight')
    api.release()
    const again = await settled(1, 'ingress killed')
    assert.deepEqual([again.status, isReplayed(again), hits('ingress killed')], [200, true, 1])
    ingresses[0] = await home.asProcess.up('one', ...joining())
  })

  it('do not run a call again that was running when its owner was killed', async () => {
    api.hold()
    const first = call(1, 'owner killed')
    await eventually('the call to reach the API', 10_000, () => (api.held > 0 ? true : undefined))
    await owner.end('SIGKILL')
    api.release()
    owner = await home.asProcess.up('owner', '--no-ingress')
    assert.equal(codeOf(await first), 'call_interrupted')
    for (const at of [0, 1] as const) {
      const again = await eventually('the owner to be found', 20_000, async () => {
        const answer = await call(at, 'owner killed')
        return answer.status === 503 ? undefined : answer
      })
      assert.deepEqual([again.status, codeOf(again), (again.json as Problem).charged], [502, 'call_interrupted', false])
    }
    assert.equal(hits('owner killed'), 1)
    assert.equal((await call(0, 'another key')).status, 200)
    // Responses from before the kill are still available.
    assert.deepEqual([isReplayed(await call(1, 'many')), hits('many')], [true, 1])
  })

  it('limit one key to one rate across both ingresses, and do not count rejected calls', async () => {
    const calls = Array.from({ length: 12 }, (_, n) => ({ at: (n % 2) as 0 | 1, id: `rare ${n}` }))
    const answers: Answered[] = []
    for (const { at, id } of calls) answers.push(await call(at, id, 'rare', {}))
    const taken = answers.filter(({ status }) => status === 200)
    assert.equal(taken.length, 5)
    for (const [n, { headers }] of taken.entries()) {
      assert.equal(headers.get('ratelimit-policy'), '"default";q=5;w=3600')
      assert.match(headers.get('ratelimit') ?? '', new RegExp(`^"default";r=${4 - n};t=\\d+$`))
    }
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      assert.deepEqual([answer.status, codeOf(answer)], [429, 'rate_limited'])
      assert.ok(Number(answer.headers.get('retry-after')) > 600)
    }
    assert.equal(calls.filter(({ id }) => hits(id) > 0).length, 5)
  })

  it('reject concurrent calls above the limit, and recover afterwards', async () => {
    api.hold()
    const { key: other } = await ingresses[1].cli<IssuedKeyView>('key issue')
    const callRare = (n: number) =>
      post(ingresses[(n % 2) as 0 | 1].ingress, 'rare', { key: other, body: { id: `burst ${n}` } })
    const many = Array.from({ length: 300 }, (_, n) => callRare(n))
    const shed: Answered[] = []
    for (const answering of many)
      void answering.then((answer) => answer.status === 503 && shed.push(answer)).catch(() => {})
    await eventually('the rest to be shed', 20_000, () => (shed.length === 297 ? true : undefined))
    for (const answer of shed) {
      assert.deepEqual([codeOf(answer), answer.headers.get('retry-after')], ['overloaded', '1'])
      assert.ok(answer.ms < 15_000)
    }
    api.release()
    const answers = await Promise.all(many)
    assert.equal(answers.filter(({ status }) => status === 200).length, 3)
    assert.equal((await callRare(1_000)).status, 200)
  })
})

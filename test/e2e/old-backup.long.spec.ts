import assert from 'node:assert/strict'
import { copyFile, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Problem } from '../../lib/index.ts'
import type { ApiView } from '../../node/admin/api.ts'
import type { IssuedKeyView } from '../../node/admin/accounts/key-api.ts'
import { eventually } from '../helpers/eventually.ts'
import { type Answered, post } from '../helpers/ingress-client.ts'
import { type JudgeApi, judgeApi } from '../helpers/judge-api.ts'
import { startPostgres, type TestPostgres } from '../helpers/postgres.ts'
import { type NodeProcess, type SoukHome, soukHome, tellWhenFailed } from '../helpers/souk-home.ts'

const BOUND_MS = 20_000

describe('an owner that is restored from an old backup', () => {
  let home: SoukHome
  let backup: string
  let owner: NodeProcess
  let consumer: NodeProcess
  let api: JudgeApi
  let key: string

  before(async () => {
    home = await soukHome()
    backup = join(home.directory, 'kept')
    api = await judgeApi('judge')
    owner = await home.asProcess.up('owner', '--no-ingress')
    consumer = await home.asProcess.up('consumer', '--bootstrap', ...owner.p2p)
    await owner.cli(`api register --name judge --protocol REST --endpoint ${api.url} --price 0.01`)
    ;({ key } = await consumer.cli<IssuedKeyView>('key issue'))
  })
  tellWhenFailed(() => home)
  after(async () => {
    await home.close()
    await api.close()
  })

  const call = (id: string) =>
    post(consumer.ingress, 'judge', { key, body: { id }, headers: { 'idempotency-key': id } })
  /** Repeats the call until the owner is found again. */
  const answered = (id: string): Promise<Answered> =>
    eventually(`${id} to be answered`, BOUND_MS, async () => {
      const answer = await call(id)
      return answer.status === 503 ? undefined : answer
    })
  const hits = (id: string) => api.reached.filter((reached) => reached === id).length

  /** Replaces the owner's profile with the backup. */
  async function restore(): Promise<void> {
    await rm(join(home.directory, 'owner'), { recursive: true })
    const { code, stderr } = await home.run(`--profile owner restore ${backup}`)
    assert.equal(code, 0, stderr)
    owner = await home.asProcess.up('owner', '--no-ingress')
  }

  it('repeats responses that are in the backup, without a second charge', async () => {
    assert.equal((await call('known')).status, 200)
    await owner.cli(`backup ${backup}`)
    for (const id of ['later', 'latest']) assert.equal((await call(id)).status, 200)
    await owner.end('SIGKILL')
    await restore()
    const again = await answered('known')
    assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [200, 'true'])
    assert.equal(again.headers.get('souk-charged'), '0')
    assert.equal(hits('known'), 1)
  })

  it('does not run calls again whose keys were first used after the backup', async () => {
    for (const id of ['later', 'latest', 'latest']) {
      const { status, json, headers } = await answered(id)
      assert.deepEqual([status, (json as Problem).code], [502, 'call_interrupted'])
      assert.equal(headers.get('souk-charged') ?? '0', '0')
      assert.equal(hits(id), 1)
    }
  })

  it('does not run such calls again after restarts of consumer and owner', async () => {
    await consumer.end('SIGKILL')
    await owner.end('SIGKILL')
    consumer = await home.asProcess.up('consumer')
    owner = await home.asProcess.up('owner', '--no-ingress')
    for (const id of ['later', 'latest']) {
      const { status, json } = await answered(id)
      assert.deepEqual([status, (json as Problem).code, hits(id)], [502, 'call_interrupted', 1])
    }
  })

  it('serves new calls, and its books have these and those of the backup', async () => {
    assert.equal((await answered('new')).status, 200)
    const { calls, metered } = await owner.cli<ApiView>('api show judge')
    assert.deepEqual([calls.captured, metered], [2, '0.02'])
  })

  it('does not run a call again that was running at the crash and is not in the backup', async () => {
    api.hold()
    const lost = call('under way')
    await eventually('the call to reach the API', BOUND_MS, () => (api.held > 0 ? true : undefined))
    await owner.end('SIGKILL')
    api.release()
    await restore()
    const { status, json } = await lost
    assert.deepEqual([status, (json as Problem).code, hits('under way')], [502, 'call_interrupted', 1])
    const again = await answered('under way')
    assert.deepEqual([(again.json as Problem).code, hits('under way')], ['call_interrupted', 1], 'the call ran again')
  })
})

describe('an owner that is restored from an old backup, and two ingresses that share their keys', () => {
  let postgres: TestPostgres
  let home: SoukHome
  let api: JudgeApi

  before(async () => {
    postgres = await startPostgres()
    home = await soukHome()
    api = await judgeApi('judge')
  })
  tellWhenFailed(() => home)
  after(async () => {
    await home.close()
    await api.close()
    await postgres.stop()
  })

  it('does not run a call again that came through the other ingress, which was killed', async () => {
    const backup = join(home.directory, 'kept')
    let owner = await home.asProcess.up('owner', '--no-ingress')
    const joining = ['--store', await postgres.create(), '--bootstrap', ...owner.p2p]
    const one = await home.asProcess.up('one', ...joining)
    await mkdir(join(home.directory, 'two'), { mode: 0o700 })
    await copyFile(join(home.directory, 'one', 'pepper'), join(home.directory, 'two', 'pepper'))
    const two = await home.up('two', ...joining)
    await owner.cli(`api register --name judge --protocol REST --endpoint ${api.url} --price 0.01`)
    const { key } = await one.cli<IssuedKeyView>('key issue')
    const call = (ingress: string, id: string) =>
      post(ingress, 'judge', { key, body: { id }, headers: { 'idempotency-key': id } })
    assert.equal((await call(one.ingress, 'before')).status, 200)
    await owner.cli(`backup ${backup}`)
    assert.equal((await call(one.ingress, 'after')).status, 200)
    await one.end('SIGKILL')
    await owner.end('SIGKILL')
    await rm(join(home.directory, 'owner'), { recursive: true })
    assert.equal((await home.run(`--profile owner restore ${backup}`)).code, 0)
    owner = await home.asProcess.up('owner', '--no-ingress')
    const answers = async (id: string) =>
      eventually(`${id} to be answered`, BOUND_MS, async () => {
        const answer = await call(two.ingress, id)
        return answer.status === 503 ? undefined : answer
      })
    assert.equal((await answers('before')).headers.get('idempotency-replayed'), 'true')
    assert.equal(((await answers('after')).json as Problem).code, 'call_interrupted')
    assert.deepEqual(api.reached, ['before', 'after'])
  })
})

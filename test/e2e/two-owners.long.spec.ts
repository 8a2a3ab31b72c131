import assert from 'node:assert/strict'
import type { Problem } from '../../lib/index.ts'
import type { ApiView, RegisteredView } from '../../node/admin/api.ts'
import type { SearchView } from '../../node/admin/market/market-api.ts'
import type { IssuedKeyView } from '../../node/admin/accounts/key-api.ts'
import { eventually } from '../helpers/eventually.ts'
import { type Answered, post } from '../helpers/ingress-client.ts'
import { type JudgeApi, judgeApi } from '../helpers/judge-api.ts'
import { type HomeNode, type NodeProcess, type SoukHome, soukHome, tellWhenFailed } from '../helpers/souk-home.ts'

const CALLS = 30

describe('two owner nodes that serve one API', () => {
  let home: SoukHome
  let provider: NodeProcess
  let replica: NodeProcess
  let consumer: HomeNode
  let near: JudgeApi
  let far: JudgeApi
  let key: string

  before(async () => {
    home = await soukHome()
    ;[near, far] = await Promise.all([judgeApi('provider'), judgeApi('replica')])
    provider = await home.asProcess.up('provider', '--no-ingress')
    ;[replica, consumer] = await Promise.all([
      home.asProcess.up('replica', '--no-ingress', '--bootstrap', ...provider.p2p),
      home.up('consumer', '--bootstrap', ...provider.p2p)
    ])
    const terms = `--protocol REST --price 0.01 --endpoint ${near.url}`
    await provider.cli(`api register --name plain ${terms}`)
    await provider.cli(`api register --name repeatable ${terms} --idempotent`)
    ;({ key } = await consumer.cli<IssuedKeyView>('key issue'))
  })
  tellWhenFailed(() => home)
  after(async () => {
    await home.close()
    await Promise.all([near.close(), far.close()])
  })

  const call = (name: string, id: string) => post(consumer.ingress, name, { key, body: { id } })

  /** Makes sequential calls, which must all succeed. Returns the APIs that responded. */
  async function answerers(name: string, calls = CALLS): Promise<Set<string>> {
    const by = new Set<string>()
    for (let i = 0; i < calls; i++) {
      const answered = await call(name, `${name}-${i}`)
      assert.equal(answered.status, 200, answered.text)
      by.add(answererOf(answered))
    }
    return by
  }

  it('requires the provider’s delegation before a node may serve it', async () => {
    const api = `api serve plain@${provider.peer} --endpoint ${far.url}`
    const refused = await home.run(`--profile replica --json ${api}`)
    assert.equal(refused.code, 77)
    assert.match(refused.stderr, /key_not_permitted/)
    assert.match(
      refused.stderr,
      new RegExp(`souk provider delegate ${replica.peer}`),
      'the error does not name the provider’s command'
    )

    await provider.cli(`provider delegate ${replica.peer}`)
    // On a busy machine the record with the delegation may arrive later.
    const { api: served } = await eventually('the delegation', 20_000, async () => {
      const { code, stdout, stderr } = await home.run(`--profile replica --json ${api}`)
      if (code === 0) return JSON.parse(stdout) as RegisteredView
      assert.match(stderr, /key_not_permitted/)
      return undefined
    })
    assert.deepEqual([served.id, served.own, served.state], [`plain@${provider.peer}`, false, 'published'])
    await replica.cli(`api serve repeatable@${provider.peer} --endpoint ${far.url}`)
  })

  it('is one API for consumers, and both nodes serve its calls', async () => {
    const { listings } = await consumer.cli<SearchView>('search plain')
    assert.deepEqual(
      listings.map(({ id }) => id),
      [`plain@${provider.peer}`]
    )
    await eventually('both to answer', 10_000, async () => {
      const by = await answerers('plain', 5)
      return by.size === 2 ? true : undefined
    })
  })

  it('continues without failed calls when the replica is killed', async () => {
    await replica.end('SIGKILL')
    assert.deepEqual([...(await answerers('plain'))], ['provider'])
  })

  it('serves again after a restart without any command', async () => {
    replica = await home.asProcess.up('replica', '--no-ingress')
    const { state, own, problem } = await replica.cli<ApiView>('api show plain')
    assert.deepEqual({ state, own, problem }, { state: 'published', own: false, problem: null })
  })

  it('repeats a call at the other node only if the provider allows it', async () => {
    near.hold()
    const calls = new Map<string, Promise<Answered>>()
    const heldOf = (name: string) => near.reached.filter((id) => id.startsWith(`${name}-held-`))
    // The consumer prefers the faster owner and sometimes tries the other, so call until the provider has both.
    await eventually('calls of both APIs to be held at the provider', 10_000, () => {
      const missing = ['plain', 'repeatable'].filter((name) => heldOf(name).length === 0)
      for (const name of missing.flatMap((name) => Array.from({ length: 4 }, () => name))) {
        const id = `${name}-held-${calls.size}`
        calls.set(id, call(name, id))
      }
      return missing.length === 0 ? true : undefined
    })
    const plain = heldOf('plain')
    await provider.end('SIGKILL')
    near.release()
    for (const [id, answer] of calls) {
      const { status, text, json } = await answer
      if (status === 200) {
        assert.deepEqual([text, plain.includes(id)], [JSON.stringify({ id, by: 'replica' }), false])
      } else {
        // The call may have run at the killed provider, so the replica must not run it.
        assert.deepEqual([status, (json as Problem).code], [502, 'call_interrupted'], id)
        assert.ok(id.startsWith('plain'), `${id} was not repeated`)
        assert.equal(far.reached.includes(id), false, `${id} ran twice`)
      }
    }
  })

  it("continues without failed calls when the provider's own node is killed", async () => {
    assert.deepEqual([...(await answerers('plain'))], ['replica'])
    assert.deepEqual([...(await answerers('repeatable', 5))], ['replica'])
  })

  it('is found by a new consumer while the provider is offline', async () => {
    const newcomer = await home.up('newcomer', '--bootstrap', ...consumer.p2p)
    const issued = await newcomer.cli<IssuedKeyView>('key issue')
    const answered = await eventually('a newcomer to find it', 10_000, async () => {
      const answered = await post(newcomer.ingress, 'plain', { key: issued.key, body: { id: 'newcomer' } })
      return answered.status === 200 ? answered : undefined
    })
    assert.equal(answererOf(answered), 'replica')
  })
})

function answererOf({ json }: Answered): string {
  return (json as { by: string }).by
}

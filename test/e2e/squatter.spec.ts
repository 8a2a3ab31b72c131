import assert from 'node:assert/strict'
import type { IssuedKeyView } from '../../node/admin/accounts/key-api.ts'
import { eventually } from '../helpers/eventually.ts'
import { post } from '../helpers/ingress-client.ts'
import { judgeApi, type JudgeApi } from '../helpers/judge-api.ts'
import { type HomeNode, type NodeProcess, type SoukHome, soukHome, tellWhenFailed } from '../helpers/souk-home.ts'

/** An attacker registers the name of another provider's API, for free, to attract its calls. */
describe('a squatter of a name', () => {
  let home: SoukHome
  let honest: JudgeApi
  let squatting: JudgeApi
  let provider: NodeProcess
  let consumer: HomeNode
  /** Key for the provider's API only, by its id. */
  let bound: string
  /** Key for all APIs. */
  let open: string
  let calls = 0

  const call = (key: string, api = 'quotes') => post(consumer.ingress, api, { key, body: { id: `call ${calls++}` } })
  const codeOf = ({ json }: { readonly json: unknown }) => (json as { code?: string }).code

  before(async () => {
    home = await soukHome()
    ;[honest, squatting] = await Promise.all([judgeApi('honest'), judgeApi('squatter')])
    provider = await home.asProcess.up('provider', '--no-ingress')
    const bootstrap = ['--bootstrap', ...provider.p2p]
    const [squatter, consuming] = await Promise.all([
      home.up('squatter', '--no-ingress', ...bootstrap),
      home.up('consumer', ...bootstrap)
    ])
    consumer = consuming
    await provider.cli(`api register --name quotes --protocol REST --price 0.01 --endpoint ${honest.url}`)
    await provider.cli('plan set quotes basic --included 100')
    ;({ key: bound } = await consumer.cli<IssuedKeyView>(`key issue --api quotes@${provider.peer}`))
    ;({ key: open } = await consumer.cli<IssuedKeyView>('key issue'))
    await squatter.cli(`api register --name quotes --protocol REST --price 0 --endpoint ${squatting.url}`)
    await eventually('two of the name to be known', 15_000, async () => {
      const answered = await call(open)
      return codeOf(answered) === 'name_conflict' ? true : undefined
    })
  })
  tellWhenFailed(() => home)
  after(async () => {
    await home?.close()
    await Promise.all([honest?.close(), squatting?.close()])
  })

  it('gets no calls from a key for the provider’s API, by bare name or full id', async () => {
    const before = squatting.reached.length
    for (const name of ['quotes', `quotes@${provider.peer}`]) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => call(bound, name)))
      assert.deepEqual(
        answers.filter(({ json }) => (json as { by?: string }).by !== 'honest').map(({ text }) => text),
        []
      )
    }
    assert.equal(squatting.reached.length, before)
  })

  it('gets no calls from an unrestricted key after its node subscribed to the provider’s API', async () => {
    const before = squatting.reached.length
    assert.equal((await call(open)).status, 409)
    await consumer.cli(`subscribe quotes@${provider.peer} --plan basic --max-price 0`)
    const answers = await Promise.all(Array.from({ length: 10 }, () => call(open)))
    assert.deepEqual(
      answers.map(({ json }) => (json as { by?: string }).by),
      answers.map(() => 'honest')
    )
    assert.equal(squatting.reached.length, before)
  })

  it('gets no calls when the provider is killed: the calls fail', async () => {
    const before = squatting.reached.length
    await provider.end('SIGKILL')
    for (const key of [bound, open]) {
      const { status, json } = await call(key)
      assert.ok(status >= 500, JSON.stringify(json))
    }
    assert.equal(squatting.reached.length, before)
  })
})

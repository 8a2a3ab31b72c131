import assert from 'node:assert/strict'
import { startUpstream, type Upstream } from '../../../helpers/echo-api.ts'
import { type SoukHome, soukHome } from '../../../helpers/souk-home.ts'

describe('souk search', () => {
  let home: SoukHome
  let api: Upstream

  before(async () => {
    home = await soukHome()
    api = await startUpstream()
    await home.up('default', '--no-ingress')
    const { code, stderr } = await home.run(
      `api register --name quotes --protocol REST --endpoint ${api.url} --price 0`
    )
    assert.equal(code, 0, stderr)
  })
  after(async () => {
    await home?.close()
    await api?.close()
  })

  it('suggests the name of an API for a mistyped one', async () => {
    const found = await home.run('search qoutes')
    assert.equal(found.code, 0)
    assert.match(found.stderr, /^No API found\. Did you mean quotes\?$/m)
    assert.deepEqual(JSON.parse((await home.run('search qoutes --json')).stdout), { listings: [], next: null })
  })

  it('suggests an API of which one word is mistyped', async () => {
    const { code } = await home.run(`api register --name live-candles --protocol REST --endpoint ${api.url} --price 0`)
    assert.equal(code, 0)
    assert.match((await home.run('search candels')).stderr, /^No API found\. Did you mean live-candles\?$/m)
  })

  it('finds nothing by a text without letters and digits', async () => {
    assert.match((await home.run('search %')).stderr, /^No API found\.$/m)
  })
})

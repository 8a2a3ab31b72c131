import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type SoukHome, soukHome } from '../../../helpers/souk-home.ts'

describe('souk up', () => {
  let home: SoukHome
  before(async () => {
    home = await soukHome()
  })
  after(() => home.close())

  it('warns of settings that do not exist, and starts without them', async () => {
    await (await home.up('shop')).end()
    const file = join(home.directory, 'shop', 'profile.json')
    const saved = JSON.parse(await readFile(file, 'utf8')) as object
    await writeFile(file, JSON.stringify({ ...saved, ingresPort: 99_999, zzz: 1 }))
    const env = { SOUK_INGRES_HOST: '0.0.0.0', SOUK_KEY: 'a client’s own', SOUK_INGRESS_PORT: 'none' }
    // A wrong value of a known setting ends the command before it starts a node.
    const wrong = await home.run('up --profile shop', [], { env })
    assert.match(wrong.stderr, /SOUK_INGRESS_PORT is not valid/)

    const node = await home.up('shop')
    const { stderr } = await node.end()
    assert.match(
      stderr,
      /^warning: profile\.json: "ingresPort" is not a setting, so it has no effect\. Did you mean ingressPort\?$/m
    )
    assert.match(stderr, /^warning: profile\.json: "zzz" is not a setting, so it has no effect\.$/m)
    assert.doesNotMatch(stderr, /"(?:network|adminPort|p2pPort)"/)
  })

  it('warns of a mistyped variable, and of no other program’s', async () => {
    const env = { SOUK_INGRES_HOST: '0.0.0.0', SOUK_KEY: 'a client’s own', SOUK_SERVICE_PORT: '80' }
    const { unknownSettings } = await import('../../../../node/cli/options/unknown-settings.ts')
    const profile = { name: 'none', directory: join(home.directory, 'none') }
    assert.deepEqual(await unknownSettings(profile, env), [
      'warning: SOUK_INGRES_HOST in the environment is not a setting, so it has no effect. Did you mean SOUK_INGRESS_HOST?'
    ])
  })
})

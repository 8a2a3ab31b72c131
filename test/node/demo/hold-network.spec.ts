import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { holdNetwork } from '../../../node/demo/hold-network.ts'
import { type SoukHome, soukHome } from '../../helpers/souk-home.ts'

describe('a second demo', () => {
  let home: SoukHome

  before(async () => {
    home = await soukHome()
  })
  after(() => home.close())

  it('is refused while the first one runs in the same home, and says where that is', async () => {
    const held = await holdNetwork('demo', { SOUK_HOME: home.directory })
    const starting = await home.run('demo')
    assert.deepEqual([starting.code, starting.stdout], [1, ''])
    assert.ok(
      starting.stderr.startsWith(`souk: The demo already runs on this machine, in ${home.directory}.\nTry: souk `)
    )
    const profile = join(home.directory, 'demo-consumer')
    await mkdir(profile, { mode: 0o700 })
    await writeFile(join(profile, 'running.json'), '{"ingress":"http://127.0.0.1:8402"}', { mode: 0o600 })
    const running = await home.run('demo --json')
    const { error } = JSON.parse(running.stderr) as { error: { code: string; what: string } }
    assert.deepEqual(error.what, 'The demo already runs on this machine, at http://127.0.0.1:8402/.')
    held.release()
    const again = await holdNetwork('demo', { SOUK_HOME: home.directory })
    again.release()
  })
})

import assert from 'node:assert/strict'
import { main } from '../../../../node/cli/program.ts'
import { type HomeNode, type SoukHome, soukHome } from '../../../helpers/souk-home.ts'
import { testTerminal } from '../../../helpers/test-terminal.ts'

describe('souk console', () => {
  let home: SoukHome
  let node: HomeNode

  before(async () => {
    home = await soukHome()
    node = await home.up('default', '--no-ingress')
  })
  after(() => home.close())

  const opening = async (args: readonly string[], answers?: readonly string[]) => {
    const env = { SOUK_HOME: home.directory, SOUK_WATCHDOG: '0' }
    const terminal = testTerminal(answers === undefined ? { env } : { env, answers })
    assert.equal(await main([...args, 'console'], terminal), 0, terminal.stderr())
    return terminal
  }

  it('opens a link with a code in its fragment, on a terminal', async () => {
    const terminal = await opening([], [])
    const [link = ''] = terminal.opened
    assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/#code=[0-9A-Z]{4}-[0-9A-Z]{4}$/)
    assert.ok(link.startsWith(node.ready.admin))
    assert.ok(terminal.stdout().includes(link))
    assert.match(terminal.stdout(), /once, until \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/m)
  })

  it('only prints the link without a terminal, and for scripts', async () => {
    assert.deepEqual((await opening([])).opened, [])
    const json = await opening(['--json'], [])
    assert.deepEqual(json.opened, [])
    const { link, code, url } = JSON.parse(json.stdout()) as Record<string, string>
    assert.equal(link, `${url}/#code=${code}`)
    const printed = await home.run('console --no-open')
    assert.match(printed.stdout, /#code=/)
  })

  it('writes the code to no log', () => {
    assert.doesNotMatch(home.log(), /#code=/)
  })
})

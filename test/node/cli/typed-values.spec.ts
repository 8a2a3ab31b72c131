import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { main } from '../../../node/cli/program.ts'
import { type SoukHome, soukHome } from '../../helpers/souk-home.ts'
import { testTerminal } from '../../helpers/test-terminal.ts'

const ADDRESS = '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf'
const MISTYPED = ADDRESS.replace('7E', '7e')

/** Each needs a node, a chain or an answer, and there is none of them: a valid command line would exit otherwise. */
const WRONG: ReadonlyArray<readonly [command: string, args: readonly string[], message: RegExp]> = [
  ['mcp', ['--api', 'bad name'], /"bad name" is not an API name/],
  ['mcp', ['--api', 'name@zzz', '--ingress', 'http://127.0.0.1:9'], /"zzz" is not a provider id/],
  ['sell http://127.0.0.1:9', ['--name', 'Bad'], /"Bad" is not an API name/],
  ['sell http://127.0.0.1:9', ['--wait-ms', 'soon'], /whole number/],
  [`wallet withdraw 0 --to ${ADDRESS}`, [], /amount above 0/],
  ['wallet withdraw 1 --to 0x12', [], /is not an address/],
  [`wallet withdraw 1 --to ${MISTYPED}`, [], /checksum/],
  ['wallet deposit 0', [], /amount above 0/],
  ['payout set 0x12', [], /is not an address/],
  ['dev give 0x12', [], /is not an address/],
  [`dev give ${ADDRESS} --usdc 0`, [], /amount above 0/],
  ['disputes take-back zzz --peer zzz', [], /not a peer id/],
  ['conformance peer zzz', [], /"zzz" is not the address of a peer with its id/],
  ['search --limit 0', [], /whole number above 0/],
  ['search --max-price cheap', [], /decimal number/],
  ['key issue --manages', [], /--manages needs --account/],
  ['init --network dev', ['--api-name', 'Bad Name'], /"Bad Name" is not an API name/]
]

describe('values typed on the command line', () => {
  let home: SoukHome

  before(async () => {
    home = await soukHome()
  })
  after(() => home.close())

  for (const [command, args, message] of WRONG) {
    it(`are checked before anything else: ${command} ${args.join(' ')}`, async () => {
      const terminal = testTerminal({ env: { SOUK_HOME: home.directory }, answers: [] })
      assert.equal(await main([...command.split(' '), ...args], terminal), 64, terminal.stderr())
      assert.match(terminal.stderr(), message)
      assert.deepEqual([terminal.stdout(), terminal.asked], ['', []])
    })
  }

  it('create no profile', () => {
    assert.ok(!existsSync(join(home.directory, 'default')))
  })
})

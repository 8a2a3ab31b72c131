import assert from 'node:assert/strict'
import { execFile, type ExecFileOptions } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { pack } from '../../.ci/pack.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const INSTALL_MS = 300_000
const DEMO_MS = 120_000
/** sysexits: EX_CONFIG. */
const EXIT_CONFIG = 78
const NODE_MAJOR_MIN = 24

interface Ended {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** Asynchronous, because a blocked event loop ends the tests. */
function run(file: string, args: readonly string[], options: ExecFileOptions = {}): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(file, args, { ...options, encoding: 'utf8' }, (error, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      resolve({ status, stdout, stderr })
    })
  })
}

/** The first `node` of PATH that is older than Souk's. */
async function olderNode(): Promise<string | undefined> {
  for (const directory of (process.env['PATH'] ?? '').split(delimiter).concat('/usr/bin', '/usr/local/bin')) {
    const path = join(directory, 'node')
    const { stdout } = await run(path, ['--version'])
    const major = /^v(\d+)\./.exec(stdout)?.[1]
    if (major !== undefined && Number(major) < NODE_MAJOR_MIN) return path
  }
  return undefined
}

/** docs/how-to/install.md, literally: a tarball, an empty prefix, an empty home. */
describe('a tarball', function () {
  this.timeout(INSTALL_MS + DEMO_MS)
  let scratch: string
  let prefix: string
  let env: NodeJS.ProcessEnv

  before(async () => {
    scratch = mkdtempSync(join(tmpdir(), 'souk-install-'))
    prefix = join(scratch, 'prefix')
    for (const name of ['prefix', 'home', 'elsewhere']) mkdirSync(join(scratch, name))
    const tarball = pack(scratch)
    const page = readFileSync(join(ROOT, 'docs/how-to/install.md'), 'utf8')
    const anvil = /npm install --global (@foundry-rs\/anvil@[\d.]+)/.exec(page)?.[1] ?? ''
    const startedAt = performance.now()
    for (const [name, from] of [
      ['souk', tarball],
      ['anvil', anvil]
    ] as const) {
      const options = ['--global', '--prefix', prefix, '--no-audit', '--no-fund', '--prefer-offline']
      const { status, stderr } = await run('npm', ['install', ...options, from], { cwd: scratch })
      assert.equal(status, 0, `${name}: ${stderr}`)
    }
    console.log(`    installed in ${Math.round((performance.now() - startedAt) / 1_000)} s, with 2 commands`)
    // Nothing of this checkout: the commands of the prefix, and the Node.js that Souk needs.
    const path = [join(prefix, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter)
    env = { PATH: path, HOME: join(scratch, 'home') }
  })
  after(() => rm(scratch, { recursive: true, force: true }))

  it('runs the whole demo', async () => {
    const options = { env, cwd: join(scratch, 'elsewhere'), timeout: DEMO_MS }
    const startedAt = performance.now()
    const { status, stdout, stderr } = await run(join(prefix, 'bin/souk'), ['demo', '--once', '--json'], options)
    assert.equal(status, 0, stderr)
    console.log(`    demo in ${Math.round((performance.now() - startedAt) / 1_000)} s, with 1 command`)
    const { calls, settlement } = JSON.parse(stdout) as {
      calls: Array<{ status: number }>
      settlement: { total: string }
    }
    assert.deepEqual(
      calls.map(({ status: each }) => each),
      [200, 200, 200]
    )
    assert.equal(settlement.total, '0.023')
  })

  it('says in one line what an older Node.js lacks', async () => {
    const node = await olderNode()
    if (node === undefined) {
      console.log('    This machine has no Node.js older than 24: only `usage.spec.ts` checks the line.')
      return
    }
    const { status, stdout, stderr } = await run(node, [join(prefix, 'bin/souk'), 'demo'], { env })
    assert.deepEqual([status, stdout], [EXIT_CONFIG, ''])
    assert.match(
      stderr,
      /^souk: This needs Node\.js 24 or newer, and runs on v\d+\.\d+\.\d+\. Try: nvm install 24, [^\n]+\n$/
    )
  })
})

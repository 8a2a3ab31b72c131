import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { main } from '../../../node/cli/program.ts'
import type { Terminal } from '../../../node/cli/terminal.ts'
import { souk, type NodeProcess, startNode, startUpstream, type Upstream } from './harness.ts'

const MAIN = resolve(import.meta.dirname, '../../../node/main.ts')

describe('souk completion', function () {
  this.timeout(60_000)
  let home: string

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'souk-completion-'))
    process.env['SOUK_HOME'] = home
    for (const name of ['shop', 'stall']) await mkdir(join(home, name))
  })
  after(async () => {
    delete process.env['SOUK_HOME']
    await rm(home, { recursive: true })
  })

  /** The words offered, with what they are. */
  async function offered(...typed: string[]): Promise<Map<string, string>> {
    let stdout = ''
    const never = () => assert.fail('somebody was asked or told')
    const write = async (text: string | Uint8Array) => void (stdout += String(text))
    const terminal: Terminal = { stdin: process.stdin, write, note: never, canAsk: false, ask: never, askSecret: never }
    assert.equal(await main(['completion', 'words', '--', ...typed], terminal), 0)
    return new Map(stdout.split('\n').map((line) => line.split('\t') as [string, string]))
  }
  const words = async (...typed: string[]) => [...(await offered(...typed)).keys()].filter((word) => word !== '')

  it('offers commands with what they do, and those of a group below it', async () => {
    assert.match((await offered('')).get('doctor') ?? '', /checks this node/)
    assert.deepEqual(await words('do'), ['doctor'])
    assert.ok((await words('api', '')).includes('register'))
    assert.deepEqual(await words('api', 're'), ['register', 'resume', 'retire'])
    assert.equal((await words('completion', '')).includes('words'), false)
    assert.deepEqual(await words('nothing', 'of', 'ours', ''), [])
  })

  it('offers options, those of the program too, and their values', async () => {
    assert.deepEqual(await words('up', '--p2p-p'), ['--p2p-port'])
    assert.ok((await words('api', 'list', '--')).includes('--json'))
    assert.deepEqual(await words('up', '--network', 'base'), ['base-sepolia', 'base'])
    assert.deepEqual(await words('api', 'register', '--protocol', ''), ['REST', 'SOAP', 'GraphQL'])
    assert.deepEqual(await words('--profile', 's'), ['shop', 'stall'])
    // What follows a value is no value any more; behind -- there are no options.
    assert.deepEqual(await words('--profile', 'shop', 'stat'), ['status'])
    assert.deepEqual(await words('--', '--js'), [])
  })

  it('leaves files to the shell', async () => {
    assert.deepEqual(await words('restore', ''), [':files'])
    assert.deepEqual(await words('up', '--tls-cert', 'x'), [':files'])
    assert.deepEqual(await words('completion', ''), ['bash', 'zsh', 'fish'])
  })

  it('says nothing where a node would have to be asked and none runs', async () => {
    assert.deepEqual(await words('--profile', 'shop', 'api', 'show', ''), [])
  })

  it('refuses a shell that it has no script for', async () => {
    const { code, stderr } = await souk(['completion', 'tcsh'], { home })
    assert.equal(code, 64)
    assert.match(stderr, /bash, zsh, fish/)
  })

  describe('in bash, with a node that runs', () => {
    let node: NodeProcess
    let upstream: Upstream

    before(async () => {
      upstream = await startUpstream()
      node = await startNode(home, ['--network', 'dev', '--no-ingress', '--profile', 'busy'])
      const named = ['api', 'register', '--name', 'bb-echo', '--protocol', 'REST', '--price', '0']
      await souk(['--profile', 'busy', ...named, '--endpoint', upstream.url], { home })
      await writeFile(join(home, 'souk'), `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`)
      await chmod(join(home, 'souk'), 0o755)
    })
    after(async () => {
      await node.stop()
      await upstream.close()
    })

    /** What bash would put there, the cursor being behind the last word. */
    function tab(...line: string[]): string[] {
      const script = `eval "$(souk completion bash)"
        COMP_WORDS=(souk "$@"); COMP_CWORD=$#
        _souk souk && printf '%s\\n' "\${COMPREPLY[@]}"`
      const env = { PATH: `${home}:${process.env['PATH']}`, SOUK_HOME: home }
      const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script, 'bash', ...line], { env, encoding: 'utf8' })
      assert.equal(stderr, '')
      return stdout.split('\n').filter((word) => word !== '')
    }

    it('completes commands and the names of APIs', () => {
      assert.deepEqual(tab('wal'), ['wallet'])
      assert.deepEqual(tab('--profile', 'busy', 'api', 'pause', ''), ['bb-echo'])
      assert.deepEqual(tab('--profile', 'busy', 'call', 'bb'), ['bb-echo'])
    })
  })

  it('gives scripts that the shells of this machine can read', async function () {
    const found = ['bash', 'zsh', 'fish'].filter((shell) => spawnSync(shell, ['--version']).status === 0)
    if (found.length === 0) this.skip()
    for (const shell of found) {
      const { stdout } = await souk(['completion', shell], { home })
      const { status, stderr } = spawnSync(shell, ['-n'], { input: stdout, encoding: 'utf8' })
      assert.equal(status, 0, stderr)
    }
  })
})

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { main } from '../../../../node/cli/program.ts'
import { startUpstream, type Upstream } from '../../../helpers/echo-api.ts'
import { shellWord } from '../../../../node/shell-word.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { type NodeProcess, type SoukHome, soukHome } from '../../../helpers/souk-home.ts'
import { MAIN } from '../../../helpers/souk-process.ts'
import { testTerminal } from '../../../helpers/test-terminal.ts'

describe('souk completion', function () {
  let home: SoukHome

  before(async () => {
    home = await soukHome()
    for (const name of ['shop', 'stall']) await mkdir(join(home.directory, name))
  })
  after(() => home.close())

  /** Offered words with their descriptions. */
  async function offered(...typed: string[]): Promise<Map<string, string>> {
    const terminal = testTerminal({ env: { SOUK_HOME: home.directory } })
    assert.equal(await main(['completion', 'words', '--', ...typed], terminal), 0)
    assert.equal(terminal.stderr(), '')
    return new Map(
      terminal
        .stdout()
        .split('\n')
        .map((line) => line.split('\t') as [string, string])
    )
  }
  const words = async (...typed: string[]) => [...(await offered(...typed)).keys()].filter((word) => word !== '')

  it('offers commands with descriptions, and the commands of a group', async () => {
    assert.match((await offered('')).get('doctor') ?? '', /diagnose problems of this node/)
    assert.deepEqual(await words('do'), ['doctor'])
    assert.ok((await words('api', '')).includes('register'))
    assert.deepEqual(await words('api', 're'), ['register', 'resume', 'retire'])
    assert.equal((await words('completion', '')).includes('words'), false)
    assert.deepEqual(await words('nothing', 'of', 'ours', ''), [])
  })

  it('offers options, including global options, and their values', async () => {
    assert.deepEqual(await words('up', '--p2p-p'), ['--p2p-port'])
    assert.ok((await words('api', 'list', '--')).includes('--json'))
    assert.deepEqual(await words('up', '--network', 'base'), ['base-sepolia', 'base'])
    assert.deepEqual(await words('api', 'register', '--protocol', ''), ['REST', 'SOAP', 'GraphQL'])
    assert.deepEqual(await words('--profile', 's'), ['shop', 'stall'])
    // After a value no further value follows. After -- no options follow.
    assert.deepEqual(await words('--profile', 'shop', 'stat'), ['status'])
    assert.deepEqual(await words('--', '--js'), [])
  })

  it('leaves files to the shell', async () => {
    assert.deepEqual(await words('restore', ''), [':files'])
    assert.deepEqual(await words('up', '--tls-cert', 'x'), [':files'])
    assert.deepEqual(await words('completion', ''), ['bash', 'zsh', 'fish'])
  })

  it('offers no names if no node runs', async () => {
    assert.deepEqual(await words('--profile', 'shop', 'api', 'show', ''), [])
  })

  it('refuses an unsupported shell', async () => {
    const { code, stderr } = await home.run('completion tcsh')
    assert.equal(code, 64)
    assert.match(stderr, /bash, zsh, fish/)
  })

  describe('in bash, with a running node', () => {
    let node: NodeProcess
    let upstream: Upstream

    before(async () => {
      upstream = await startUpstream()
      node = await home.asProcess.up('busy', '--no-ingress')
      await node.cli(`api register --name bb-echo --protocol REST --price 0 --endpoint ${upstream.url}`)
      await writeFile(
        join(home.directory, 'souk'),
        `#!/bin/sh\nexec ${[process.execPath, MAIN].map(shellWord).join(' ')} "$@"\n`
      )
      await chmod(join(home.directory, 'souk'), 0o755)
    })
    after(async () => {
      await node.end('SIGTERM')
      await upstream.close()
    })

    /** Completions of bash with the cursor after the last word. */
    function tab(...line: string[]): string[] {
      const script = `eval "$(souk completion bash)"
        COMP_WORDS=(souk "$@"); COMP_CWORD=$#
        _souk souk && printf '%s\\n' "\${COMPREPLY[@]}"`
      const env = { PATH: `${home.directory}:${process.env['PATH']}`, SOUK_HOME: home.directory }
      const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script, 'bash', ...line], { env, encoding: 'utf8' })
      assert.equal(stderr, '')
      return stdout.split('\n').filter((word) => word !== '')
    }

    /** A node that does not respond within a second gives no names, so a user of a busy machine presses Tab again. */
    const names = (...line: string[]) =>
      eventually('names', 10_000, () => {
        const found = tab('--profile', 'busy', ...line)
        return found.length > 0 ? found : undefined
      })

    it('completes commands and API names', async () => {
      assert.deepEqual(tab('wal'), ['wallet'])
      assert.deepEqual(await names('api', 'pause', ''), ['bb-echo'])
      assert.deepEqual(await names('call', 'bb'), ['bb-echo'])
    })
  })

  it('prints scripts that the shells of this machine can parse', async () => {
    const found = ['bash', 'zsh', 'fish'].filter((shell) => spawnSync(shell, ['--version']).status === 0)
    assert.ok(found.includes('bash'))
    for (const shell of found) {
      const { stdout } = await home.run(`completion ${shell}`)
      const { status, stderr } = spawnSync(shell, ['-n'], { input: stdout, encoding: 'utf8' })
      assert.equal(status, 0, stderr)
    }
  })
})

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { load } from 'js-yaml'
import { limits } from '../lib/index.ts'
import { loadConfig } from '../node/config.ts'
import type { NodeConfig } from '../node/node-config.ts'

const ROOT = resolve(import.meta.dirname, '..')
const readText = (name: string) => readFileSync(join(ROOT, name), 'utf8')

/** Makes links to Node.js and to this folder, because neither a shebang nor a unit can name a path with spaces. */
async function linked(directory: string): Promise<void> {
  await symlink(process.execPath, join(directory, 'node'))
  await symlink(ROOT, join(directory, 'souk'))
}

interface Instruction {
  readonly stage: number
  readonly word: string
  readonly text: string
}

/** Parses the Dockerfile: each instruction with its continuation lines and its stage. Covers only the syntax used here. */
function instructions(): Instruction[] {
  const lines = readText('Dockerfile')
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replaceAll(/\\\n/g, ' ')
  let stage = -1
  return lines
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, word = '', text = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? []
      if (word === 'FROM') stage++
      return { stage, word, text: text.replaceAll(/\s+/g, ' ').trim() }
    })
}

/** Checks the files without building the image, because not every machine has Docker. */
describe('the container', () => {
  const all = instructions()
  const last = Math.max(...all.map(({ stage }) => stage))
  const of = (word: string) => all.filter((each) => each.stage === last && each.word === word).map(({ text }) => text)
  const variables = Object.fromEntries(
    of('ENV').flatMap((text) => [...text.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value] as const))
  ) as Record<string, string>
  const compose = load(readText('compose.yaml')) as {
    services: { souk: Record<string, unknown> & { environment: Record<string, string>; ports: string[] } }
  }
  const { souk } = compose.services

  async function configOf(env: Record<string, string>): Promise<NodeConfig> {
    const home = await mkdtemp(join(tmpdir(), 'souk-container-'))
    try {
      return await loadConfig({ flags: {}, env: { ...env, SOUK_HOME: home } })
    } finally {
      await rm(home, { recursive: true })
    }
  }
  /** Replaces `${NAME:-default}` with its default, as Compose does for unset variables. */
  const withDefaults = (text: string) => text.replaceAll(/\$\{\w+(?::-([^}]*))?\}/g, (_, given?: string) => given ?? '')

  it('starts without a shell, as an unprivileged user', () => {
    for (const word of ['ENTRYPOINT', 'CMD']) assert.ok(Array.isArray(JSON.parse(of(word)[0] ?? '')), word)
    const [, command = ''] = /CMD (\[.*\])$/.exec(of('HEALTHCHECK')[0] ?? '') ?? []
    assert.deepEqual(JSON.parse(command), [...(JSON.parse(of('ENTRYPOINT')[0] ?? '') as string[]), 'status', '--json'])
    assert.deepEqual([of('USER'), of('STOPSIGNAL'), of('RUN')], [['65532:65532'], ['SIGTERM'], []])
    assert.deepEqual([of('VOLUME'), variables['SOUK_HOME']], [['/data'], '/data'])
  })

  it('takes its base images from arguments', () => {
    const global = all.filter(({ stage, word }) => stage === -1 && word === 'ARG').map(({ text }) => text.split('=')[0])
    assert.deepEqual(global, ['BUILD_IMAGE', 'RUN_IMAGE'])
    for (const { text } of all.filter(({ word }) => word === 'FROM')) assert.match(text, /^\$\{(BUILD|RUN)_IMAGE\}/)
  })

  it('uses only existing settings', async () => {
    const { admin, p2p, ingress } = await configOf({ ...variables, SOUK_NETWORK: 'dev' })
    assert.deepEqual(admin, { host: '0.0.0.0', port: { port: 3000, exact: true } })
    assert.deepEqual([p2p.host, p2p.port], ['0.0.0.0', { port: 4402, exact: true }])
    assert.deepEqual([ingress?.host, ingress?.port], ['127.0.0.1', { port: 8402, exact: true }])
    assert.deepEqual(of('EXPOSE'), ['3000 8402 4402'])
  })

  it('copies only existing files that .dockerignore allows', () => {
    const shown = readText('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1))
    const own = all.filter(({ word, text }) => word === 'COPY' && !text.includes('--from'))
    const copied = own
      .flatMap(({ text }) => text.split(' ').slice(0, -1))
      .filter((path) => path !== '.' && !path.startsWith('--'))
    assert.ok(copied.length > 2)
    for (const path of copied) assert.ok(shown.includes(path), `${path} is hidden by .dockerignore`)
    for (const path of shown) assert.ok(existsSync(join(ROOT, path)), `.dockerignore shows ${path}, which is not there`)
  })

  it('publishes its ports on loopback, except the peer port, under the same numbers', async () => {
    const env = { ...variables, ...souk.environment }
    const given = Object.entries(env).map(([name, value]) => [name, withDefaults(value)])
    const { admin, p2p, ingress } = await configOf(Object.fromEntries(given) as Record<string, string>)
    assert.equal(ingress?.host, '0.0.0.0')
    assert.deepEqual(souk.ports.map(withDefaults), [
      `127.0.0.1:${admin.port.port}:${admin.port.port}`,
      `127.0.0.1:${ingress?.port.port}:${ingress?.port.port}`,
      `${p2p.port.port}:${p2p.port.port}`
    ])
  })

  it('starts by its own command, with a console and a first page, and is healthy', async () => {
    const home = await mkdtemp(join(tmpdir(), 'souk-container-'))
    const settings = Object.entries({ ...variables, ...souk.environment }).map(([name, value]) => [
      name,
      withDefaults(value)
    ])
    const env = {
      ...(Object.fromEntries(settings) as Record<string, string>),
      PATH: process.env['PATH'],
      SOUK_HOME: join(home, 'data'),
      SOUK_ADMIN_PORT: '0',
      SOUK_INGRESS_PORT: '0',
      SOUK_P2P_PORT: '0'
    }
    try {
      await linked(home)
      // The RUN line that makes the command, on paths of this machine.
      const made = all.find(({ word, text }) => word === 'RUN' && text.includes('/made/bin/souk'))?.text ?? ''
      const here = made.replaceAll('/made', join(home, 'made')).replace('/nodejs/bin/node', join(home, 'node'))
      const script = here.replace('import("/app/dist/node/main.js")', `import("${join(home, 'souk/node/main.ts')}")`)
      assert.equal(spawnSync('sh', ['-c', script]).status, 0, script)
      const command = join(home, 'made/bin/souk')
      const node = spawn(command, [...(JSON.parse(of('CMD')[0] ?? '') as string[]), '--json'], { env, stdio: 'pipe' })
      const ended = once(node, 'exit')
      try {
        const [line] = (await once(createInterface({ input: node.stdout }), 'line')) as [string]
        const { admin, ingress } = JSON.parse(line) as { admin: string; ingress: string }
        for (const url of [admin, ingress]) {
          const response = await fetch(url.replace('0.0.0.0', '127.0.0.1'))
          assert.deepEqual(
            [response.status, /text\/html/.test(response.headers.get('content-type') ?? '')],
            [200, true]
          )
        }
        const [, health = ''] = /CMD (\[.*\])$/.exec(of('HEALTHCHECK')[0] ?? '') ?? []
        const status = spawnSync(command, (JSON.parse(health) as string[]).slice(1), { env, encoding: 'utf8' })
        assert.equal(status.status, 0, status.stderr)
        const console = spawnSync(command, ['console'], { env, encoding: 'utf8' })
        assert.match(console.stdout, /http:\/\/(?:127\.0\.0\.1|localhost):\d+/, console.stderr)
      } finally {
        node.kill('SIGTERM')
        assert.deepEqual(await ended, [0, null])
      }
    } finally {
      await rm(home, { recursive: true })
    }
  })

  it('has a valid systemd unit with the same stop timeout', async function () {
    const unit = readText('docs/how-to/souk.service')
    assert.match(unit, new RegExp(`^TimeoutStopSec=${String(souk['stop_grace_period']).replace('s', '')}$`, 'm'))
    if (spawnSync('systemd-analyze', ['--version']).status !== 0) this.skip()
    const directory = await mkdtemp(join(tmpdir(), 'souk-unit-'))
    try {
      // Uses an existing program, because souk is not installed at the unit's path here.
      await linked(directory)
      const path = join(directory, 'souk.service')
      await writeFile(path, unit.replace('/usr/local/bin/souk', join(directory, 'node')))
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', path], { encoding: 'utf8' })
      assert.deepEqual([status, stderr.split('\n').filter((line) => line.includes('souk.service'))], [0, []])
    } finally {
      await rm(directory, { recursive: true })
    }
  })

  it('gets minimal privileges and enough time to stop from Compose', () => {
    assert.equal(souk['read_only'], true)
    assert.deepEqual([souk['cap_drop'], souk['security_opt']], [['ALL'], ['no-new-privileges:true']])
    const grace = Number(/^(\d+)s$/.exec(String(souk['stop_grace_period']))?.[1]) * 1000
    // At a stop, the admin API, the ingress, a last settlement and peer calls end one after another.
    const longest = limits.ADMIN_DRAIN_MS + 2 * limits.DRAIN_MS + limits.SETTLE_ON_STOP_MS
    assert.ok(grace > longest, `${grace} ms are given, ${longest} ms are needed`)
  })
})
